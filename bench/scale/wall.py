"""A platform that takes every message after a moment and has no limits, so that only the bot is measured.

Everything that the bot does for an answer on Discord is done here too, except for the requests themselves: the draft
that is edited as it grows, its text as Discord wants it, and the notes of its messages in Redis.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from adapters.chat.delivery import PlatformSurface
from adapters.chat.platform import ChatPlatform, Destination, Part, Posted
from adapters.discord.dialect import DiscordRenderer
from bench.chat.load import BEGINS, ENDS, NUMBER
from core.messages import MENTION_TO_CONTINUE, NO_CONTEXT
from core.model import Claim, Delivery, Progress, Reaction, Withdrawal, WorkspaceRef
from core.ports import Deliveries

MOMENT = 0.05  # seconds that the platform takes for a request


@dataclass
class Seen:
    """When each question was begun, and its first and last words were posted, in seconds since 1970, by number."""

    begun: dict[int, float] = field(default_factory=dict[int, float])
    first: dict[int, float] = field(default_factory=dict[int, float])
    last: dict[int, float] = field(default_factory=dict[int, float])
    not_found: list[int] = field(default_factory=list[int])
    wrong: list[int] = field(default_factory=list[int])
    sheets: dict[int, Sheet] = field(default_factory=dict[int, "Sheet"])


class Wall:
    """Shows answers to nobody, and takes note of when."""

    def __init__(self, deliveries: Deliveries) -> None:
        self._sheets = Sheets()
        self._surface = PlatformSurface(self._sheets, deliveries=deliveries)

    @property
    def seen(self) -> Seen:
        """What was seen since the last report."""
        return self._sheets.seen

    @seen.setter
    def seen(self, seen: Seen) -> None:
        self._sheets.seen = seen

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Draw the answer."""
        number = number_of(claim)
        self.seen.begun[number] = time.time()
        delivery = await self._surface.reply(claim, progress)
        self.seen.last[number] = time.time()
        sheet = self.seen.sheets.pop(number)
        if sheet.is_not_found:
            self.seen.not_found.append(number)
        elif not sheet.is_whole:
            self.seen.wrong.append(number)
        return delivery

    async def refuse(self, claim: Claim, sentence: str) -> Delivery:
        """Say nothing."""
        return Delivery()

    async def react(self, claim: Claim, reaction: Reaction) -> None:
        """Mark nothing."""

    async def unreact(self, claim: Claim, reaction: Reaction) -> None:
        """Nothing was marked."""

    async def standing(self, claim: Claim) -> Delivery | None:
        """Nothing is tried twice."""
        return None

    async def alert(self, home: WorkspaceRef, sentence: str) -> None:
        """Nobody moderates here."""

    async def withdraw(self, withdrawal: Withdrawal) -> None:
        """Take nothing back."""


class Sheets(ChatPlatform):
    """Has a sheet for every answer."""

    def __init__(self) -> None:
        self.seen = Seen()

    async def destination(self, claim: Claim, remark: str) -> Destination:
        """Return a new one."""
        number = number_of(claim)
        sheet = self.seen.sheets[number] = Sheet(number, self.seen)
        renderer = DiscordRenderer(hint=MENTION_TO_CONTINUE, remark=remark)
        return Destination(poster=sheet, renderer=renderer, place=claim.message.thread)


class Sheet:
    """The messages of one answer."""

    def __init__(self, number: int, seen: Seen) -> None:
        self._number = number
        self._seen = seen
        self._texts: dict[str, str] = {}

    @property
    def is_whole(self) -> bool:
        """Whether the answer stands there once, from its beginning to its end."""
        text = "\n".join(self._texts.values())
        return text.count(BEGINS.format(self._number)) == text.count(ENDS.format(self._number)) == 1

    @property
    def is_not_found(self) -> bool:
        """Whether it says that the documents do not answer this, and nothing else."""
        return sum(text.count(NO_CONTEXT) for text in self._texts.values()) == 1

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Take a message; it is seen from when it was sent."""
        self._seen.first.setdefault(self._number, time.time())
        await asyncio.sleep(MOMENT)
        self._texts[nonce] = part.text
        return Posted(nonce, part)

    async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
        """Take another text."""
        await asyncio.sleep(MOMENT)
        self._texts[message_id] = part.text

    async def delete(self, message_id: str) -> None:
        """Forget a message."""
        await asyncio.sleep(MOMENT)
        self._texts.pop(message_id, None)


def number_of(claim: Claim) -> int:
    """Read the number of a question."""
    found = NUMBER.search(claim.question.text)
    assert found is not None
    return int(found[1])
