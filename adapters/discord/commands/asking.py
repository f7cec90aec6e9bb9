"""Puts questions that were asked by a command or a form into the inbox, after Discord knows that they came."""

from __future__ import annotations

import asyncio
from functools import partial

from discord import AutoShardedClient

from adapters.chat.attempting import attempted
from adapters.chat.desk import Desk
from adapters.chat.promised import Promised, Sleep
from adapters.discord.commands.replying import deferred, original, tell
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
from core.sentences import CANNOT_TAKE, WARNING


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
    promise, promised = _promise(used, question), promises(desk)
    await promised.note(str(used.id), promise)
    if message_id := await deferred(used, private=private):
        await attempted(partial(_put, desk, promise, message_id), partial(tell, used))
        await promised.forget(str(used.id))


async def take_up(desk: Desk, client: AutoShardedClient, sleep: Sleep = asyncio.sleep) -> None:
    """Put what was asked by a command of somebody who was killed over it."""

    async def put(promise: Promise) -> None:
        message_id = await original(client, promise.address.interaction) if promise.address.interaction else None
        if message_id is not None:  # else Discord has told that nothing answered
            await desk.inbox.put(promise.asked(message_id))

    await promises(desk).take_up(put, sleep)


def promises(desk: Desk) -> Promised[Promise]:
    """Give what was promised to those who used commands."""
    return Promised(desk.promises, PLATFORM, Promise)


def _promise(used: Used, question: Question) -> Promise:
    goes_on = thread_of(used)
    return Promise(
        question=question,
        address=address_of(used, question.message),
        thread=goes_on.thread if goes_on is not None else "",
        opens_thread=question.visibility == "thread" and may_open_thread(used),
    )


async def _put(desk: Desk, promise: Promise, message_id: str) -> str | None:
    try:
        await desk.inbox.put(promise.asked(message_id))
    except StoreUnavailable:
        return f"{WARNING} {CANNOT_TAKE}"
    return None
