"""What is promised to a platform is noted before, and kept or taken back, whatever is away meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adapters.chat.promised import NO_STORE, Promise, Promised
from core.errors import StoreUnavailable, Unreachable
from core.events import Event, Passed, Step
from core.sentences import BROKEN
from tests.builders import question
from tests.fakes.promises import MemoryPromises
from tests.waiting import at_once

AWAY = StoreUnavailable("It is away.")
GONE = Unreachable("It is not there.")
FOREVER = 10_000


def promise(text: str) -> Promise:
    """Give something to do."""
    return Promise(question=question(text))


class Worker:
    """Does what was promised, after so many failures."""

    def __init__(self, *, fails: int = 0, error: Exception = AWAY) -> None:
        self.done: list[str] = []
        self.told: list[str] = []
        self._fails, self._error = fails, error

    async def do(self, what: Promise) -> None:
        """Do it, if it is time for that."""
        if self._fails:
            self._fails -= 1
            raise self._error
        self.done.append(what.question.text)

    async def tell(self, text: str) -> None:
        """Hear why it was not done."""
        self.told.append(text)

    async def keep(self, promised: Promised[Promise], text: str = "a") -> None:
        """Note it, and do it."""
        what = promise(text)
        claim = await promised.note(text, what)
        assert claim is not None
        await promised.keep(claim, what, lambda: self.do(what), self.tell)


@pytest.fixture(name="store")
def _store() -> MemoryPromises:
    return MemoryPromises()


@pytest.fixture(name="dead")
def _dead(store: MemoryPromises) -> MemoryPromises:
    """Give the view of a process that is gone, and whose claims are over."""
    return MemoryPromises(beside=store, lasting=0.0)


@pytest.fixture(name="left")
def _left(dead: MemoryPromises) -> Promised[Promise]:
    return Promised(dead, "slack", Promise, sleep=at_once)


@pytest.fixture(name="promised")
def _promised(store: MemoryPromises) -> Promised[Promise]:
    return Promised(store, "slack", Promise, sleep=at_once)


@pytest.fixture(name="broken")
async def _broken() -> list[Any]:
    """Hear what would be written into the log."""
    heard: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: heard.append(context["exception"]))
    return heard


@pytest.mark.parametrize("error", [AWAY, GONE])
@pytest.mark.parametrize(("fails", "done", "told"), [(0, ["a"], []), (1, ["a"], []), (FOREVER, [], [NO_STORE])])
async def test_what_is_promised_is_done_or_told_to_be_impossible(
    promised: Promised[Promise], store: MemoryPromises, error: Exception, fails: int, done: list[str], told: list[str]
) -> None:
    """A short absence is waited for; in the end nothing is promised any more."""
    worker = Worker(fails=fails, error=error)
    await worker.keep(promised)

    assert (worker.done, worker.told, store.kept) == (done, told, {})


async def test_what_breaks_is_told_and_not_tried_again(promised: Promised[Promise], store: MemoryPromises) -> None:
    """By nobody: the next process would do what somebody was told will not be done."""
    worker = Worker(fails=1, error=ValueError("robot"))
    with pytest.raises(ValueError, match="robot"):
        await worker.keep(promised)

    assert (worker.done, worker.told, store.kept) == ([], [f"⚠️ {BROKEN}"], {})


async def test_what_hangs_is_broken_off_and_tried_again() -> None:
    """Before others may begin with it."""
    store, tries = MemoryPromises(lasting=0.03), list[float]()

    async def do() -> None:
        tries.append(asyncio.get_running_loop().time())
        if len(tries) == 1:
            await asyncio.sleep(FOREVER)

    promised = Promised(store, "slack", Promise, sleep=at_once)
    claim = await promised.note("1", promise("a"))
    assert claim is not None
    await promised.keep(claim, promise("a"), do, Worker().tell)

    assert (len(tries), store.kept) == (2, {})


async def test_the_note_is_taken_away_once_the_store_is_back(store: MemoryPromises) -> None:
    """Else the next process would do it a second time, or what somebody was told will not be done."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        store.fails = len(waits) < 3

    async def do() -> None:
        store.fails = True

    promised = Promised(store, "slack", Promise, sleep=sleep)
    claim = await promised.note("1", promise("a"))
    assert claim is not None
    await promised.keep(claim, promise("a"), do, Worker().tell)

    assert (store.kept, len(waits)) == ({}, 3)


async def test_what_cannot_be_noted_must_not_be_promised(promised: Promised[Promise], store: MemoryPromises) -> None:
    """And what is noted already is under way."""
    assert [await promised.note("1", promise(text)) is not None for text in ("a", "b")] == [True, False]
    store.fails = True
    with pytest.raises(StoreUnavailable):
        await promised.note("2", promise("c"))


async def test_both_steps_are_told(store: MemoryPromises) -> None:
    """A process may die between them."""
    told: list[Event] = []
    await Worker().keep(Promised(store, "slack", Promise, sleep=at_once, observer=told.append))

    message = promise("a").question.message
    assert told == [Passed(message, Step.PROMISED), Passed(message, Step.ACKNOWLEDGED)]


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("error", [AWAY, GONE])
async def test_what_others_left_is_done_once_all_is_there(
    left: Promised[Promise], promised: Promised[Promise], store: MemoryPromises, dead: MemoryPromises, error: Exception
) -> None:
    """What another version has written is passed over, and nothing is left."""
    await left.note("1", promise("a"))
    await dead.put("slack", "2", "{}", within=1)
    await left.note("3", promise("b"))
    worker = Worker(fails=3, error=error)
    await promised.take_up(worker.do)

    assert (sorted(worker.done), store.kept) == (["a", "b"], {})


@pytest.mark.promise("asked-once")
async def test_of_several_processes_one_is_at_it() -> None:
    """A new one waits until the claim of the one before is over, and two new ones do not do it both."""
    dead = MemoryPromises(lasting=0.05)
    await dead.put("slack", "1", promise("a").model_dump_json(), within=1)
    others = [MemoryPromises(beside=dead) for _ in range(2)]
    worker, began = Worker(), asyncio.get_running_loop().time()
    new = [Promised(each, "slack", Promise, sleep=at_once) for each in others]
    await asyncio.gather(*(each.take_up(worker.do) for each in new))

    assert (worker.done, dead.kept) == (["a"], {})
    assert asyncio.get_running_loop().time() - began >= 0.05


@pytest.mark.promise("asked-once")
@pytest.mark.parametrize("text", [promise("a").model_dump_json(), "{}"])
async def test_a_process_leaves_what_it_is_about_to_do_itself(text: str) -> None:
    """It may begin to listen while it looks for what others have left, and others may write what it cannot read."""
    store, worker = MemoryPromises(lasting=0.05), Worker()
    await store.put("slack", "1", text, within=1)
    promised, began = Promised(store, "slack", Promise, sleep=at_once), asyncio.get_running_loop().time()
    await promised.take_up(worker.do)

    assert (worker.done, store.kept) == (["a"] if text != "{}" else [], {})
    assert asyncio.get_running_loop().time() - began >= 0.05


@pytest.mark.promise("crash-safe")
async def test_a_note_that_the_store_has_lost_is_kept_all_the_same(
    promised: Promised[Promise], store: MemoryPromises
) -> None:
    """A server that failed over may not have it, and whoever asked waits for an answer."""
    worker, what = Worker(), promise("a")
    claim = await promised.note("1", what)
    assert claim is not None
    store.kept.clear()
    await promised.keep(claim, what, lambda: worker.do(what), worker.tell)

    assert (worker.done, worker.told) == (["a"], [])


@pytest.mark.promise("asked-once")
async def test_what_is_gone_after_the_own_claim_was_done_by_others() -> None:
    """They began when it had ended, and have finished."""
    frozen, worker, what = MemoryPromises(lasting=0.0), Worker(), promise("a")
    promised = Promised(frozen, "slack", Promise, sleep=at_once)
    claim = await promised.note("1", what)
    assert claim is not None
    frozen.kept.clear()
    await promised.keep(claim, what, lambda: worker.do(what), worker.tell)

    assert (worker.done, worker.told) == ([], [])


@pytest.mark.promise("asked-once")
async def test_whoever_was_frozen_leaves_it_to_the_one_that_took_it_over() -> None:
    """It says nothing, and lets the note be, on which the other relies."""
    frozen = MemoryPromises(lasting=0.0)
    other = MemoryPromises(beside=frozen)
    promised, worker = Promised(frozen, "slack", Promise, sleep=at_once), Worker()
    claim = await promised.note("1", promise("a"))
    assert claim is not None
    assert await other.claim("slack", "1")
    await promised.keep(claim, promise("a"), lambda: worker.do(promise("a")), worker.tell)

    assert (worker.done, worker.told, list(other.kept)) == ([], [], [("slack", "1")])


@pytest.mark.promise("crash-safe")
async def test_a_store_that_is_away_at_the_start_is_waited_for(left: Promised[Promise], store: MemoryPromises) -> None:
    """What it holds is done then."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        store.fails = False

    await left.note("1", promise("a"))
    store.fails, worker = True, Worker()
    await Promised(store, "slack", Promise, sleep=sleep).take_up(worker.do)

    assert (worker.done, store.kept, len(waits)) == (["a"], {}, 1)


async def test_what_cannot_be_done_for_long_stays_for_the_next(
    left: Promised[Promise], promised: Promised[Promise], store: MemoryPromises
) -> None:
    """Until it expires."""
    await left.note("1", promise("a"))
    await promised.take_up(Worker(fails=FOREVER).do)

    assert list(store.kept) == [("slack", "1")]


async def test_what_breaks_keeps_nothing_else_from_being_done(
    left: Promised[Promise], promised: Promised[Promise], store: MemoryPromises, broken: list[Any]
) -> None:
    """It is written into the log."""
    for text in ("a", "b"):
        await left.note(text, promise(text))
    worker = Worker(fails=1, error=ValueError("robot"))
    await promised.take_up(worker.do)

    assert (len(worker.done), len(store.kept), [str(each) for each in broken]) == (1, 1, ["robot"])
