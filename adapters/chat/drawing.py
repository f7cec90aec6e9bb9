"""Draws the progress of an answer into a draft."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from adapters.chat.drafts import Draft, Legacy
from adapters.chat.posting import Controls, Part, Posted
from core.model import Answer, Claim, Drafted, PartialAnswer, Progress, Question, Restarted, Status

UPDATED = "Updated after the question was edited."
LATE = "Sorry for the wait."
LONG_WAIT = timedelta(minutes=5)

_JUDGED = frozenset({Status.ANSWERED, Status.NO_CONTEXT})


class Renderer(Protocol):
    """Draws one answer as the messages of a platform."""

    def sketch(self, draft: PartialAnswer) -> Sequence[Part]:
        """Return the messages of an answer that is being written; what is finished is not drawn again."""
        ...

    def whole(self, answer: Answer) -> Sequence[Part]:
        """Return the messages of a whole answer."""
        ...


async def draw(progress: AsyncIterator[Progress], draft: Draft, renderer: Renderer, question: Question) -> Answer:
    """Show the text as it comes and the answer at the end; return the answer. Raises `PostingFailed`."""
    answer: Answer | None = None
    async for item in progress:
        match item:
            case Drafted(written):
                draft.show(partial(_sketched, renderer, written))
            case Restarted():
                draft.show(tuple)
            case Answer():
                answer = item
            case _:
                pass
    assert answer is not None  # noqa: S101 - the port promises it
    await draft.finish(_controlled(renderer.whole(answer), controls(answer, question)))
    return answer


def controls(answer: Answer, question: Question) -> Controls:
    """Say what a reader can do with an answer; one in private is kept by nobody, so it cannot be tried again."""
    if answer.is_failure:
        return Controls.RETRY if question.visibility == "thread" else Controls.NONE
    return Controls.VOTE if answer.status in _JUDGED else Controls.NONE


def remark(claim: Claim, now: datetime) -> str:
    """Return what has to be said of the way that an answer came about; empty if there is nothing."""
    if claim.is_update:
        return UPDATED
    waited = now - claim.question.asked_at
    return LATE if waited > LONG_WAIT and not claim.delivery.messages else ""


def legacy_of(claim: Claim, posted: Sequence[Posted]) -> Legacy:
    """Say what earlier attempts have left; what only one person sees cannot be looked for."""
    has_doubt = claim.delivery.trying is not None and claim.question.visibility == "thread"
    leaving = [Posted(message.id) for message in claim.delivery.leaving]
    return Legacy(posted, leaving, has_doubt=has_doubt, is_contested=claim.is_redelivered)


def _sketched(renderer: Renderer, written: PartialAnswer) -> Sequence[Part]:
    return _controlled(renderer.sketch(written), Controls.STOP)


def _controlled(parts: Sequence[Part], last: Controls) -> Sequence[Part]:
    """Let the last message bear the controls, and no other one."""
    return [*parts[:-1], *(replace(part, controls=last) for part in parts[-1:])]
