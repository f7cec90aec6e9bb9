"""What a chat platform offers to the rules for surfaces: people who act, and what can be seen of the answers."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from typing import Any, ClassVar

from adapters.chat.delivery import PlatformSurface
from adapters.chat.live_message import Pace
from adapters.chat.platform import ChatPlatform as Platform
from core.events import Event, Passed, PlaceRefused, Step
from core.model import Answer, Citation, Claim, Delivery, MessageRef, Progress, Searching, Status, Task
from core.ports import PolicyStore
from tests.fakes.surface import drafted
from tests.servers.faults import Fault, Hold
from tests.waiting import wait_until

CITED = Citation(
    number=1,
    chapter="one",
    section="What",
    title="Robots",
    url="https://docs.example/robots#what",
    relevance_score=0.93,
)
ANSWER = Answer(id="a", text="A robot acts. [1]", citations=(CITED,), status=Status.ANSWERED)

FIRST_SENTENCE = "A robot acts."
QUICK = Pace(interval=0.001)


class Trouble(Enum):
    """What becomes of the first request that shows an answer."""

    RESET = "the connection is reset"
    LOST = "it is carried out, and nobody hears of it"
    BUSY = "the platform is overloaded"
    TOO_FAST = "it came too early"


class Worker:
    """Listens to a worker that dies at a step, after so many *times*: nothing that it does arrives anywhere then."""

    def __init__(self, notes: Notes, step: Step, times: int = 1) -> None:
        self.notes = notes
        self.working: asyncio.Task[object] | None = None
        self._step = step
        self._left = times

    def __call__(self, event: Event) -> None:
        """Let it die."""
        self._left -= isinstance(event, Passed) and event.step is self._step
        if self._left <= 0:
            self.notes.is_lost = True
            assert self.working
            self.working.cancel()

    async def works(self, work: Coroutine[Any, Any, object]) -> bool:
        """Let it work; say whether it has died of it."""
        self.working = asyncio.create_task(work)
        await asyncio.wait([self.working])
        died, self.notes.is_lost = self.notes.is_lost, False
        return died


async def progress(*items: Progress) -> AsyncIterator[Progress]:
    """What the core says, one after the other."""
    for item in items:
        yield item


async def grown(stands: Callable[[], bool], answer: Answer = ANSWER) -> AsyncIterator[Progress]:
    """What the core says of an answer whose first sentence is there to be read before its end comes."""
    yield Searching("robot")
    yield drafted(f"{FIRST_SENTENCE}\n\nIt")
    await wait_until(stands, what="the first sentence")
    yield answer


async def silence() -> AsyncIterator[Progress]:
    """What the core says while it searches for as long as anybody waits."""
    yield Searching("robot")
    await asyncio.Event().wait()


@dataclass
class Notes:
    """Implements `Deliveries`: what was noted, in order; what fails is raised."""

    told: Callable[[], object]
    written: list[Delivery] = field(default_factory=list[Delivery])
    failure: Exception | None = None
    is_lost: bool = False
    refusals: int = 0

    async def record(self, task: Task, delivery: Delivery) -> bool:
        """Keep it."""
        if self.is_lost:
            return False
        if self.failure is not None:
            self.refusals += 1
            raise self.failure
        self.written.append(delivery)
        self.told()
        return True

    async def delivered(self, message: MessageRef) -> Delivery:
        """Give what was written last."""
        return self.written[-1] if self.written else Delivery()

    async def has_gone(self, messages: Sequence[MessageRef]) -> bool:
        """Nobody deletes anything here."""
        return False

    async def holds(self, task: Task) -> bool:
        """Say whether nobody has taken it over."""
        return not self.is_lost


class ChatPlatform(ABC):
    """What a platform offers to the rules: people who act, and what can be seen of the answers.

    Where it `drafts_once`, only the first message of an answer is shown before the end. Requests that show one `whole`
    or as a `draft` meet what is in their way.
    """

    longest: int
    drafts_once = False
    whole: str
    draft: str
    faults: ClassVar[Mapping[Trouble, Fault]]
    server: Any

    def __init__(self, changed: Callable[[], object]) -> None:
        self.notes = Notes(changed)
        self.events: list[Event] = []
        self.waits: list[float] = []
        self.surface = self.surfaced()

    @property
    def refused(self) -> list[MessageRef]:
        """The questions whose answer could not be posted."""
        return [event.question for event in self.events if isinstance(event, PlaceRefused)]

    def surfaced(
        self, *, reads_all: bool = False, policies: PolicyStore | None = None, **options: Any
    ) -> PlatformSurface:
        """Make another surface, of another habit, as another worker has one."""
        shared: dict[str, Any] = {"observer": self.events.append, "now": partial(datetime.now, UTC)}
        shared |= {name: option for name, option in options.items() if name in shared}
        usual: dict[str, Any] = {"pace": QUICK, "deliveries": self.notes}
        chat = self.speaks(reads_all=reads_all, policies=policies, **shared)
        return PlatformSurface(chat, **{**usual, **shared, **options})

    @abstractmethod
    def speaks(self, **options: Any) -> Platform:
        """Return what the bot speaks by there."""

    @abstractmethod
    async def asks(self) -> Claim:
        """Let somebody ask, and give what a worker then holds."""

    @abstractmethod
    def stands(self, claim: Claim) -> list[str]:
        """Give the messages of the answer as they stand there, in order."""

    @abstractmethod
    def signs(self, claim: Claim) -> list[str]:
        """Name what makes people think that an answer is still on its way."""

    @abstractmethod
    def changes(self) -> list[str]:
        """Name the requests so far that changed something, but for signs that an answer is on its way."""

    @abstractmethod
    def warnings(self, claim: Claim) -> int:
        """Count the warnings on the question."""

    def told(self) -> list[str]:
        """Give the texts of all messages that were posted, where moderators are told something."""
        raise NotImplementedError

    @abstractmethod
    def alarms(self) -> list[str]:
        """Give every piece of any request so far that could have notified somebody or shown a preview."""

    @abstractmethod
    def removes_answer(self, claim: Claim) -> None:
        """Let somebody delete the first message of the answer."""

    @abstractmethod
    def replies(self, claim: Claim) -> None:
        """Let somebody say something below the answer."""

    @abstractmethod
    def forbids(self, claim: Claim) -> None:
        """Take all rights from the bot in the place of the answer."""

    def meets(self, trouble: Trouble) -> None:
        """Let the next request that shows an answer meet this."""
        self.server.faults.add(self.whole, self.faults[trouble])

    def holds(self) -> asyncio.Event:
        """Let the next request that shows an answer wait for the event."""
        going_on = asyncio.Event()
        self.server.faults.add(self.draft, Hold(going_on))
        return going_on

    def is_met(self) -> bool:
        """Whether a request has met what was in its way."""
        return bool(self.server.faults.met)

    async def until(self, is_true: Callable[[], object]) -> None:
        """Wait until something is so."""
        await self.server.until(is_true)
