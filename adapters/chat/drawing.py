"""Draws the progress of an answer into a draft."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from adapters.chat.drafts import Draft, Legacy
from adapters.chat.posting import Controls, Part, Posted
from core.model import Answer, Citation, Claim, Progress, Question, Restarted, Status, TextDelta

UPDATED = "Updated after the question was edited."
LATE = "Sorry for the wait."
LONG_WAIT = timedelta(minutes=5)

_JUDGED = frozenset({Status.ANSWERED, Status.NO_CONTEXT})


@dataclass(frozen=True, slots=True)
class Pencil:
    """How a platform draws messages: *sketch* of text that is being written and its footnotes, *whole* of an answer."""

    sketch: Callable[[str, Sequence[Citation]], Sequence[Part]]
    whole: Callable[[Answer], Sequence[Part]]


async def draw(progress: AsyncIterator[Progress], draft: Draft, pencil: Pencil, question: Question) -> Answer:
    """Show the text as it comes and the answer at the end; give the answer. Raises `PostingFailed`."""
    text = ""
    answer: Answer | None = None
    async for item in progress:
        match item:
            case TextDelta(more, citations):
                text += more
                draft.show(_sketched(pencil, text, citations))
            case Restarted():
                text = ""
                draft.show(tuple)
            case Answer():
                answer = item
            case _:
                pass
    assert answer is not None  # noqa: S101 - the port promises it
    await draft.finish(_controlled(pencil.whole(answer), controls(answer, question)))
    return answer


def controls(answer: Answer, question: Question) -> Controls:
    """Say what a reader can do with an answer; one in private is kept by nobody, so it cannot be tried again."""
    if answer.is_failure:
        return Controls.RETRY if question.visibility == "thread" else Controls.NONE
    return Controls.VOTE if answer.status in _JUDGED else Controls.NONE


def remark(claim: Claim, now: datetime) -> str:
    """Give what has to be said of the way that an answer came about; empty if there is nothing."""
    if claim.is_update:
        return UPDATED
    waited = now - claim.question.asked_at
    return LATE if waited > LONG_WAIT and not claim.delivery.messages else ""


def legacy_of(claim: Claim, posted: Sequence[Posted]) -> Legacy:
    """Say what earlier attempts have left; what only one person sees cannot be looked for."""
    has_doubt = claim.delivery.trying is not None and claim.question.visibility == "thread"
    leaving = [Posted(message.id) for message in claim.delivery.leaving]
    return Legacy(posted, leaving, has_doubt=has_doubt, is_contested=claim.is_inherited)


def _sketched(pencil: Pencil, text: str, citations: Sequence[Citation]) -> Callable[[], Sequence[Part]]:
    return lambda: _controlled(pencil.sketch(text, citations), Controls.STOP)


def _controlled(parts: Sequence[Part], last: Controls) -> Sequence[Part]:
    """Let the last message bear the controls, and no other one."""
    return [*parts[:-1], *(replace(part, controls=last) for part in parts[-1:])]
