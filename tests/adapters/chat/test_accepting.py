"""What a platform is told to be on its way is accepted before, and moved or taken back, whatever is away meanwhile."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from adapters.chat.background import NO_STORE, SHARE, accepted, settle, take_over, take_over_once
from core.errors import StoreUnavailable, Unreachable
from core.events import Event, Passed, Step
from core.messages import BROKEN
from core.model import Asked, Kept, Signal, Stage
from tests.builders import question
from tests.fakes.services import Counter, MemoryServices
from tests.inboxes import asked, perhaps_begun
from tests.waiting import cancelled, wait_until

AWAY = StoreUnavailable("It is away.")
GONE = Unreachable("It is not there.")
PLATFORM = "test"
FOREVER = 10_000
A, B = asked("a"), asked("b")


class Finder:
    """Finds where answers go, after so many failures, and hears why one will not come."""

    def __init__(self, *, fails: int = 0, error: Exception = AWAY, is_over: bool = False) -> None:
        self.looks = 0
        self.told: list[str] = []
        self.hears = True
        self._fails, self._error, self._is_over = fails, error, is_over

    async def find(self, what: Asked) -> Asked | None:
        """Find it, if it is time for that."""
        self.looks += 1
        if self.looks <= self._fails:
            raise self._error
        return None if self._is_over else placed(what)

    async def tell(self, text: str) -> bool:
        """Hear it, if it can be told."""
        self.told.append(text)
        return self.hears

    async def settle(self, office: MemoryServices, what: Asked = A) -> None:
        """Accept it, and move it."""
        until = await accepted(office.services, what)
        assert until is not None
        await settle(office.services, what, until, self.find, self.tell)


def placed(what: Asked) -> Asked:
    """Give the question as the message that stands for it."""
    return Asked(question=question(what.question.text, id=f"real {what.message.id}"))


async def left(*questions: Asked) -> Counter:
    """Give what another process sees of an inbox after one has accepted questions and died."""
    office = MemoryServices()
    for each in questions:
        await accepted(office.services, each)
    return office.inbox.follow()


def put(*questions: Asked, again: bool = False) -> list[Signal]:
    """Give what the inbox hears of them; *again* where they may have been begun before, and the store lost that."""
    return [perhaps_begun(placed(each)) if again else placed(each) for each in questions]


@pytest.fixture(name="office")
def _office() -> MemoryServices:
    return MemoryServices()


@pytest.fixture(name="broken")
async def _broken() -> list[Any]:
    """Hear what would be written into the log."""
    heard: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: heard.append(context["exception"]))
    return heard


@pytest.mark.parametrize("error", [AWAY, GONE])
@pytest.mark.parametrize(("fails", "done", "told"), [(0, [A], []), (1, [A], []), (FOREVER, [], [NO_STORE])])
async def test_what_is_accepted_is_moved_or_told_to_be_impossible(
    office: MemoryServices, error: Exception, fails: int, done: list[Asked], told: list[str]
) -> None:
    """A short absence is waited for; in the end nothing is left of it."""
    finder = Finder(fails=fails, error=error)
    await finder.settle(office)

    assert (office.inbox.signals, finder.told, office.inbox.kept) == (put(*done), told, {})


async def test_what_breaks_is_told_and_not_tried_again(office: MemoryServices) -> None:
    """By nobody: the next process would do what somebody was told will not be done."""
    finder = Finder(fails=1, error=ValueError("robot"))
    with pytest.raises(ValueError, match="robot"):
        await finder.settle(office)

    assert (office.inbox.signals, finder.told, office.inbox.kept) == ([], [f"⚠️ {BROKEN}"], {})


async def test_what_nobody_waits_for_is_dropped(office: MemoryServices) -> None:
    """The platform has told whoever asked that nothing answered."""
    finder = Finder(is_over=True)
    await finder.settle(office)

    assert (office.inbox.signals, finder.told, office.inbox.kept) == ([], [], {})


async def test_what_hangs_is_broken_off_before_others_begin_with_it(office: MemoryServices) -> None:
    """Nobody is told anything, as it is taken over then."""
    finder, loop = Finder(), asyncio.get_running_loop()
    office.inbox.accepted_for = 0.3
    began = loop.time()

    async def hang(_: Asked) -> Asked | None:
        await asyncio.Event().wait()
        raise AssertionError

    until = await accepted(office.services, A)
    assert until is not None
    assert until < office.inbox.ends[A.message]
    await settle(office.services, A, until, hang, finder.tell)
    took = loop.time() - began
    await wait_until(lambda: loop.time() > office.inbox.ends[A.message], what="the end of the lease")
    await take_over_once(office.services, PLATFORM, finder.find)

    assert took >= office.inbox.accepted_for * SHARE
    assert (office.inbox.signals, finder.told, office.inbox.kept) == (put(A, again=True), [], {})


async def test_it_is_dropped_once_the_store_is_back() -> None:
    """Else the next process would do what somebody was told will not be done."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        office.inbox.fails = AWAY if len(waits) < 6 else None

    office, finder = MemoryServices(sleep=sleep), Finder()
    office.inbox.fails = AWAY
    await finder.settle(office)

    assert (office.inbox.signals, office.inbox.kept, len(waits), finder.told) == ([], {}, 6, [NO_STORE])


async def test_what_cannot_be_accepted_must_not_be_acknowledged(office: MemoryServices) -> None:
    """And what is accepted already is under way."""
    assert [await accepted(office.services, A) is not None for _ in range(2)] == [True, False]
    office.inbox.is_closed = True
    with pytest.raises(StoreUnavailable):
        await accepted(office.services, B)


async def test_it_is_told_that_it_was_acknowledged() -> None:
    """A process may die after that."""
    told: list[Event] = []
    await Finder().settle(MemoryServices(observer=told.append))

    assert told == [Passed(A.message, Step.ACKNOWLEDGED)]


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("error", [AWAY, GONE])
async def test_what_others_left_is_moved_once_all_is_there(error: Exception) -> None:
    """One may stumble over it for a moment, and nothing is left."""
    office, finder = MemoryServices(inbox=await left(A, B)), Finder(fails=3, error=error)
    await take_over_once(office.services, PLATFORM, finder.find)

    assert ([each in office.inbox.signals for each in put(A, B, again=True)], office.inbox.kept) == ([True, True], {})


@pytest.mark.promise("asked-once")
async def test_of_several_processes_one_is_at_it() -> None:
    """A new one waits until the time of the one before is over, and two new ones do not do it both."""
    first = MemoryServices()
    await accepted(first.services, A)
    others, finder = [MemoryServices(inbox=first.inbox) for _ in range(2)], Finder()
    for each in others:
        await take_over_once(each.services, PLATFORM, finder.find)
    before = finder.looks
    first.inbox.ends[A.message] = asyncio.get_running_loop().time()
    taking = [asyncio.create_task(take_over(each.services, PLATFORM, finder.find)) for each in others]
    await wait_until(lambda: not first.inbox.kept, what="the move")
    for task in taking:
        await cancelled(task)

    assert (before, finder.looks, first.inbox.signals) == (0, 1, put(A, again=True))


@pytest.mark.promise("crash-safe")
async def test_what_the_store_has_lost_is_moved_all_the_same(office: MemoryServices) -> None:
    """A server that failed over may not have it, and whoever asked waits for an answer."""
    finder = Finder()
    until = await accepted(office.services, A)
    assert until is not None
    office.inbox.kept.clear()
    office.inbox.ends.clear()
    await settle(office.services, A, until, finder.find, finder.tell)

    assert (office.inbox.signals, finder.told) == (put(A), [])


@pytest.mark.promise("asked-once")
async def test_whoever_was_frozen_leaves_it_to_the_one_that_took_it_over(office: MemoryServices) -> None:
    """It looks for nothing and says nothing, and what is accepted stays, on which the other relies."""
    finder, office.inbox.accepted_for = Finder(), 0.0
    until = await accepted(office.services, A)
    assert until is not None
    assert await office.inbox.overdue(PLATFORM) == A
    await settle(office.services, A, until, finder.find, finder.tell)

    assert (finder.looks, finder.told, list(office.inbox.kept)) == (0, [], [A.message])


@pytest.mark.promise("crash-safe")
async def test_a_store_that_is_away_is_waited_for() -> None:
    """What it holds is moved then."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        office.inbox.is_closed = False
        await asyncio.sleep(0)

    office, finder = MemoryServices(inbox=await left(A), sleep=sleep), Finder()
    office.inbox.is_closed = True
    taking = asyncio.create_task(take_over(office.services, PLATFORM, finder.find))
    await wait_until(lambda: not office.inbox.kept, what="the move")
    await cancelled(taking)

    assert (office.inbox.signals, finder.looks) == (put(A, again=True), 1)
    assert 0.5 <= waits[0] <= 2  # often enough for who waits, and no load for a store that comes back


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize(
    ("reached", "looks", "is_again"),
    [
        (None, 2, True),
        (Stage.RUNNING, 2, False),
        (Stage.RUNNING, 8, True),
        (Stage.OVER, 8, False),
    ],
)
async def test_what_was_moved_is_moved_again_where_the_store_has_lost_it(
    reached: Stage | None, looks: int, *, is_again: bool
) -> None:
    """Once, as what may have been begun by somebody who died; whoever is at it has time to put it back before."""
    slept, seen = asyncio.Event(), 0

    async def sleep(_: float) -> None:
        nonlocal seen
        seen += 1
        if seen == 1:  # one look is over; then the store loses everything
            office.inbox.signals.clear()
            office.inbox.ends.clear()
            office.inbox.reached.clear()
        if seen > looks:
            slept.set()
            await asyncio.Event().wait()
        await asyncio.sleep(0)

    office = MemoryServices(inbox=Counter(accepted_for=6.0), sleep=sleep)
    await Finder().settle(office)
    if reached:
        office.inbox.reached[placed(A).message] = reached
    taking = asyncio.create_task(take_over(office.services, PLATFORM, Finder().find))
    await slept.wait()
    await cancelled(taking)

    assert office.inbox.signals == (put(A, again=True) if is_again else [])
    assert [each.asked for each in office.services.unanswered.values()] == [placed(A)][: reached is not Stage.OVER]


@pytest.mark.promise("crash-safe")
async def test_what_was_accepted_is_accepted_again_where_the_store_has_lost_it() -> None:
    """Its place could not be found in time, so it is left to whoever takes it over, and nobody else knows of it."""
    office, finder = MemoryServices(), Finder()
    until = await accepted(office.services, A)
    office.inbox.kept.clear()
    office.inbox.ends.clear()
    taking = asyncio.create_task(take_over(office.services, PLATFORM, finder.find))
    await wait_until(lambda: bool(office.inbox.kept), what="that it is accepted again")
    office.inbox.ends[A.message] = 0.0
    await wait_until(lambda: bool(office.inbox.signals), what="the move")
    await cancelled(taking)

    assert (until is not None, office.inbox.signals, finder.looks) == (True, put(A, again=True), 1)


@pytest.mark.promise("crash-safe")
async def test_where_a_question_goes_is_remembered_before_it_is_moved() -> None:
    """It may be moved without anybody hearing of it, and lost after that."""
    office = MemoryServices()
    office.inbox.opens.clear()
    settling = asyncio.create_task(Finder().settle(office))
    await wait_until(lambda: [each.asked for each in office.services.unanswered.values()] == put(A), what="the place")
    await cancelled(settling)


@pytest.mark.promise("crash-safe")
async def test_what_nobody_can_be_told_is_left_to_whoever_takes_it_over() -> None:
    """The store was away, and then the platform was, so that who asked would never hear of it."""
    office, finder = MemoryServices(), Finder(fails=FOREVER)
    finder.hears = False
    await finder.settle(office)

    assert (finder.told, list(office.inbox.kept)) == ([NO_STORE], list(office.services.unanswered))


@pytest.mark.promise("crash-safe")
async def test_what_somebody_was_told_will_not_be_answered_is_remembered_no_longer() -> None:
    """Also where it could not be withdrawn, as the store was away."""
    office = MemoryServices()
    await Finder(fails=FOREVER).settle(office)

    assert office.services.unanswered == {}


class Emptied(Counter):
    """Has been emptied since the first look."""

    looks = 0

    async def kept_for(self) -> Kept:
        """Give another mark from the second look on."""
        self.looks += 1
        return Kept(timedelta(), str(min(self.looks, 2)))


@pytest.mark.promise("crash-safe")
async def test_what_is_answered_soon_after_a_loss_is_not_asked_again_after_another_one() -> None:
    """While it is waited for what others put back, this process notices all the same what is over."""
    is_telling, told = asyncio.Event(), list[str]()

    async def sleep(seconds: float) -> None:
        if seconds == office.services.accepting.accepted_for / 2:
            office.inbox.reached[placed(A).message] = Stage.OVER
            is_telling.set()
            await asyncio.Event().wait()
        await asyncio.sleep(0)

    office = MemoryServices(inbox=Emptied(), sleep=sleep)
    await Finder().settle(office)
    taking = asyncio.create_task(
        take_over(office.services, PLATFORM, Finder().find, lost=lambda: told.append("the store was emptied"))
    )
    await is_telling.wait()
    await wait_until(lambda: not office.services.unanswered, what="what was moved to be forgotten")
    await cancelled(taking)

    assert told == []


async def test_what_cannot_be_moved_for_long_stays_for_the_next_time() -> None:
    """Until it expires."""
    office = MemoryServices(inbox=await left(A))
    await take_over_once(office.services, PLATFORM, Finder(fails=FOREVER).find)

    assert (list(office.inbox.kept), office.inbox.signals) == ([A.message], [])


async def test_what_breaks_keeps_nothing_else_from_being_moved(broken: list[Any]) -> None:
    """It is written into the log, and not tried again."""
    office = MemoryServices(inbox=await left(A, B))
    await take_over_once(office.services, PLATFORM, Finder(fails=1, error=ValueError("robot")).find)

    assert (len(office.inbox.signals), office.inbox.kept, [str(each) for each in broken]) == (1, {}, ["robot"])


class Stuck(Counter):
    """Gives out one question that was left, and then says nothing any more."""

    async def overdue(self, platform: str) -> Asked | None:
        """Give it, or wait for ever."""
        if found := await super().overdue(platform):
            return found
        await asyncio.Event().wait()
        return None


async def test_what_is_taken_over_does_not_wait_until_more_is_found() -> None:
    """A store that is slow by then would let the time run out in which nobody else is at it."""
    left_over = await left(A)
    office, finder = MemoryServices(inbox=Stuck(kept=left_over.kept, ends=left_over.ends)), Finder()
    taking = asyncio.create_task(take_over_once(office.services, PLATFORM, finder.find))
    heard = await office.heard()
    await cancelled(taking)

    assert [heard] == put(A, again=True)
