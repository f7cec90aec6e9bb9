"""What a chat platform offers to the rules for surfaces: people who act, and what can be seen of the answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from core.model import Answer, Citation, Claim, Delivery, Progress, Status, Task
from core.ports import ChatSurface

CITED = Citation(
    number=1,
    chapter="one",
    section="What",
    title="Robots",
    url="https://docs.example/robots#what",
    relevance_score=0.93,
)
ANSWER = Answer(id="a", text="A robot acts. [1]", citations=(CITED,), status=Status.ANSWERED)


class Trouble(Enum):
    """What becomes of the first request that shows an answer."""

    RESET = "the connection is reset"
    LOST = "it is carried out, and nobody hears of it"
    BUSY = "the platform is overloaded"
    TOO_FAST = "it came too early"


async def progress(*items: Progress) -> AsyncIterator[Progress]:
    """What the core says, one after the other."""
    for item in items:
        yield item


@dataclass
class Notes:
    """Implements `Deliveries`: what was noted, in order; what fails is raised."""

    told: Callable[[], object]
    written: list[Delivery] = field(default_factory=list[Delivery])
    failure: Exception | None = None
    is_lost: bool = False

    async def record(self, task: Task, delivery: Delivery) -> bool:
        """Keep it."""
        if self.failure is not None:
            raise self.failure
        self.written.append(delivery)
        self.told()
        return True

    async def holds(self, task: Task) -> bool:
        """Say whether nobody has taken it over."""
        return not self.is_lost


class ChatPlatform(Protocol):
    """What a platform offers to the rules: people who act, and what can be seen of the answers."""

    surface: ChatSurface
    notes: Notes
    longest: int

    async def asks(self) -> Claim:
        """Let somebody ask, and give what a worker then holds."""
        ...

    def stands(self, claim: Claim) -> list[str]:
        """Give the messages of the answer as they stand there, in order."""
        ...

    def warnings(self, claim: Claim) -> int:
        """Count the warnings on the question."""
        ...

    def alarms(self) -> list[str]:
        """Give every piece of any request so far that could have notified somebody or shown a preview."""
        ...

    def removes_answer(self, claim: Claim) -> None:
        """Let somebody delete the first message of the answer."""
        ...

    def replies(self, claim: Claim) -> None:
        """Let somebody say something below the answer."""
        ...

    def forbids(self, claim: Claim) -> None:
        """Take all rights from the bot in the place of the answer."""
        ...

    def meets(self, trouble: Trouble) -> None:
        """Let the next request that shows an answer meet this."""
        ...

    def holds(self) -> asyncio.Event:
        """Let the next request that shows an answer wait for the event."""
        ...

    def is_met(self) -> bool:
        """Whether a request has met what was in its way."""
        ...

    async def until(self, is_true: Callable[[], object]) -> None:
        """Wait until something is so."""
        ...
