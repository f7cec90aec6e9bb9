"""An answer on a platform that asks for patience."""

from __future__ import annotations

from functools import partial

import pytest

from adapters.chat.live_message import LiveMessage, Pace
from adapters.chat.platform import Part, Posted, nonce
from core.errors import RateLimited, Unreachable
from core.model import MessageRef
from tests.adapters.chat.test_drafts import draft, parts, settled, snapshot
from tests.builders import thread
from tests.fakes.poster import Thread

QUESTION = MessageRef(thread=thread(), id="m1")


@pytest.mark.promise("posted-once")
async def test_an_answer_that_the_platform_limits_at_its_end_is_not_posted_anew() -> None:
    """A further post would be limited as well, and stand below the half of an answer that nobody could remove."""
    platform = Thread(messages={"m1": "Robots"}, failures=[RateLimited(100.0)] * 10)
    pace = Pace(clock=platform.now, sleep=platform.sleep)
    half = [Posted("m1", Part("Robots"))]
    async with LiveMessage(platform, partial(nonce, QUESTION), messages=half, pace=pace) as shown:
        with pytest.raises(RateLimited):
            await shown.finish([Part("Robots act.")])

    assert (set(platform.did), platform.messages) == ({"edit"}, {"m1": "Robots"})


@pytest.mark.promise("bounded-pace")
@pytest.mark.parametrize(
    ("platform", "times"),
    [
        (Thread(delays=[0.0, 4.0]), [0.0, 5.2, 9.2, 12.4]),
        (Thread(failures=[None, RateLimited(5.0)]), [0.0, 1.2, 6.2, 10.2, 13.4]),
        (Thread(failures=[None, RateLimited(0.1)]), [0.0, 1.2, 3.0, 4.44, 5.64]),
        (Thread(failures=[None, RateLimited(60.0)]), [0.0, 1.2, 61.2, 69.2, 75.6]),
    ],
    ids=["it lets a call wait", "it asks for a wait", "it asks for a short one", "it asks for a long one"],
)
async def test_a_platform_that_lets_calls_wait_is_called_less_often(platform: Thread, times: list[float]) -> None:
    """A client that sleeps until its bucket is full again makes calls slow; with time the pace recovers.

    It is at least what the platform asked for, by half longer than before, and never more than ten seconds.
    """
    async with draft(platform) as shown:
        for number in range(4):
            shown.show(snapshot(f"{number}"))
            await settled()
        await shown.finish(parts("3"))

    assert [at for at, _, _ in platform.calls] == pytest.approx(times)


@pytest.mark.promise("bounded-pace")
async def test_what_is_left_of_a_pace_is_waited_for_however_short_it_is() -> None:
    """Calls come at the pace of the platform, whenever there is something new."""
    platform = Thread()
    async with draft(platform) as shown:
        shown.show(snapshot("a"))
        await settled()
        platform.time = 1.0
        shown.show(snapshot("b"))
        await settled()
        await shown.finish(parts("b"))

    assert [at for at, _, _ in platform.calls] == [0.0, 1.2]


@pytest.mark.promise("final-state")
async def test_short_waits_that_the_platform_asks_for_are_no_failures() -> None:
    """It is there, and takes the answer after as many of them as it likes."""
    platform = Thread(failures=[RateLimited(1.0)] * 10)
    async with draft(platform) as shown:
        await shown.finish(parts("end"))

    assert platform.shown == ["end"]


@pytest.mark.promise("bounded-pace")
async def test_a_wait_that_the_platform_asks_for_is_kept_also_at_the_end() -> None:
    """Whoever asks again too early is made to wait longer, or shut out."""
    platform = Thread(failures=[None, RateLimited(7.0), RateLimited(3.0)])
    async with draft(platform) as shown:
        shown.show(snapshot("a"))
        await settled()
        await shown.finish(parts("b"))

    assert platform.calls == [(0.0, "post", "a"), (0.0, "edit", "b"), (7.0, "edit", "b"), (10.0, "edit", "b")]
    assert (platform.shown, shown.waited) == (["b"], 10.0)


@pytest.mark.promise("final-state")
async def test_a_platform_that_is_away_at_the_end_is_left_alone_for_longer_each_time() -> None:
    """It has other things to do than to be asked at the pace of edits."""
    platform = Thread(failures=[Unreachable()] * 4)
    async with draft(platform) as shown:
        await shown.finish(parts("end"))

    assert [at for at, _, _ in platform.calls] == [0.0, 1.2, 3.6, 7.2, 12.0]


@pytest.mark.promise("final-state")
async def test_five_minutes_of_waits_are_endured_at_the_end() -> None:
    """The answer is worth them; of one that takes longer, the caller is told."""
    platform = Thread(failures=[RateLimited(100.0)] * 3)
    async with draft(platform) as shown:
        await shown.finish(parts("end"))

    assert platform.shown == ["end"]
