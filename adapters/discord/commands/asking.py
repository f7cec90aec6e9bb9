"""Puts questions that were asked by a command or a form into the inbox, after Discord knows that they came."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from discord import AutoShardedClient

from adapters.chat.desk import Desk
from adapters.chat.posting import Unreachable
from adapters.chat.promised import NO_STORE, Promised
from adapters.discord.commands.replying import awaited, deferred, tell
from adapters.discord.commands.situation import (
    Used,
    address_of,
    may_open_thread,
    person_of,
    private_message,
    thread_of,
)
from adapters.discord.inbound.event import PLATFORM
from core.errors import InvalidInput, StoreUnavailable
from core.model import Asked, MessageRef, Question, ReplyAddress, Value

LATEST = 3.0  # seconds after which Discord takes no acknowledgement


class Promise(Value):
    """A question that somebody asked by a command, under the interaction's own id.

    `thread` is where it goes on, empty where the message that Discord shows for it begins a thread of its own.
    """

    question: Question
    address: ReplyAddress
    thread: str = ""
    opens_thread: bool = False

    def asked(self, message_id: str) -> Asked:
        """Give the question as the message that stands for it, unless one person sees that."""
        if self.question.visibility == "private":
            return Asked(question=self.question, address=self.address)
        thread = self.question.thread.model_copy(update={"thread": self.thread or message_id})
        message = MessageRef(thread=thread, id=message_id)
        place = {"thread": thread, "message": message if self.opens_thread else None}
        question = self.question.model_copy(update={"message": message})
        return Asked(question=question, address=self.address.model_copy(update=place))


async def ask(desk: Desk, used: Used, text: str, *, selection: str | None = None, private: bool = False) -> None:
    """Take a question; what cannot be asked is told at once, to the one person who asked it."""
    private = private or selection is not None
    try:
        question = Question.create(
            message=private_message(used),
            text=text,
            selection=selection,
            author=person_of(used),
            asked_at=used.created_at,
            visibility="private" if private else "thread",
            **desk.terms.model_dump(),
        )
    except InvalidInput as refused:
        await tell(used, str(refused))
        return
    promise, promised, key = _promise(used, question), promises(desk), str(used.id)
    try:
        is_new = await promised.note(key, promise)
    except StoreUnavailable:
        await tell(used, NO_STORE)
        return
    if is_new:
        put = await _shown(desk, used, promise, private=private)
        await promised.keep(key, put, partial(tell, used))


async def take_up(desk: Desk, client: AutoShardedClient) -> None:
    """Put what was asked by a command of somebody who was killed over it."""
    await promises(desk).take_up(partial(_put_if_awaited, desk, client), after=LATEST)


def promises(desk: Desk) -> Promised[Promise]:
    """Give what was promised to those who used commands."""
    return Promised(desk.promises, PLATFORM, Promise, desk.sleep)


def _promise(used: Used, question: Question) -> Promise:
    goes_on = thread_of(used)
    return Promise(
        question=question,
        address=address_of(used, question.message),
        thread=goes_on.thread if goes_on is not None else "",
        opens_thread=question.visibility == "thread" and may_open_thread(used),
    )


async def _shown(desk: Desk, used: Used, promise: Promise, *, private: bool) -> Callable[[], Awaitable[None]]:
    """Show that an answer is on its way, and give what puts the question."""
    try:
        message_id = await deferred(used, private=private)
    except Unreachable:
        return partial(_put_if_awaited, desk, used.client, promise)
    return partial(_put, desk, promise, message_id)


async def _put_if_awaited(desk: Desk, client: AutoShardedClient, promise: Promise) -> None:
    """Put a question of which Discord still shows that an answer is on its way; else nobody waits for one."""
    way = promise.address.interaction
    await _put(desk, promise, await awaited(client, way) if way else None)


async def _put(desk: Desk, promise: Promise, message_id: str | None) -> None:
    if message_id is not None:
        await desk.inbox.put(promise.asked(message_id))
