"""All requests of a process stay below Discord's limit, and what readers wait for goes first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.chat.live_message import LiveMessage, Pace
from adapters.chat.platform import Part, Posted
from adapters.discord.limits import Throttle
from core.errors import RateLimited
from tests.portion import examples
from tests.virtual_time import run

DISCORD = 50  # requests in a second
DRAFTS = 200
JUST_BEFORE, JUST_AFTER = 1 - 4e-10, 1 + 4e-10  # what a loop does in one turn
LENGTH = 20.0  # seconds in which each is written


async def passed(throttle: Throttle, obsolete: asyncio.Event | None = None) -> float:
    """Pass, and give the time."""
    await throttle.take(obsolete)
    return asyncio.get_running_loop().time()


def most_in_a_second(times: list[float]) -> int:
    """Count the requests of the fullest second."""
    return max(sum(start <= at < start + 1 for at in times) for start in times)


@pytest.mark.promise("below-the-limit")
@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.floats(0, 3), min_size=1, max_size=150))
def test_no_second_has_more_requests_than_discord_allows(wanted: list[float]) -> None:
    """Whenever they come, and each of them passes as soon as it may."""

    async def ask(throttle: Throttle, at: float) -> float:
        await asyncio.sleep(at)
        return await passed(throttle)

    async def all_of_them() -> list[float]:
        throttle = Throttle()
        return await asyncio.gather(*(ask(throttle, at) for at in wanted))

    times = run(all_of_them())
    assert most_in_a_second(times) <= DISCORD
    assert max(times) <= max(wanted) + len(wanted) / 45 + 0.001


def test_what_comes_first_passes_first_and_readers_before_all_else() -> None:
    """Edits take what is left, in their order too."""

    async def order() -> list[str]:
        throttle, obsolete, seen = Throttle(1.0), asyncio.Event(), list[str]()

        async def go(name: str, marked: asyncio.Event | None) -> None:
            await throttle.take(marked)
            seen.append(name)

        names = ["at once", "edit 1", "post 1", "edit 2", "post 2"]
        await asyncio.gather(*(go(name, obsolete if "edit" in name else None) for name in names))
        return seen

    assert run(order()) == ["at once", "post 1", "post 2", "edit 1", "edit 2"]


def test_an_edit_that_is_not_needed_any_more_is_dropped() -> None:
    """The whole answer comes at once instead; edits after that are what a reader waits for."""

    async def order() -> list[str]:
        throttle, obsolete, seen = Throttle(1.0), asyncio.Event(), list[str]()
        await throttle.take()

        async def go(name: str, marked: asyncio.Event | None) -> None:
            try:
                await throttle.take(marked)
            except RateLimited:
                name = f"no {name}"
            seen.append(name)

        editing = asyncio.create_task(go("edit", obsolete))
        await asyncio.sleep(0)
        obsolete.set()
        await editing
        await asyncio.gather(go("last edit", None), go("late edit", obsolete))
        return seen

    assert run(order()) == ["no edit", "no late edit", "last edit"]


def test_what_does_not_queue_is_made_at_once_or_not_at_all() -> None:
    """Nobody misses a sign that the bot is typing, when there are answers to show."""

    async def taken() -> list[str]:
        throttle, now_or_never, seen = Throttle(1.0), asyncio.Event(), list[str]()
        now_or_never.set()
        for seconds in (0.0, 0.5, 0.5):
            await asyncio.sleep(seconds)
            try:
                await throttle.take(now_or_never)
            except RateLimited as failure:
                seen.append(str(failure))
            else:
                seen.append("made")
        return seen

    assert run(taken()) == ["made", "rate limit", "made"]


@pytest.mark.parametrize("moment", [0.5, JUST_BEFORE, JUST_AFTER])
def test_whoever_gives_up_leaves_the_place_to_others(moment: float) -> None:
    """Even in the moment in which it was granted."""

    async def times() -> tuple[bool, float]:
        throttle = Throttle(1.0)
        await throttle.take()
        early, late = (asyncio.create_task(passed(throttle)) for _ in range(2))
        asyncio.get_running_loop().call_at(moment, early.cancel)
        await asyncio.wait([early, late])
        return early.cancelled(), late.result()

    assert run(times()) == (True, pytest.approx(1.0, abs=0.01))


@pytest.mark.parametrize("moment", [0.5, JUST_BEFORE, JUST_AFTER])
def test_a_place_that_nobody_waits_for_is_there_for_the_next_one(moment: float) -> None:
    """Whoever was to have it does not want it."""

    async def time() -> tuple[bool, float]:
        throttle = Throttle(1.0)
        await throttle.take()
        early = asyncio.create_task(throttle.take())
        asyncio.get_running_loop().call_at(moment, early.cancel)
        await asyncio.wait([early])
        return early.cancelled(), await passed(throttle)

    assert run(time()) == (True, pytest.approx(1.0, abs=0.01))


@pytest.mark.parametrize(("moment", "is_made"), [(0.5, False), (JUST_AFTER, True)])
def test_an_edit_that_has_been_let_through_is_made(moment: float, is_made: bool) -> None:
    """Only what still waits can be dropped, and whoever asked for it has nothing to wait for."""

    async def outcome() -> BaseException | None:
        throttle, obsolete = Throttle(1.0), asyncio.Event()
        await throttle.take()
        asyncio.get_running_loop().call_at(moment, obsolete.set)
        edit = asyncio.create_task(throttle.take(obsolete))
        await asyncio.wait([edit])
        return edit.exception()

    error = run(outcome())
    assert error is None if is_made else isinstance(error, RateLimited) and error.wait == 0


class Wall:
    """A `Poster` that keeps to the throttle, as a client of Discord's does; it remembers when what was shown."""

    def __init__(self, throttle: Throttle) -> None:
        self._throttle = throttle
        self.shown: list[tuple[float, str]] = []

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Post a message."""
        await self._show(part)
        return Posted(nonce, part)

    async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
        """Replace what it shows."""
        await self._show(part, obsolete)

    async def delete(self, message_id: str) -> None:
        """Remove it."""

    async def _show(self, part: Part, obsolete: asyncio.Event | None = None) -> None:
        self.shown.append((await passed(self._throttle, obsolete), part.text))


async def written(throttle: Throttle, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> Wall:
    """Write an answer of some length, and show it meanwhile."""
    wall, loop = Wall(throttle), asyncio.get_running_loop()
    async with LiveMessage(wall, str, pace=Pace(clock=loop.time, sleep=sleep)) as draft:
        for number in range(round(LENGTH * 5)):
            draft.show(lambda number=number: [Part(str(number))])
            await sleep(0.2)
        await draft.finish([Part("all")])
    return wall


@pytest.mark.promise("final-state")
def test_two_hundred_answers_at_once_slow_down_evenly_and_none_ends_late() -> None:
    """Each final state waits for those before it in the line and for no edit, and none of the drafts stands still."""

    async def all_of_them() -> list[Wall]:
        throttle = Throttle()
        return await asyncio.gather(*(written(throttle) for _ in range(DRAFTS)))

    walls = run(all_of_them())
    ends = [wall.shown[-1] for wall in walls]
    pauses = [after - before for wall in walls for (before, _), (after, _) in pairwise(wall.shown)]
    assert {text for _, text in ends} == {"all"}
    assert max(at for at, _ in ends) <= LENGTH + DRAFTS / 45 + 0.1
    assert most_in_a_second([at for wall in walls for at, _ in wall.shown]) <= DISCORD
    counts = sorted(len(wall.shown) for wall in walls)
    assert (counts[0] >= counts[-1] - 2, max(pauses) < 12) == (True, True), (counts, max(pauses))
