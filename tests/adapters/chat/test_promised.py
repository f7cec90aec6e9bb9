"""What is promised to a platform is noted before, and kept or taken back, whatever is away meanwhile."""

from __future__ import annotations

import pytest

from adapters.chat.posting import Unreachable
from adapters.chat.promised import NO_STORE, Promised
from core.errors import StoreUnavailable
from core.model import Value
from tests.fakes.promises import MemoryPromises
from tests.waiting import at_once

AWAY = StoreUnavailable("It is away.")
FOREVER = 10_000


class Deed(Value):
    """Something to do."""

    name: str


class Worker:
    """Does deeds, after so many failures."""

    def __init__(self, *, fails: int = 0, error: Exception = AWAY) -> None:
        self.done: list[str] = []
        self.told: list[str] = []
        self._fails, self._error = fails, error

    async def do(self, deed: Deed) -> None:
        """Do it, if it is time for that."""
        if self._fails:
            self._fails -= 1
            raise self._error
        self.done.append(deed.name)

    async def tell(self, text: str) -> None:
        """Hear why it was not done."""
        self.told.append(text)


@pytest.fixture(name="store")
def _store() -> MemoryPromises:
    return MemoryPromises()


@pytest.fixture(name="promised")
def _promised(store: MemoryPromises) -> Promised[Deed]:
    return Promised(store, "slack", Deed, at_once)


@pytest.mark.parametrize("error", [AWAY, Unreachable("It is not there.")])
@pytest.mark.parametrize(("fails", "done", "told"), [(0, ["a"], []), (1, ["a"], []), (FOREVER, [], [NO_STORE])])
async def test_what_is_promised_is_done_or_told_to_be_impossible(
    promised: Promised[Deed], store: MemoryPromises, error: Exception, fails: int, done: list[str], told: list[str]
) -> None:
    """A short absence is waited for; in the end nothing is promised any more."""
    worker, deed = Worker(fails=fails, error=error), Deed(name="a")
    assert await promised.note("1", deed)
    noted = dict(store.kept)
    await promised.keep("1", lambda: worker.do(deed), worker.tell)

    assert (worker.done, worker.told, len(noted), store.kept) == (done, told, 1, {})


async def test_the_note_is_taken_away_once_the_store_is_back(store: MemoryPromises) -> None:
    """Else the next process would do it a second time, or what somebody was told will not be done."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        store.fails = len(waits) < 3

    worker, deed, promised = Worker(), Deed(name="a"), Promised(store, "slack", Deed, sleep)
    await promised.note("1", deed)
    store.fails = True
    await promised.keep("1", lambda: worker.do(deed), worker.tell)

    assert (worker.done, store.kept, len(waits)) == (["a"], {}, 3)


async def test_what_cannot_be_noted_must_not_be_promised(promised: Promised[Deed], store: MemoryPromises) -> None:
    """And what is noted already is under way."""
    assert [await promised.note("1", Deed(name=name)) for name in ("a", "b")] == [True, False]
    store.fails = True
    with pytest.raises(StoreUnavailable):
        await promised.note("2", Deed(name="c"))


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("error", [AWAY, Unreachable("It is not there.")])
async def test_what_others_left_is_done_once_all_is_there(
    promised: Promised[Deed], store: MemoryPromises, error: Exception
) -> None:
    """What another version has written is passed over, and nothing is left."""
    await promised.note("1", Deed(name="a"))
    await store.put("slack", "2", "{}", within=1)
    await promised.note("3", Deed(name="b"))
    worker = Worker(fails=3, error=error)
    await promised.take_up(worker.do, after=3)

    assert (worker.done, store.kept) == (["a", "b"], {})


@pytest.mark.promise("crash-safe")
async def test_a_store_that_is_away_at_the_start_is_waited_for(store: MemoryPromises) -> None:
    """Whatever is done meanwhile by whoever is still there is left to them, and so is what came later."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        store.fails = False
        if seconds == 3:
            await store.remove("slack", "1")
            await store.put("slack", "3", Deed(name="c").model_dump_json(), within=1)

    for key, name in (("1", "a"), ("2", "b")):
        await store.put("slack", key, Deed(name=name).model_dump_json(), within=1)
    store.fails, worker = True, Worker()
    await Promised(store, "slack", Deed, sleep).take_up(worker.do, after=3)

    assert (worker.done, list(store.kept), waits[-1]) == (["b"], [("slack", "3")], 3)


async def test_what_cannot_be_done_for_long_stays_for_the_next(promised: Promised[Deed], store: MemoryPromises) -> None:
    """Until it expires."""
    await promised.note("1", Deed(name="a"))
    await promised.take_up(Worker(fails=FOREVER).do, after=3)

    assert list(store.kept) == [("slack", "1")]
