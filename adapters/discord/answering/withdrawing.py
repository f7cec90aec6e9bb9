"""Takes back what a deleted question left: whether others have gone on from the answer, and the thread's name."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from adapters.discord.answering.lost import names_question, unknown_messages
from adapters.discord.client.poster import ChannelPoster, translated
from adapters.retry import QUICK
from core.errors import Gone, PostingFailed, Rejected
from core.messages import BUSY
from core.model import MessageRef, Person, Question, WaitNotice, Withdrawal

if TYPE_CHECKING:
    from discord import AutoShardedClient, Message

    from adapters.discord.answering.spots import Spots

LOOKED_AT = 20  # messages below an answer
UNTITLED = "Question removed"


async def has_replies(withdrawal: Withdrawal, spots: Spots) -> bool:
    """Return whether others have written below the answer: in its thread, or in a channel as replies to it."""
    messages = withdrawal.delivery.messages
    if not messages:
        return False
    first = messages[0]
    if _by_others(await _said_after(first, withdrawal.thread.thread, spots), withdrawal):
        return True
    place = first.thread.thread
    said = await _said_after(first, place, spots) if place != withdrawal.thread.thread else ()
    ids = {message.id for message in messages}
    return any(
        one.reference is not None and str(one.reference.message_id) in ids for one in _by_others(said, withdrawal)
    )


def _by_others(said: Sequence[Message], withdrawal: Withdrawal) -> Sequence[Message]:
    """Leave out what the asker has said, who takes back the question."""
    return [message for message in said if str(message.author.id) != withdrawal.asker_id]


async def _said_after(first: MessageRef, channel: str, spots: Spots) -> Sequence[Message]:
    """Return what people wrote after a message; nothing where the bot may not read, or where nothing is."""
    from discord import Object

    async def said() -> Sequence[Message]:
        found = spots.channel(channel).history(limit=LOOKED_AT, after=Object(int(first.id)))
        return [message async for message in found if not message.author.bot]

    try:
        return await translated(said())
    except PostingFailed:
        return ()


async def unknown_of(withdrawal: Withdrawal, spots: Spots) -> Sequence[MessageRef]:
    """Find what may have been posted unheard, in the place of the rest or of the question, as it was first asked."""
    messages, since = withdrawal.delivery.messages, withdrawal.delivery.trying
    if since is None:
        return ()
    place = messages[0].thread if messages else withdrawal.thread
    try:
        found = await unknown_messages(spots.search(place.thread, since), withdrawal)
    except (Gone, Rejected):
        return ()
    asker = Person(id=withdrawal.asker_id or "0")
    question = Question.create(message=withdrawal.message, text=UNTITLED, author=asker, asked_at=since)
    named = [one for one in found or () if names_question(one, question)]
    return [MessageRef(thread=place, id=str(one.id)) for one in named]


async def untitle(withdrawal: Withdrawal, client: AutoShardedClient) -> None:
    """Take the words of the question out of the name of the thread that we opened on it; it need not be allowed.

    The thread is there before anything is posted in it.
    """
    thread = withdrawal.thread.thread
    if withdrawal.message.id != thread:
        return
    with suppress(PostingFailed):
        found = await translated(client.http.get_channel(int(thread)))
        if client.user is not None and str(found.get("owner_id")) == str(client.user.id):
            await translated(client.http.edit_channel(int(thread), name=UNTITLED, reason="The question was deleted"))


async def retract(spots: Spots, message: MessageRef, notice: WaitNotice) -> None:
    """Take away what was said below a question while it waited. Raises `PostingFailed`.

    Discord forgets nonces after minutes, so where its id is not known it is known by what it replies to.
    """
    found = notice.id or await _found(spots, message, notice)
    if found:
        await QUICK.call(partial(ChannelPoster(spots.channel(notice.thread.thread)).delete, found))


async def _found(spots: Spots, message: MessageRef, notice: WaitNotice) -> str:
    from discord import Object

    channel = spots.channel(notice.thread.thread)

    async def said() -> Sequence[Message]:
        found = channel.history(limit=LOOKED_AT, after=Object(int(message.id)))
        return [one async for one in found if one.author.id == spots.me and one.content.startswith(BUSY)]

    words = await translated(said())
    return next((str(one.id) for one in words if one.reference and str(one.reference.message_id) == message.id), "")
