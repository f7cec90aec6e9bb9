"""What could not be written is written in its order when the store is back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

import pytest

from adapters.chat.chores import Chores
from adapters.chat.owed import FIRST_WAIT, LONGEST_WAIT, Owed
from core.errors import StoreUnavailable


class Store:
    """Writes down what it is given, unless it is away; it comes back after `returns_after` waits."""

    def __init__(self) -> None:
        self.chores = Chores()
        self.written: list[str] = []
        self.waits: list[float] = []
        self.returns_after = 0
        self.done = asyncio.Event()

    @property
    def is_away(self) -> bool:
        """Whether nothing can be written."""
        return len(self.waits) < self.returns_after

    def write(self, text: str) -> Callable[[], Awaitable[None]]:
        """Give the work of writing something."""
        return partial(self._write, text)

    async def sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        self.waits.append(seconds)
        await asyncio.sleep(0)

    async def _write(self, text: str) -> None:
        if self.is_away:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")
        self.written.append(text)
        if text == "the last":
            self.done.set()


@pytest.fixture(name="store")
async def _store() -> AsyncIterator[Store]:
    store = Store()
    yield store
    await store.chores.close()


async def test_what_can_be_written_is_written_at_once(store: Store) -> None:
    """Nothing waits for it."""
    await Owed(store.chores, sleep=store.sleep).do(store.write("an edit"))

    assert (store.written, store.waits) == (["an edit"], [])


@pytest.mark.promise("changes-are-kept")
async def test_what_is_owed_comes_first(store: Store) -> None:
    """In its order, with waits that grow up to a bound."""
    owed = Owed(store.chores, sleep=store.sleep)
    store.returns_after = 9
    for text in ("an edit", "a deletion", "the last"):
        await owed.do(store.write(text))
    async with asyncio.timeout(5):
        await store.done.wait()
    await owed.do(store.write("later"))

    assert store.written == ["an edit", "a deletion", "the last", "later"]
    assert store.waits == [*(FIRST_WAIT * 2**number for number in range(6)), *[LONGEST_WAIT] * 3]


async def test_no_more_is_owed_than_fits(store: Store) -> None:
    """The oldest is given up."""
    owed = Owed(store.chores, most=2, sleep=store.sleep)
    store.returns_after = 1
    for text in ("the first", "an edit", "the last"):
        await owed.do(store.write(text))
    async with asyncio.timeout(5):
        await store.done.wait()

    assert store.written == ["an edit", "the last"]


async def test_what_is_given_up_while_it_is_done_takes_nothing_with_it(store: Store) -> None:
    """The work that came in its place is done as well."""
    owed = Owed(store.chores, most=1, sleep=store.sleep)
    store.returns_after = 1

    async def slow() -> None:
        await store.write("slow")()
        await owed.do(store.write("the last"))

    await owed.do(slow)
    async with asyncio.timeout(5):
        await store.done.wait()

    assert store.written == ["slow", "the last"]


async def test_a_mistake_of_ours_holds_up_nothing(store: Store) -> None:
    """It would be made again and again."""
    told = asyncio.Event()
    asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: told.set())  # which writes a log
    owed = Owed(store.chores, sleep=store.sleep)
    store.returns_after = 1

    async def mistaken() -> None:
        await store.write("mistaken")()
        raise ValueError

    await owed.do(mistaken)
    await owed.do(store.write("the last"))
    async with asyncio.timeout(5):
        await store.done.wait()
        await told.wait()

    assert store.written == ["mistaken", "the last"]
