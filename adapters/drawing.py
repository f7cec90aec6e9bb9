"""Draws the progress of an answer into a draft; what surfaces share, free of vendors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial

from adapters.drafts import Draft
from core.model import Answer, Progress, Restarted, TextDelta


async def draw(
    progress: AsyncIterator[Progress],
    draft: Draft,
    *,
    sketch: Callable[[str], Sequence[str]],
    whole: Callable[[Answer], Sequence[str]],
) -> Answer:
    """Show the text as it comes and the answer at the end, each as the platform draws it; give the answer.

    *sketch* turns text that is being written into messages and *whole* an answer. Raises `PostingFailed`.
    """
    text = ""
    answer: Answer | None = None
    async for item in progress:
        match item:
            case TextDelta(more):
                text += more
                draft.show(partial(sketch, text))
            case Restarted():
                text = ""
                draft.show(tuple)
            case Answer():
                answer = item
            case _:
                pass
    assert answer is not None  # noqa: S101 - the port promises it
    await draft.finish(whole(answer))
    return answer
