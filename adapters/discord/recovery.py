"""Finds what stands in a channel although nobody has noted it: Discord forgets a nonce after some minutes.

An answer is known by its buttons, whose ids name the question, and a wait notice by what it replies to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from adapters.discord.dialect import buttons_of, names_question
from adapters.discord.poster import NO_PLACE, translated
from core.errors import Gone, Rejected
from core.model import Claim, Task

if TYPE_CHECKING:
    from discord import Message

    from adapters.discord.poster import Channel

NONCES_LIVE = timedelta(minutes=2)  # at least; Discord speaks of "the past few minutes"
EARLY = timedelta(seconds=30)  # as much may our clock be ahead of Discord's
LOOKED_AT = 100  # messages around the time of the post


async def find_lost(
    channel: Channel, me: int, claim: Claim, now: datetime, doubtful: Callable[[], object]
) -> str | None:
    """Return the id of what an attempt before has posted for a claim; None if it is not there.

    It is looked for where its nonce may be forgotten by *now*. Where nobody can know whether it is there, *doubtful*
    hears that the answer may stand there twice. Raises `PostingFailed`.
    """
    is_unheard = claim.is_redelivered and not claim.delivery.messages
    since = claim.delivery.trying or (claim.question.asked_at if is_unheard else None)
    if since is None or now - since <= NONCES_LIVE:
        return None
    try:
        unknown = await unknown_messages(channel, me, claim, since)
    except (Gone, Rejected):
        unknown = None
    for message in unknown or ():
        if names_question(message, claim.question):
            return str(message.id)
    may_be_there = unknown is None or any(not buttons_of(message) for message in unknown)  # it may have none as yet
    if claim.delivery.trying is not None and may_be_there:
        doubtful()
    return None


async def unknown_messages(channel: Channel, me: int, task: Task, since: datetime) -> Sequence[Message] | None:
    """Return what *me*, the bot, has said since then that is not known to belong to a task.

    None where it may not read. Raises `PostingFailed`.
    """
    from discord import Object
    from discord.utils import time_snowflake

    around = Object(time_snowflake(since))

    async def said() -> Sequence[Message]:
        return [message async for message in channel.history(limit=LOOKED_AT, around=around)]

    found = await translated(said(), gone=NO_PLACE)
    notice = task.delivery.notice
    known = {message.id for message in task.delivery.standing} | {notice.id if notice else ""}
    late = [one for one in found if one.created_at >= since - EARLY]
    mine = [one for one in late if one.author.id == me and str(one.id) not in known]
    return mine if found else None  # the question would be among them


async def said_after(channel: Channel, message_id: str, *, limit: int) -> Sequence[Message]:
    """Return what was written after a message, oldest first. Raises `PostingFailed`."""
    from discord import Object

    async def said() -> Sequence[Message]:
        return [one async for one in channel.history(limit=limit, after=Object(int(message_id)))]

    return await translated(said())
