"""Several workers at one Redis, and one with more and more threads around it: what a question costs each time."""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from adapters.redis.inbox_store import PREFIX
from bench.chat.load import Asking
from bench.report import Row, at_most
from bench.scale.asking import Server, Stores, answered, ask, question, stores
from bench.scale.world import Reports, World
from core.model import Asked, Turn

SEATS = 16
ROUNDS = 4  # questions for each seat
FLAT = 10.0  # per cent
FILLERS = 32  # at once
FAR = 1_000_000  # numbers from here on are those of threads that are only there
WAITED_FOR = 300  # questions
IDLE = 20.0  # seconds in which a worker has nothing to do
LOOKED_AFTER = 0.25  # seconds


@dataclass(frozen=True, slots=True)
class Cost:
    """What a question cost: milliseconds of CPU of the workers and of the server, its commands and its bytes.

    `rate` is how many were answered a second.
    """

    cpu: float
    server: float
    commands: float
    sent: float
    rate: float = 0.0


def shared(world: World, *, threads: int = 0) -> Cost:
    """Keep all seats of all workers busy; before that, so many threads have had an answer each."""
    return asyncio.run(_shared(world, threads))


async def _shared(world: World, threads: int) -> Cost:
    async with stores(world.url) as opened:
        await _fill(opened, threads)
        world.begin()
        count = SEATS * len(world.workers)
        await ask(opened.inbox, Asking(0, count, None))
        await answered(opened.inbox)
        world.report()
        before = Server.of(world.redis)
        put = await ask(opened.inbox, Asking(count, ROUNDS * count, None))
        await answered(opened.inbox)
        server = Server.of(world.redis) - before
    return _cost(world.report(), server, put)


def _cost(reports: Reports, server: Server, put: dict[int, float]) -> Cost:
    seen, count = reports.seen, len(put)
    assert len(seen.last) == count, "a question was lost"
    assert not seen.wrong, "an answer is not whole"
    cpu = sum(notes.cpu for notes in reports.notes)
    took = max(seen.last.values()) - min(put.values())
    return Cost(
        cpu * 1000 / count, server.cpu * 1000 / count, server.commands / count, server.sent / count, count / took
    )


async def _fill(opened: Stores, threads: int) -> None:
    """Have a question in each thread, and its answer remembered, as they are some hours later."""
    left = iter(range(FAR, FAR + threads))

    async def filler() -> None:
        for number in left:
            asked = question(number)
            await opened.inbox.put(Asked(question=asked))
            async with opened.inbox.claim() as task:
                about = task.message
                turn = Turn(question_ref=about, question=asked.text, answer=asked.text * 20, at=datetime.now(UTC))
                await opened.conversations.append(about.thread, turn)

    await asyncio.gather(*(filler() for _ in range(FILLERS)))


def waiting(world: World, *, threads: int) -> Cost:
    """Put and settle questions while in so many threads one waits; with the inbox alone, in this process."""
    return asyncio.run(_waiting(world, threads))


async def _waiting(world: World, threads: int) -> Cost:
    async with stores(world.url) as opened:
        await ask(opened.inbox, Asking(FAR, threads, None))
        before, cpu = Server.of(world.redis), _cpu()
        for number in range(WAITED_FOR):
            await opened.inbox.put(Asked(question=question(number)))
            async with opened.inbox.claim():
                pass
        used, server = _cpu() - cpu, Server.of(world.redis) - before
    count = WAITED_FOR
    return Cost(used * 1000 / count, server.cpu * 1000 / count, server.commands / count, server.sent / count)


def beyond(world: World, *, threads: int) -> tuple[float, float]:
    """Let so many questions of one workspace wait beyond its bound, while a worker waits for something to do.

    Returns how many commands the server carries out in a second of it, and after how many milliseconds a question of
    another workspace is begun.
    """
    return asyncio.run(_beyond(world, threads))


async def _beyond(world: World, threads: int) -> tuple[float, float]:
    async with stores(world.url, per_workspace=1) as opened:
        await ask(opened.inbox, Asking(0, 1 + threads, None))
        async with opened.inbox.claim():
            working = asyncio.create_task(_taken(opened))
            while int(world.redis.say("ZCARD", f"{PREFIX}delayed")) < threads:  # noqa: ASYNC110 - it is on the server
                await asyncio.sleep(LOOKED_AFTER)
            before = Server.of(world.redis)
            await asyncio.sleep(IDLE)
            spent = Server.of(world.redis) - before
            begun = time.perf_counter()
            await opened.inbox.put(Asked(question=question(FAR, workspace="another")))
            await working
            return spent.commands / IDLE, (time.perf_counter() - begun) * 1000


async def _taken(opened: Stores) -> None:
    """Take the next question that there is."""
    async with opened.inbox.claim() as task:
        assert task.message.thread.workspace == "another"


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def rows(costs: Sequence[tuple[str, Cost]], who: str) -> Iterator[Row]:
    """Give what a question cost in each case, and how far that is from the first one."""
    for name, cost in costs:
        rate = f"; {cost.rate:.2f} answers a second" if cost.rate else ""
        yield Row(
            f"{name}: CPU of the {who} and of the server, commands, bytes",
            f"{cost.cpu:.1f} and {cost.server:.2f} ms, {cost.commands:.1f}, {cost.sent:.0f}{rate}",
        )
    _, first = costs[0]
    for name, cost in costs[1:]:
        pairs = ((cost.cpu, first.cpu), (cost.commands, first.commands), (cost.sent, first.sent))
        for what, (now, then) in zip(("CPU", "commands", "bytes"), pairs, strict=True):
            yield at_most(
                f"{name}: {what} for a question, more than in the first case", (now / then - 1) * 100, FLAT, " %"
            )
