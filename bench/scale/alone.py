"""One process on one core: what many conversations cost it, one after the other and all at once."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.chat.load import Asking
from bench.chat.model import Tempo
from bench.cohere import percentile
from bench.report import Row, at_most
from bench.scale.asking import Server, answered, ask, info, stores
from bench.scale.world import Reports, World

WARM_UP = 60
FIRST_TEXT = 300.0  # ms, 95th percentile, over the model's own
SHARES = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Load:
    """What came of a load: when each question was put, what was seen, and what the server did; memory in bytes."""

    put: dict[int, float]
    reports: Reports
    server: Server
    waiting: float = 0.0


def rate_of(live: int, tempo: Tempo) -> float:
    """Say how many questions a second keep so many answers live."""
    query = 20  # tokens of a search, about
    return live / (2 * tempo.start + (query + tempo.length) / tempo.tokens)


def one_after_the_other(world: World, count: int, live: int, tempo: Tempo) -> Load:
    """Ask *count* questions, so many a second that about as many answers as *live* says are being written."""
    world.begin()
    rate = rate_of(live, tempo)
    asyncio.run(_asked(world, Asking(0, WARM_UP, rate / 2)))
    world.report()
    before = Server.of(world.redis)
    put = asyncio.run(_asked(world, Asking(WARM_UP, count, rate)))
    return Load(put, world.report(), Server.of(world.redis) - before)


def all_at_once(world: World, count: int) -> Load:
    """Put *count* questions before the worker begins."""
    empty = _memory(world)
    put = asyncio.run(_put(world, Asking(0, count, None)))
    waiting = (_memory(world) - empty) / count
    before = Server.of(world.redis)
    world.begin()
    asyncio.run(_finished(world))
    return Load(put, world.report(), Server.of(world.redis) - before, waiting)


async def _asked(world: World, asking: Asking) -> dict[int, float]:
    async with stores(world.url) as opened:
        put = await ask(opened.inbox, asking)
        await answered(opened.inbox)
        return put


async def _put(world: World, asking: Asking) -> dict[int, float]:
    async with stores(world.url) as opened:
        return await ask(opened.inbox, asking)


async def _finished(world: World) -> None:
    async with stores(world.url) as opened:
        await answered(opened.inbox)


def _memory(world: World) -> int:
    return int(info(world.redis, "memory")["used_memory"])


def rows(load: Load, *, has_bar: bool) -> Iterator[Row]:
    """Give the rows of a load; where all come at once, there is no bar."""
    seen, [notes] = load.reports.seen, load.reports.notes
    found = sorted(load.put.keys() & seen.first.keys() - set(seen.not_found))
    live = [count for count, _ in notes.resident]
    yield Row("answers live at a time, median and most", f"{statistics.median(live):.0f} and {max(live)}")
    yield from _first_text(load, found, has_bar=has_bar)
    whole = [seen.last[number] - load.put[number] for number in load.put if number in seen.last]
    yield Row("put until the whole answer, median and p95", _times([each * 1000 for each in whole], SHARES[:2]))
    took = max(seen.last.values()) - min(load.put.values())
    yield Row("answers a second, from the first question to the last answer", f"{len(whole) / took:.1f}")
    yield Row("CPU of the worker for a question, and share of its core", _cpu(load, took))
    yield Row("lag of the event loop, median, p95 and p99", _times(notes.late, SHARES))
    yield Row("the same piece of work on its core: fastest, median and p95", _times(notes.work, (0.0, 0.5, 0.95)))
    yield from _memories(load)
    yield at_most(f"answers lost or doubled, of {len(load.put)}", len(load.put) - len(whole) + len(seen.wrong), 0)
    yield Row("questions that the documents do not answer", str(len(seen.not_found)))
    failures = "; ".join(f"{what}: {count}" for what, count in notes.failures.items())
    yield Row("what the bot reported", failures or "nothing")


def _first_text(load: Load, found: Sequence[int], *, has_bar: bool) -> Iterator[Row]:
    seen, spent = load.reports.seen, load.reports.spent

    def added(since: dict[int, float]) -> list[float]:
        return [(seen.first[number] - since[number] - spent[number]) * 1000 for number in found]

    what = "until the first text, over the model's own time: median, p95 and p99"
    yield Row(f"begun {what}", _times(added(seen.begun), SHARES))
    yield Row(f"put {what}", _times(added(load.put), SHARES))
    if has_bar:
        yield at_most("put until the first text over the model's, p95", percentile(added(load.put), 0.95), FIRST_TEXT)
    own = [spent[number] * 1000 for number in found]
    yield Row("the model's own time until its first words, median and p95", _times(own, SHARES[:2]))


def _memories(load: Load) -> Iterator[Row]:
    [notes] = load.reports.notes
    live, most = max(notes.resident)
    before = notes.resident[0][1]
    yield Row("resident memory of the worker, before and most", f"{before:.0f} and {most:.0f} MB")
    quarters = [notes.resident[len(notes.resident) * at // 4 - 1][1] for at in range(1, 5)]
    yield Row("the same after each quarter of the time", f"{', '.join(f'{each:.0f}' for each in quarters)} MB")
    if load.waiting:
        yield Row("memory of Redis for each question that waits", f"{load.waiting / 1000:.1f} kB")
    else:  # else the worker had loaded nothing before
        yield Row("resident memory of the worker for each live answer", f"{(most - before) * 1000 / live:.0f} kB")


def _cpu(load: Load, took: float) -> str:
    [notes] = load.reports.notes
    return f"{notes.cpu * 1000 / len(load.put):.1f} ms, {notes.cpu / took:.0%}"


def _times(values: Sequence[float], shares: Sequence[float]) -> str:
    return f"{', '.join(f'{percentile(list(values), share):.3g}' for share in shares)} ms"
