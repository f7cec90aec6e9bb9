"""A rest that is the longer, the more are at it."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from adapters.chat.live_message import LiveMessage, Pace
from adapters.chat.platform import Part
from adapters.retry import LoadPacer
from tests.fakes.poster import Thread


def test_the_more_are_counted_the_longer_is_the_rest() -> None:
    """Up to the longest one; whoever has finished counts no more."""
    pacer = LoadPacer(for_each=0.2, longest=0.5)
    seconds = [pacer.seconds]
    for more in (1, 1, 1, -1, -1, -1):
        pacer.count(more)
        seconds.append(pacer.seconds)

    assert seconds == pytest.approx([0.0, 0.2, 0.4, 0.5, 0.4, 0.2, 0.0])


def test_without_numbers_nobody_rests() -> None:
    """As in the terminal, which shows one answer at a time."""
    pacer = LoadPacer()
    pacer.count(1)
    assert pacer.seconds == 0.0
    pacer.count(-1)


@pytest.mark.promise("bounded-pace")
async def test_the_more_answers_are_written_the_less_often_each_changes() -> None:
    """Two hundred at once would edit faster than a platform takes it; the first text and the end wait for nothing."""
    platform, pacer = Thread(), LoadPacer(Pace().for_each, Pace().longest)
    pacer.count(199)
    pace = Pace(clock=platform.now, sleep=platform.sleep)
    async with LiveMessage(platform, str, pacer=pacer, pace=pace) as shown:
        for number in range(3):
            shown.show(partial(tuple[Part], [Part(f"{number}")]))
            for _ in range(50):
                await asyncio.sleep(0)
        await shown.finish([Part("end")])

    assert platform.calls == [(0.0, "post", "0"), (4.0, "edit", "1"), (8.0, "edit", "2"), (8.0, "edit", "end")]
    assert pacer.seconds == pytest.approx(199 * 0.02)


@pytest.mark.parametrize("failure", [ValueError("broken"), asyncio.CancelledError()], ids=["broken", "cancelled"])
async def test_an_answer_that_fails_counts_no_more(failure: BaseException) -> None:
    """Or those that come after it would be written the more slowly, the more have failed."""
    platform, pacer, during = Thread(), LoadPacer(0.02, 10.0), list[float]()

    async def answer() -> None:
        async with LiveMessage(
            platform, str, pacer=pacer, pace=Pace(clock=platform.now, sleep=platform.sleep)
        ) as shown:
            shown.show(partial(tuple[Part], [Part("half")]))
            during.append(pacer.seconds)
            raise failure

    with pytest.raises(type(failure)):
        await answer()

    assert (during, pacer.seconds) == ([0.02], 0.0)
