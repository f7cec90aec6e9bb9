"""What is done beside ends with its owner, and what could not be written is written when the store is back."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from adapters.chat.background import BackgroundTasks, DeferredWrites
from adapters.chat.services import ExpiringSet
from adapters.redis.connection import connect
from adapters.redis.dedup import RedisChannelCursor
from adapters.redis.failure import REFUSED
from adapters.retry import DEFERRED, RetryPolicy
from core.errors import Rejected, StoreUnavailable
from core.events import Event, ServiceFailed
from core.model import ChannelRef
from tests.builders import NOON
from tests.servers import valkey
from tests.waiting import wait_until


class Store:
    """Writes down what it is given, unless it is away; it comes back after `returns_after` waits."""

    def __init__(self) -> None:
        self.tasks = BackgroundTasks()
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

    @property
    def policy(self) -> RetryPolicy:
        """The waits of earnest, none of which takes any time."""
        return replace(DEFERRED, sleep=self.sleep)

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
    await store.tasks.close()


async def test_what_can_be_written_is_written_at_once(store: Store) -> None:
    """Nothing waits for it."""
    await DeferredWrites(store.tasks, policy=store.policy).do(store.write("an edit"))

    assert (store.written, store.waits) == (["an edit"], [])


@pytest.mark.promise("changes-are-kept")
async def test_what_is_owed_comes_first(store: Store) -> None:
    """In its order, with waits that grow up to a bound."""
    writes = DeferredWrites(store.tasks, policy=store.policy)
    store.returns_after = 9
    for text in ("an edit", "a deletion", "the last"):
        await writes.do(store.write(text))
    async with asyncio.timeout(5):
        await store.done.wait()
    await writes.do(store.write("later"))

    assert store.written == ["an edit", "a deletion", "the last", "later"]
    assert store.waits == [*DEFERRED.waits, *[DEFERRED.waits[-1]] * 2]


async def test_no_more_is_owed_than_fits(store: Store) -> None:
    """The oldest is given up."""
    writes = DeferredWrites(store.tasks, most=2, policy=store.policy)
    store.returns_after = 1
    for text in ("the first", "an edit", "the last"):
        await writes.do(store.write(text))
    async with asyncio.timeout(5):
        await store.done.wait()

    assert store.written == ["an edit", "the last"]


async def test_what_is_given_up_while_it_is_done_takes_nothing_with_it(store: Store) -> None:
    """The work that came in its place is done as well."""
    writes = DeferredWrites(store.tasks, most=1, policy=store.policy)
    store.returns_after = 1

    async def slow() -> None:
        await store.write("slow")()
        await writes.do(store.write("the last"))

    await writes.do(slow)
    async with asyncio.timeout(5):
        await store.done.wait()

    assert store.written == ["slow", "the last"]


async def test_a_mistake_of_ours_holds_up_nothing(store: Store) -> None:
    """It would be made again and again."""
    told = asyncio.Event()
    asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: told.set())  # which writes a log
    writes = DeferredWrites(store.tasks, policy=store.policy)
    store.returns_after = 1

    async def mistaken() -> None:
        await store.write("mistaken")()
        raise ValueError

    await writes.do(mistaken)
    await writes.do(store.write("the last"))
    async with asyncio.timeout(5):
        await store.done.wait()
        await told.wait()

    assert store.written == ["mistaken", "the last"]


@pytest.mark.promise("changes-are-kept")
async def test_what_the_store_never_takes_holds_up_nothing(tmp_path: Path) -> None:
    """It is told once; what came after it is written when the store is back, in its order."""
    told, tasks, done = list[Event](), BackgroundTasks(), list[str]()
    with valkey.alone(tmp_path) as node:
        async with connect(f"redis://{node.host}", timeout=1.0) as client:
            writes = DeferredWrites(tasks, observer=told.append)

            async def write(name: str) -> None:
                await RedisChannelCursor(client).note(ChannelRef(platform=name, workspace="w", channel="c"), NOON)
                done.append(name)

            node.say("SET", "footnote:heard:odd", "which is no sorted set")
            await writes.do(partial(write, "odd"))
            await asyncio.to_thread(node.kill)
            for name in ("one", "odd", "two", "three"):
                await writes.do(partial(write, name))
            node.start()
            await asyncio.to_thread(valkey.wait_for, node)
            await wait_until(lambda: len(done) > 2, what="the rest")
            await writes.do(partial(write, "four"))
    await tasks.close()

    assert done == ["one", "two", "three", "four"]
    assert told == [ServiceFailed("inbox", REFUSED)] * 2


@dataclass
class Gateway:
    """Stands before a hosted server, and answers scripts with a refusal while there is one."""

    node: valkey.Node
    refusal: bytes
    refused: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hand on one command after the other, each of which comes as a whole."""
        behind, ahead = await asyncio.open_connection("127.0.0.1", self.node.port)
        with closing(writer), closing(ahead):
            while words := await reader.read(65_536):
                if self.refusal and b"EVALSHA" in words:
                    self.refused += 1
                    writer.write(b"-" + self.refusal + b"\r\n")
                else:
                    ahead.write(words)
                    writer.write(await behind.read(65_536))


@pytest.mark.promise("changes-are-kept")
@pytest.mark.parametrize("refusal", [b"ERR max daily request limit exceeded", b"ERR upstream failure", b"MAINTENANCE"])
async def test_what_a_hosted_store_refuses_for_now_is_written_later(tmp_path: Path, refusal: bytes) -> None:
    """Nobody knows the words of all of them."""
    told, tasks, done = list[Event](), BackgroundTasks(), list[str]()
    with valkey.alone(tmp_path) as node:
        gateway = Gateway(node, refusal)
        async with await asyncio.start_server(gateway.serve, "127.0.0.1", 0) as server:
            port = int(server.sockets[0].getsockname()[1])
            async with connect(f"redis://127.0.0.1:{port}", timeout=5.0) as client:
                cursor = RedisChannelCursor(client)
                writes = DeferredWrites(tasks, policy=replace(DEFERRED, waits=(0.01,)), observer=told.append)

                async def write(name: str) -> None:
                    await cursor.note(ChannelRef(platform=name, workspace="w", channel="c"), NOON)
                    done.append(name)

                for name in ("one", "two"):
                    await writes.do(partial(write, name))
                await wait_until(lambda: gateway.refused > len("two"), what="refusals")
                gateway.refusal = b""
                await wait_until(lambda: len(done) > 1, what="both")
    await tasks.close()

    assert (done, told) == (["one", "two"], [])


async def test_what_is_done_beside_may_be_refused_and_ends_with_its_owner() -> None:
    """Nobody hears of a refusal, nor of what succeeds or is ended."""
    tasks, begun, ended, told = BackgroundTasks(), asyncio.Event(), list[str](), list[object]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["message"]))

    async def refused() -> None:
        raise Rejected("code 50001")

    async def endless(name: str) -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    for work in (refused, partial(asyncio.sleep, 0), partial(endless, "one")):
        tasks.begin(work)
    await begun.wait()
    await asyncio.sleep(0)  # the others have ended
    await tasks.close()
    gc.collect()  # which finds failures that nobody has looked at

    assert (ended, told) == (["one"], [])


async def test_what_breaks_beside_is_told_to_the_loop() -> None:
    """At once, whatever is not to be ignored; and whoever finishes waits for all that was begun."""
    told, tasks = list[object](), BackgroundTasks(ignore=())
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["exception"]))
    refusal, gate = Rejected("code 50001"), asyncio.Event()

    async def refused() -> None:
        await gate.wait()
        raise refusal

    tasks.begin(refused)
    await tasks.finish(0.0)
    before = list(told)
    gate.set()
    await tasks.finish()

    assert (before, told) == ([], [refusal])


@pytest.mark.promise("orderly-stop")
@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_what_takes_too_long_at_the_end_is_ended_and_nothing_is_begun_after(*, is_cancelled: bool) -> None:
    """Whoever closes leaves nothing behind, also where a second stop comes while the first one waits."""
    tasks, begun, ended = BackgroundTasks(), asyncio.Event(), list[str]()

    async def endless(name: str) -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            tasks.begin(partial(endless, "too late"))
            ended.append(name)

    tasks.begin(partial(endless, "one"))
    await begun.wait()
    closing = asyncio.create_task(tasks.close(60.0 if is_cancelled else 0.0))
    await asyncio.sleep(0)
    if is_cancelled:
        closing.cancel()
    async with asyncio.timeout(5):
        await asyncio.wait({closing})
    tasks.begin(partial(endless, "later still"))
    await tasks.finish(0.0)

    assert (ended, closing.cancelled()) == (["one"], is_cancelled)


async def test_what_comes_to_its_end_in_time_is_not_ended() -> None:
    """It has been given so many seconds."""
    tasks, going_on, done = BackgroundTasks(), asyncio.Event(), list[str]()

    async def work() -> None:
        await going_on.wait()
        done.append("it")

    tasks.begin(work)
    closing = asyncio.create_task(tasks.close(5.0))
    await asyncio.sleep(0)
    going_on.set()
    await closing

    assert done == ["it"]


class Name(str):
    """A name of which one can tell whether anybody has it still."""

    __slots__ = ("__weakref__",)


def test_a_name_is_known_for_as_long_as_it_lasts_and_not_kept_for_longer() -> None:
    """Else a process that runs for months would know every channel that was ever heard."""
    now, name = [NOON], Name("a channel")
    known = ExpiringSet(lambda: now[0], timedelta(minutes=1))
    is_kept = weakref.ref(name)
    added = [known.add(name), known.add("a channel")]
    del name
    now[0] += timedelta(minutes=1)
    added += [known.add("another"), known.add("a channel")]

    assert (added, is_kept()) == ([True, False, True, True], None)


def test_a_name_stays_known_when_others_come() -> None:
    """And lasts no longer for being added again."""
    now = [NOON]
    known = ExpiringSet(lambda: now[0], timedelta(minutes=1))
    added = [known.add("a channel")]
    now[0] += timedelta(seconds=59)
    added += [known.add("another"), known.add("a channel")]
    now[0] += timedelta(seconds=1)
    added += [known.add("another"), known.add("a channel")]

    assert added == [True, True, False, False, True]
