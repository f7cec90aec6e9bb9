"""After how long readers who see nothing new are told what is waited for, by a clock that leaps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import pytest

from adapters.chat.live_message import LiveMessage, Pace
from adapters.chat.platform import Part, Posted, nonce
from core.errors import RateLimited
from core.messages import AWAITED
from core.model import Answer, Awaited, Progress, Status, Waiting
from tests import virtual_time
from tests.adapters.chat.test_drafts import QUESTION, Pencil
from tests.builders import question
from tests.fakes.poster import Thread
from tests.fakes.surface import drafted

MODEL = f"_{AWAITED[Awaited.MODEL]}_"
DONE = Answer(id="a", text="Robots act.", status=Status.ANSWERED)


@dataclass(slots=True)
class TimedThread(Thread):
    """Notes at which time of the loop each text was there."""

    seen: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Post it."""
        posted = await Thread.post(self, part, nonce, obsolete)
        self._note(part)
        return posted

    async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
        """Edit it."""
        await Thread.edit(self, message_id, part, obsolete)
        self._note(part)

    def _note(self, part: Part) -> None:
        self.seen.append((round(asyncio.get_running_loop().time(), 1), part.text))


def shown(
    *steps: Progress | float, silent_for: float = 0.0, failures: Sequence[RateLimited] = ()
) -> list[tuple[float, str]]:
    """Let an answer come in steps, of which a number is seconds of silence; return what readers saw when."""
    thread = TimedThread(failures=list(failures))

    async def written() -> AsyncIterator[Progress]:
        for step in steps:
            if isinstance(step, int | float):
                await asyncio.sleep(step)
            else:
                yield step

    async def draw() -> None:
        pace = Pace(clock=asyncio.get_running_loop().time)
        async with LiveMessage(thread, partial(nonce, QUESTION), pace=pace, silent_for=silent_for) as live:
            await live.draw(written(), Pencil(), question())

    virtual_time.run(draw())
    return thread.seen


@pytest.mark.promise("never-silent")
def test_nothing_is_said_before_fifteen_seconds_and_nothing_stays_after_the_answer() -> None:
    """Whoever reads sees the words from then on, once, until the answer takes their place."""
    assert shown(Waiting(), 14.0, DONE) == [(14.0, "Robots act. End.")]
    assert shown(Waiting(), 93.0, DONE) == [(15.0, MODEL), (93.0, "Robots act. End.")]


@pytest.mark.promise("never-silent")
def test_what_was_seen_begins_the_time_anew() -> None:
    """It is counted from the last thing that was new, and what was written stays above the words."""
    seen = shown(Waiting(), 10.0, drafted("Robots act.\n\nAnd"), 20.0, DONE)

    assert seen == [
        (10.0, "Robots act."),
        (25.0, f"Robots act.\n\n{MODEL}"),
        (30.0, "Robots act. End."),
    ]


@pytest.mark.promise("never-silent")
def test_the_time_before_the_work_began_counts() -> None:
    """A question that has waited for its turn unheard; an answer that comes soon is not announced."""
    assert shown(Waiting(), 10.0, DONE, silent_for=8.0) == [(7.0, MODEL), (10.0, "Robots act. End.")]
    assert shown(Waiting(), 10.0, DONE, silent_for=600.0) == [(3.0, MODEL), (10.0, "Robots act. End.")]
    assert shown(Waiting(), 2.0, DONE, silent_for=600.0) == [(2.0, "Robots act. End.")]


@pytest.mark.promise("never-silent")
def test_words_that_the_platform_did_not_take_are_tried_again() -> None:
    """As any other draft, and nothing else is shown for them."""
    seen = shown(Waiting(), 40.0, DONE, failures=[RateLimited(2.0)])

    assert [text for _, text in seen] == [MODEL, "Robots act. End."]
