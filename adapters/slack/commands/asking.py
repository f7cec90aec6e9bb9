"""Puts questions that were asked by a command or a form into the inbox, after Slack knows that they came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from adapters.chat.persevering import BRIEFLY
from adapters.chat.posting import PostingFailed, Unreachable, nonce
from adapters.chat.promised import Promised
from adapters.slack.client.connection import once
from adapters.slack.client.failures import ask, never_arrived, tell
from adapters.slack.client.lost import LOOKED_AT, mark
from adapters.slack.commands.kit import Kit
from adapters.slack.commands.situation import Used
from adapters.slack.inbound.event import PLATFORM
from adapters.slack.rendering.escaping import plain_text
from core.model import QUESTION_LIMIT, Asked, Question, ReplyAddress, Terms, Value
from core.sentences import ONLY_YOU

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient


def question_of(used: Used, text: str, terms: Terms, *, selection: str | None = None) -> Question:
    """Give a private question, or raise `InvalidInput` with a sentence for whoever asks."""
    return Question.create(
        message=used.private_message,
        text=text,
        selection=selection,
        author=used.person,
        asked_at=used.at,
        visibility="private",
        **terms.model_dump(),
    )


class Promise(Value):
    """A question that somebody asked by a command or a form, for everybody or *is_private*."""

    used: Used
    question: Question
    is_private: bool = False


def promises(kit: Kit) -> Promised[Promise]:
    """Give what was promised to those who used commands and forms."""
    return Promised(kit.desk.promises, PLATFORM, Promise, kit.desk.sleep)


async def put(kit: Kit, promise: Promise) -> None:
    """Put a question: before everybody in the channel, or in the place of what one person has been told."""
    tries = count()

    async def act() -> None:
        await _put(kit, promise, again=next(tries) > 0)

    await promises(kit).keep(promise.used.trigger, act, partial(_excuse, kit, promise))


async def take_up(kit: Kit) -> None:
    """Put what was asked of somebody who was killed over it; what stands in the channel for it is found."""
    await promises(kit).take_up(partial(_put, kit, again=True), after=BRIEFLY)


async def _put(kit: Kit, promise: Promise, *, again: bool) -> None:
    if promise.is_private:
        await _put_privately(kit, promise.used, promise.question)
    else:
        await _put_openly(kit, promise.used, promise.question, again=again)


async def _excuse(kit: Kit, promise: Promise, text: str) -> None:
    """Say that there will be no answer, once no message stands for the question any more."""
    if not promise.is_private:
        with suppress(PostingFailed):
            await _take_back(kit, promise.used)
    await kit.replies.tell(promise.used, text, replaces=promise.is_private)


async def _put_openly(kit: Kit, used: Used, question: Question, *, again: bool) -> None:
    """Post a message that stands for the question and begins its thread, once for each use of the command.

    Where moderators do not want answers, nothing is posted, and only who asks is told why.
    The question bears the way back, by which it is known as a command's: whoever uses one is always told why not.
    *Again*, it may have been posted before.
    """
    way = used.private_address(question.message).interaction
    if not await kit.desk.memo.changed(f"slack:asked:{used.home}:{used.trigger}", "") and not again:
        return
    if not await kit.desk.moderation.answers_in(question.thread):
        await _put_privately(kit, used, question)
        return
    try:
        client = once((await kit.workspaces.find(used.workspace)).client)
        posted = await _post(client, used, await _root_text(kit, used, question), again=again)
    except Unreachable:
        raise
    except PostingFailed:
        await _put_privately(kit, used, question)
        await kit.replies.tell(used, ONLY_YOU)
        return
    message = used.root(posted)
    public = question.model_copy(update={"message": message, "visibility": "thread"})
    address = ReplyAddress(thread=message.thread, message=message, interaction=way)
    await kit.desk.inbox.put(Asked(question=public, address=address))


async def _put_privately(kit: Kit, used: Used, question: Question) -> None:
    await kit.desk.inbox.put(Asked(question=question, address=used.private_address(question.message)))


async def _take_back(kit: Kit, used: Used) -> None:
    client = (await kit.workspaces.find(used.workspace)).client
    if stands := await _standing(client, used.channel, _bears(used)):
        await tell(client, "chat.delete", channel=used.channel, ts=stands["ts"])


async def _post(client: AsyncWebClient, used: Used, text: str, *, again: bool) -> str:
    """Post a message and give its id; one whose confirmation was lost is looked for once."""
    bears = _bears(used)
    if again and (stands := await _standing(client, used.channel, bears)):
        return str(stands["ts"])
    post: dict[str, Any] = {"channel": used.channel, "text": text, "unfurl_links": False, "unfurl_media": False}
    try:
        said = await tell(client, "chat.postMessage", **post, metadata=bears)
    except Unreachable as failure:
        if never_arrived(failure) or not (said := await _standing(client, used.channel, bears)):
            raise
    return str(said["ts"])


async def _standing(client: AsyncWebClient, channel: str, bears: Mapping[str, object]) -> Mapping[str, Any]:
    """Give the message that bears this, if it stands in a channel."""
    found = await ask(client, "conversations.history", channel=channel, limit=LOOKED_AT, include_all_metadata="true")
    newest = cast("Sequence[Mapping[str, Any]]", found.get("messages") or ())
    return next((one for one in newest if one.get("metadata") == bears), dict[str, Any]())


def _bears(used: Used) -> Mapping[str, object]:
    return mark(nonce(used.private_message, 0, 0))


async def _root_text(kit: Kit, used: Used, question: Question) -> str:
    """Say who asks what, without notifying anybody."""
    try:
        name = (await kit.people.profile(used.workspace, used.user)).name
    except PostingFailed:
        name = ""
    return f"*{plain_text(name or used.name or 'Somebody')} asks:* {plain_text(question.text, QUESTION_LIMIT)}"
