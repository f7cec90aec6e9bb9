"""A platform that takes every message after a moment and has no limits, so that only the bot is measured.

Everything that the bot does for an answer on Discord is done here too, except for the requests themselves: the draft
that is edited as it grows, its text as Discord wants it, and the notes of its messages in Redis.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from adapters.chat.drafts import Draft, Pace
from adapters.chat.drawing import Renderer, draw, legacy_of, remark
from adapters.chat.held import Held
from adapters.chat.noted import Noted
from adapters.chat.posting import Part, Posted, nonce
from adapters.discord.dialect import MENTION_TO_CONTINUE, DiscordRenderer
from bench.chat.load import BEGINS, ENDS, NUMBER
from core.messages import NO_CONTEXT
from core.model import Claim, Delivery, MessageRef, Progress, Reaction, Withdrawal
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


class Wall:
    """Shows answers to nobody, and takes note of when."""

    def __init__(self, deliveries: Deliveries) -> None:
        self._deliveries = deliveries
        self._pacer = Pace().pacer()
        self.seen = Seen()

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Draw the answer."""
        number = number_of(claim)
        self.seen.begun[number] = time.time()
        poster = Sheet(number, self.seen)
        named = partial(_named, claim)
        held = Held(claim, self._deliveries)
        with held.applies():
            async with Noted(poster, held, named=named, now=_now) as noted:
                nonces = partial(nonce, claim.message, claim.question.revision)
                async with Draft(noted, nonces, legacy=legacy_of(claim, ()), pacer=self._pacer) as draft:
                    await draw(progress, draft, _renderer(claim), claim.question)
        self.seen.last[number] = time.time()
        if poster.is_not_found:
            self.seen.not_found.append(number)
        elif not poster.is_whole:
            self.seen.wrong.append(number)
        return named([posted.id for posted in draft.messages])

    async def react(self, to: MessageRef, reaction: Reaction) -> None:
        """Mark nothing."""

    async def unreact(self, to: MessageRef, reaction: Reaction) -> None:
        """Nothing was marked."""

    async def withdraw(self, withdrawal: Withdrawal) -> None:
        """Take nothing back."""


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

    async def post(self, part: Part, nonce: str) -> Posted:
        """Take a message; it is seen from when it was sent."""
        self._seen.first.setdefault(self._number, time.time())
        await asyncio.sleep(MOMENT)
        self._texts[nonce] = part.text
        return Posted(nonce, part)

    async def edit(self, message_id: str, part: Part) -> None:
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


def _renderer(claim: Claim) -> Renderer:
    return DiscordRenderer(hint=MENTION_TO_CONTINUE, remark=remark(claim, _now()))


def _named(claim: Claim, ids: Sequence[str]) -> Delivery:
    return Delivery(messages=tuple(MessageRef(thread=claim.thread, id=each) for each in ids))


def _now() -> datetime:
    return datetime.now(UTC)
