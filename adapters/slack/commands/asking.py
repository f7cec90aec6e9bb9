"""Takes questions that are asked by a command or a form, before Slack is told that they came."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from adapters.chat.accepting import settle, take_over
from adapters.slack.commands.context import Kit
from adapters.slack.commands.root import Root
from adapters.slack.commands.situation import Used, used_for
from adapters.slack.events import PLATFORM
from core.errors import PostingFailed, RateLimited, Unreachable
from core.messages import ONLY_YOU
from core.model import Asked, Question, ReplyAddress, Terms


def asked_by(used: Used, text: str, terms: Terms, *, selection: str | None = None, is_private: bool = True) -> Asked:
    """Return a question under the id of what was used; raises `InvalidInput` with a sentence for whoever asks."""
    question = Question.create(
        message=used.private_message,
        text=text,
        selection=selection,
        author=used.person,
        asked_at=used.at,
        visibility="private" if is_private else "thread",
        **terms.model_dump(),
    )
    return Asked(question=question, address=used.private_address(question.message))


async def put(kit: Kit, used: Used, asked: Asked, until: float) -> None:
    """Move a question that was accepted: before everybody in the channel, or to what one person has been told."""
    if asked.question.visibility == "private":
        await settle(kit.services, asked, until, _as_it_is, partial(kit.replies.tell, used, replaces=True))
        return
    root = Root(kit, used, asked.question, is_in_doubt=False)
    await settle(kit.services, asked, until, partial(_placed, kit, root), partial(_excuse, kit, used, root))
    await _explain(kit, used, root)


async def take_over_questions(kit: Kit) -> None:
    """Move what processes have accepted that died over it; what stands in the channel for it is found."""

    async def find(asked: Asked) -> Asked:
        used = used_for(asked)
        root = Root(kit, used, asked.question, is_in_doubt=True)
        found = asked if asked.question.visibility == "private" else await _placed(kit, root, asked)
        await _explain(kit, used, root)
        return found

    await take_over(kit.services, PLATFORM, find)


async def _as_it_is(asked: Asked) -> Asked:
    return asked


async def _excuse(kit: Kit, used: Used, root: Root, text: str) -> None:
    """Say that there will be no answer, once no message stands for the question any more."""
    with suppress(PostingFailed):
        await root.remove()
    await kit.replies.tell(used, text)


async def _explain(kit: Kit, used: Used, root: Root) -> None:
    """Return why only one person sees an answer that was meant for all."""
    if root.is_refused:
        await kit.replies.tell(used, ONLY_YOU)


async def _placed(kit: Kit, root: Root, asked: Asked) -> Asked:
    """Post a message that stands for the question and begins its thread, once for each use of the command.

    Where moderators do not want answers, nothing is posted, and only who asks is told why.
    The question bears the way back, by which it is known as a command's: whoever uses one is always told why not.
    """
    question, way = asked.question, asked.address.interaction if asked.address else None
    alone = asked.model_copy(update={"question": question.model_copy(update={"visibility": "private"})})
    if not await kit.services.moderation.answers_in(question.thread):
        return alone
    try:
        message = await root.post()
    except (Unreachable, RateLimited):
        raise
    except PostingFailed:
        root.is_refused = True
        return alone
    address = ReplyAddress(thread=message.thread, message=message, interaction=way)
    return Asked(question=question.model_copy(update={"message": message}), address=address)
