"""Puts questions that were asked by a command or a form into the inbox, after Slack knows that they came."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from adapters.chat import promised
from adapters.chat.claim import Claim
from adapters.chat.posting import PostingFailed, TooFast, Unreachable
from adapters.chat.promised import Promised
from adapters.slack.commands.context import Kit
from adapters.slack.commands.root import Root
from adapters.slack.commands.situation import Used
from adapters.slack.events import PLATFORM
from core.errors import StoreUnavailable
from core.model import Asked, Question, ReplyAddress, Terms
from core.sentences import ONLY_YOU


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


class Promise(promised.Promise):
    """A question that somebody asked by a command or a form, for everybody or *is_private*."""

    used: Used
    is_private: bool = False


def promises(kit: Kit) -> Promised[Promise]:
    """Give what was promised to those who used commands and forms."""
    return Promised(kit.services.promises, PLATFORM, Promise, sleep=kit.services.sleep, observer=kit.services.observer)


async def put(kit: Kit, promise: Promise, claim: Claim) -> None:
    """Put a question: before everybody in the channel, or in the place of what one person has been told."""
    used = promise.used
    if not await _is_first(kit, used):
        await promises(kit).forget(used.trigger)
    elif promise.is_private:
        tell = partial(kit.replies.tell, used, replaces=True)
        await promises(kit).keep(claim, promise, partial(_put_privately, kit, promise), tell)
    else:
        root = Root(kit, used, promise.question, is_in_doubt=False)
        act, tell = partial(_put_openly, kit, promise, root), partial(_excuse, kit, used, root)
        await promises(kit).keep(claim, promise, act, tell)
        await _explain(kit, used, root)


async def _is_first(kit: Kit, used: Used) -> bool:
    """Say whether nothing was put for this use of the command before, of which Slack may tell twice."""
    try:
        return await kit.services.memo.changed(f"slack:asked:{used.home}:{used.trigger}", "")
    except StoreUnavailable:
        return True


async def take_up(kit: Kit) -> None:
    """Put what was asked of somebody who was killed over it; what stands in the channel for it is found."""

    async def put_late(promise: Promise) -> None:
        if promise.is_private:
            await _put_privately(kit, promise)
        else:
            root = Root(kit, promise.used, promise.question, is_in_doubt=True)
            await _put_openly(kit, promise, root)
            await _explain(kit, promise.used, root)

    await promises(kit).take_up(put_late)


async def _excuse(kit: Kit, used: Used, root: Root, text: str) -> None:
    """Say that there will be no answer, once no message stands for the question any more."""
    with suppress(PostingFailed):
        await root.remove()
    await kit.replies.tell(used, text)


async def _explain(kit: Kit, used: Used, root: Root) -> None:
    """Say why only one person sees an answer that was meant for all."""
    if root.is_refused:
        await kit.replies.tell(used, ONLY_YOU)


async def _put_openly(kit: Kit, promise: Promise, root: Root) -> None:
    """Post a message that stands for the question and begins its thread, once for each use of the command.

    Where moderators do not want answers, nothing is posted, and only who asks is told why.
    The question bears the way back, by which it is known as a command's: whoever uses one is always told why not.
    """
    question, used = promise.question, promise.used
    if not await kit.services.moderation.answers_in(question.thread):
        await _put_privately(kit, promise)
        return
    try:
        message = await root.post()
    except (Unreachable, TooFast):
        raise
    except PostingFailed:
        await _put_privately(kit, promise)
        root.is_refused = True
        return
    public = question.model_copy(update={"message": message, "visibility": "thread"})
    way = used.private_address(question.message).interaction
    await kit.services.inbox.put(
        Asked(question=public, address=ReplyAddress(thread=message.thread, message=message, interaction=way))
    )


async def _put_privately(kit: Kit, promise: Promise) -> None:
    question = promise.question
    await kit.services.inbox.put(Asked(question=question, address=promise.used.private_address(question.message)))
