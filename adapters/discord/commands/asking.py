"""Puts questions that were asked by a command or a form into the inbox, after Discord knows that they came."""

from __future__ import annotations

from functools import partial

from adapters.chat.attempting import attempted
from adapters.chat.desk import Desk
from adapters.discord.commands.replying import deferred, tell
from adapters.discord.commands.situation import (
    Used,
    address_of,
    may_open_thread,
    own_message,
    person_of,
    private_message,
)
from core.errors import InvalidInput, StoreUnavailable
from core.model import Asked, Question
from core.sentences import CANNOT_TAKE, WARNING


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
    if message_id := await deferred(used, private=private):
        await attempted(partial(_put, desk, used, question, message_id), partial(tell, used))


async def _put(desk: Desk, used: Used, question: Question, message_id: str) -> str | None:
    """Put the question; the message that Discord shows in the meantime stands for it, unless one person sees it."""
    message = question.message if question.visibility == "private" else own_message(used, message_id)
    opens_thread = question.visibility == "thread" and may_open_thread(used)
    address = address_of(used, message, opens_thread=opens_thread)
    try:
        await desk.inbox.put(Asked(question=question.model_copy(update={"message": message}), address=address))
    except StoreUnavailable:
        return f"{WARNING} {CANNOT_TAKE}"
    return None
