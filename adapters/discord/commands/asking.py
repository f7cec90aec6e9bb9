"""Takes questions that are asked by a command or a form, before Discord is told that an answer is on its way."""

from __future__ import annotations

from functools import partial

from discord import AutoShardedClient

from adapters.chat.accepting import NO_STORE, accepted, drop, settle
from adapters.chat.services import ChatServices
from adapters.discord.commands.context import Used, address_of, person_of, private_message
from adapters.discord.commands.replying import awaited, deferred, tell
from core.errors import InvalidInput, StoreUnavailable
from core.model import Asked, MessageRef, Question


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
    asked = Asked(question=question, address=address_of(used, question))
    try:
        until = await accepted(services, asked)
    except StoreUnavailable:
        await tell(used, NO_STORE)
        await drop(services, asked)
        return
    if until is not None:
        message_id = await deferred(used, private=private)
        place = partial(find, used.client, message_id=message_id)
        await settle(services, asked, until, place, partial(tell, used))


async def find(client: AutoShardedClient, asked: Asked, *, message_id: str | None = None) -> Asked | None:
    """Return a question under the message with which Discord shows that an answer is on its way.

    Where that is not known it is looked for; None if there is none, as nobody waits for an answer then. Raises
    `PostingFailed` where Discord does not say.
    """
    way = asked.address.interaction if asked.address else None
    if message_id is None and way is not None:
        message_id = await awaited(client, way.token)
    return placed(asked, message_id) if message_id else None


def placed(asked: Asked, message_id: str) -> Asked:
    """Return a question as the message that stands for it, unless one person sees that.

    It begins a thread of its own where none goes on.
    """
    question, address = asked.question, asked.address
    if question.visibility == "private" or address is None:
        return asked
    is_first = address.thread == question.thread
    thread = question.thread.model_copy(update={"thread": message_id}) if is_first else address.thread
    message = MessageRef(thread=thread, id=message_id)
    place = {"thread": thread, "message": message if address.message else None}
    question = question.model_copy(update={"message": message})
    return Asked(question=question, address=address.model_copy(update=place))
