"""Puts questions that were asked by a command or a form into the inbox, after Discord knows that they came."""

from __future__ import annotations

from functools import partial

from discord import AutoShardedClient

from adapters.chat import promised
from adapters.chat.promised import NO_STORE, Promised
from adapters.chat.services import ChatServices
from adapters.discord.commands.context import (
    Used,
    address_of,
    may_open_thread,
    person_of,
    private_message,
    thread_of,
)
from adapters.discord.commands.replying import awaited, deferred, tell
from adapters.discord.events import PLATFORM
from core.errors import InvalidInput, StoreUnavailable
from core.model import Asked, MessageRef, Question, ReplyAddress


class Promise(promised.Promise):
    """A question that somebody asked by a command, under the interaction's own id.

    `thread` is where it goes on, empty where the message that Discord shows for it begins a thread of its own.
    """

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


async def ask(
    services: ChatServices, used: Used, text: str, *, selection: str | None = None, private: bool = False
) -> None:
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
            **services.terms.model_dump(),
        )
    except InvalidInput as refused:
        await tell(used, str(refused))
        return
    promise, ours, key = _promise(used, question), promises(services), str(used.id)
    try:
        claim = await ours.note(key, promise)
    except StoreUnavailable:
        await tell(used, NO_STORE)
        await ours.forget(key)
        return
    if claim:
        message_id = await deferred(used, private=private)
        put = (
            partial(_put, services, promise, message_id)
            if message_id
            else partial(_put_late, services, used.client, promise)
        )
        await ours.keep(claim, promise, put, partial(tell, used))


async def take_up(services: ChatServices, client: AutoShardedClient) -> None:
    """Put what was asked by a command of somebody who was killed over it."""
    await promises(services).take_up(partial(_put_late, services, client))


def promises(services: ChatServices) -> Promised[Promise]:
    """Give what was promised to those who used commands."""
    return Promised(services.promises, PLATFORM, Promise, sleep=services.sleep, observer=services.observer)


def _promise(used: Used, question: Question) -> Promise:
    goes_on = thread_of(used)
    return Promise(
        question=question,
        address=address_of(used, question.message),
        thread=goes_on.thread if goes_on is not None else "",
        opens_thread=question.visibility == "thread" and may_open_thread(used),
    )


async def _put_late(services: ChatServices, client: AutoShardedClient, promise: Promise) -> None:
    """Put a question of which Discord still shows that an answer is on its way; else nobody waits for one."""
    way = promise.address.interaction
    if way and (message_id := await awaited(client, way.token)):
        await _put(services, promise, message_id)


async def _put(services: ChatServices, promise: Promise, message_id: str) -> None:
    await services.inbox.put(promise.asked(message_id))
