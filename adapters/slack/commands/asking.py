"""Puts questions that were asked by a command or a form into the inbox, after Slack knows that they came."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from adapters.chat.posting import PostingFailed, Unreachable, nonce
from adapters.chat.promised import Promised, Sleep
from adapters.slack.client.connection import once
from adapters.slack.client.failures import ask, never_arrived, tell
from adapters.slack.client.lost import LOOKED_AT, mark
from adapters.slack.commands.kit import Kit
from adapters.slack.commands.situation import Used
from adapters.slack.inbound.event import PLATFORM
from adapters.slack.rendering.escaping import plain_text
from core.errors import StoreUnavailable
from core.model import QUESTION_LIMIT, Asked, Question, ReplyAddress, Terms, Value
from core.sentences import CANNOT_TAKE, ONLY_YOU, WARNING

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
    return Promised(kit.desk.promises, PLATFORM, Promise)


async def put(kit: Kit, promise: Promise) -> None:
    """Put a question: before everybody in the channel, or in the place of what one person has been told."""
    if promise.is_private:
        act = partial(_put_privately, kit, promise.used, promise.question)
    else:
        act = partial(_put_openly, kit, promise.used, promise.question)
    await kit.privately(promise.used, act, replaces=promise.is_private)
    await promises(kit).forget(promise.used.trigger)


async def take_up(kit: Kit, sleep: Sleep = asyncio.sleep) -> None:
    """Put what was asked of somebody who was killed over it; what stands in the channel for it is found."""

    async def put_late(promise: Promise) -> None:
        if promise.is_private:
            failure = await _put_privately(kit, promise.used, promise.question)
        else:
            failure = await _put_openly(kit, promise.used, promise.question, again=True)
        if failure is not None:
            raise StoreUnavailable(failure)

    await promises(kit).take_up(put_late, sleep)


async def _put_openly(kit: Kit, used: Used, question: Question, *, again: bool = False) -> str | None:
    """Post a message that stands for the question and begins its thread, once for each use of the command.

    Where moderators do not want answers, nothing is posted, and only who asks is told why.
    The question bears the way back, by which it is known as a command's: whoever uses one is always told why not.
    *Again*, it may have been posted before.
    """
    way = used.private_address(question.message).interaction
    try:
        if not await kit.desk.memo.changed(f"slack:asked:{used.home}:{used.trigger}", "") and not again:
            return None
        if not await kit.desk.moderation.answers_in(question.thread):
            return await _put_privately(kit, used, question)
    except StoreUnavailable:
        return f"{WARNING} {CANNOT_TAKE}"
    try:
        client = once((await kit.workspaces.find(used.workspace)).client)
        posted = await _post(client, used, await _root_text(kit, used, question), again=again)
    except PostingFailed:
        await kit.replies.tell(used, ONLY_YOU)
        return await _put_privately(kit, used, question)
    message = used.root(posted)
    public = question.model_copy(update={"message": message, "visibility": "thread"})
    try:
        await kit.desk.inbox.put(
            Asked(question=public, address=ReplyAddress(thread=message.thread, message=message, interaction=way))
        )
    except StoreUnavailable:
        with suppress(PostingFailed):
            await tell(client, "chat.delete", channel=used.channel, ts=posted)
        return f"{WARNING} {CANNOT_TAKE}"
    return None


async def _put_privately(kit: Kit, used: Used, question: Question) -> str | None:
    try:
        await kit.desk.inbox.put(Asked(question=question, address=used.private_address(question.message)))
    except StoreUnavailable:
        return f"{WARNING} {CANNOT_TAKE}"
    return None


async def _post(client: AsyncWebClient, used: Used, text: str, *, again: bool) -> str:
    """Post a message and give its id; one whose confirmation was lost is looked for once."""
    bears = mark(nonce(used.private_message, 0, 0))
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


async def _root_text(kit: Kit, used: Used, question: Question) -> str:
    """Say who asks what, without notifying anybody."""
    try:
        name = (await kit.people.profile(used.workspace, used.user)).name
    except PostingFailed:
        name = ""
    return f"*{plain_text(name or used.name or 'Somebody')} asks:* {plain_text(question.text, QUESTION_LIMIT)}"
