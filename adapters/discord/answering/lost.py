"""Finds a message of which nobody knows whether it was posted, where Discord has forgotten its nonce.

It is known by its buttons, whose ids name the question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from adapters.chat.posting import Controls, Part, Posted, Poster
from adapters.discord.buttons import controls_view
from adapters.discord.client.poster import NO_PLACE, buttons_of, translated
from core.errors import Gone, Rejected
from core.model import Claim, Question, Task

if TYPE_CHECKING:
    from discord import Message

    from adapters.discord.client.poster import Channel

NONCES_LIVE = timedelta(minutes=2)  # at least; Discord speaks of "the past few minutes"
EARLY = timedelta(seconds=30)  # as much may our clock be ahead of Discord's
LOOKED_AT = 100  # messages around the time of the post


def forgotten(claim: Claim, now: datetime) -> datetime | None:
    """Say since when a message may stand there unknown whose nonce cannot be relied on; None if there is none."""
    may_be_there = claim.is_redelivered and not claim.delivery.messages
    since = claim.delivery.trying or (claim.question.asked_at if may_be_there else None)
    return since if since is not None and now - since > NONCES_LIVE else None


@dataclass(frozen=True, slots=True)
class Search:
    """Where and since when something of *me*, the bot, may stand unknown."""

    channel: Channel
    me: int
    since: datetime


class LostPost:
    """A `Poster` that looks once, before its first post, for what an attempt before may have posted.

    Where nobody can know it, the message is posted, and *doubtful* hears that it may stand there twice.
    """

    def __init__(self, poster: Poster, claim: Claim, search: Search, doubtful: Callable[[], object]) -> None:
        self._poster = poster
        self._claim = claim
        self._search = search
        self._doubtful = doubtful
        self._has_looked = False

    async def post(self, part: Part, nonce: str) -> Posted:
        """Post a message, or give the one that stands there."""
        known = None if self._has_looked else await self._find()
        self._has_looked = True
        return Posted(known) if known is not None else await self._poster.post(part, nonce)

    async def edit(self, message_id: str, part: Part) -> None:
        """Replace what a message shows."""
        await self._poster.edit(message_id, part)

    async def delete(self, message_id: str) -> None:
        """Remove a message."""
        await self._poster.delete(message_id)

    async def _find(self) -> str | None:
        try:
            unknown = await unknown_messages(self._search, self._claim)
        except (Gone, Rejected):
            unknown = None
        found = next((message for message in unknown or () if names_question(message, self._claim.question)), None)
        if found is None and self._claim.delivery.trying is not None and _may_be_there(unknown):
            self._doubtful()
        return str(found.id) if found is not None else None


async def unknown_messages(search: Search, task: Task) -> Sequence[Message] | None:
    """Return what the bot has said there that is not known to belong to a task; None where it may not read."""
    from discord import Object
    from discord.utils import time_snowflake

    around = Object(time_snowflake(search.since))

    async def said() -> Sequence[Message]:
        return [message async for message in search.channel.history(limit=LOOKED_AT, around=around)]

    found = await translated(said(), gone=NO_PLACE)
    notice = task.delivery.notice
    known = {message.id for message in task.delivery.standing} | {notice.id if notice else ""}
    late = [one for one in found if one.created_at >= search.since - EARLY]
    mine = [one for one in late if one.author.id == search.me and str(one.id) not in known]
    return mine if found else None  # the question would be among them


def names_question(message: Message, question: Question) -> bool:
    """Return whether the buttons of a message are those of an answer to a question, whoever asked it."""
    own = {name for each in Controls for name in buttons_of(controls_view(each, question))}
    asked = question.message
    place = f":{asked.thread.channel}:{asked.thread.thread}:{asked.id}:"
    return any(name in own or place in f"{name}:" for name in buttons_of(message))


def _may_be_there(unknown: Sequence[Message] | None) -> bool:
    """Return whether one of these could be it, since it has no buttons as yet, or nothing could be read."""
    return unknown is None or any(not buttons_of(message) for message in unknown)
