"""How the bot scales: a thousand conversations in one process, several workers, and more and more threads.

`python -m bench.scale`: workers as they are in earnest, with a real index and a real Redis, a chat model that takes
300 ms to start and gives 60 tokens a second, and in place of a platform a wall that takes every message after 50 ms.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from bench.agent.job import pin
from bench.chat.model import Tempo
from bench.report import Row, print_rows
from bench.scale import alone, plot, together
from bench.scale.together import SEATS
from bench.scale.world import index, world

PARTS = ("steady", "burst", "workers", "open", "waiting", "beyond")
LIVE = 200
WORKERS = (1, 2, 4)
THREADS = (10, 100, 1_000, 10_000)
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def main() -> None:
    """Print a table for each part."""
    options = _options()
    tempo = Tempo(length=options.tokens)
    with index() as data:
        for name in options.parts:
            PRINTING[name](data, tempo, options)


def _steady(data: str, tempo: Tempo, options: argparse.Namespace) -> None:
    for live in options.live:
        with world(data, tempo, workers=1, seats=2 * live, cores=_apart()) as opened:
            load = alone.one_after_the_other(opened, options.conversations, live, tempo)
        rate = alone.rate_of(live, tempo)
        title = f"{options.conversations} conversations, {rate:.1f} a second for {live} live, one process on one core"
        print_rows(title, list(alone.rows(load, has_bar=live >= LIVE)))


def _burst(data: str, tempo: Tempo, options: argparse.Namespace) -> None:
    with world(data, tempo, workers=1, seats=LIVE, cores=_apart()) as opened:
        load = alone.all_at_once(opened, options.conversations)
    title = f"{options.conversations} conversations at once, {LIVE} seats, one process on one core"
    print_rows(title, list(alone.rows(load, has_bar=False)))


def _workers(data: str, tempo: Tempo, options: argparse.Namespace) -> None:
    costs: list[tuple[int, together.Cost]] = []
    for count in WORKERS:
        with world(data, tempo, workers=count, seats=SEATS, cores=_anywhere()) as opened:
            costs.append((count, together.shared(opened)))
    named = [(f"{count} workers" if count > 1 else "1 worker", cost) for count, cost in costs]
    print_rows(f"Workers of {SEATS} seats each, all busy", list(together.rows(named, "workers")))
    if options.plot is not None:
        options.plot.write_text(plot.svg(costs, SEATS), "utf-8")


def _open(data: str, tempo: Tempo, options: argparse.Namespace) -> None:
    costs: list[tuple[str, together.Cost]] = []
    for count in options.threads:
        with world(data, tempo, workers=1, seats=SEATS, cores=_anywhere()) as opened:
            costs.append((f"{count:,} open threads", together.shared(opened, threads=count)))
    print_rows(f"One worker of {SEATS} seats beside open threads", list(together.rows(costs, "worker")))


def _waiting(data: str, tempo: Tempo, options: argparse.Namespace) -> None:
    costs: list[tuple[str, together.Cost]] = []
    for count in options.threads:
        with world(data, tempo, workers=0, seats=0, cores=_anywhere()) as opened:
            costs.append((f"{count:,} threads that wait", together.waiting(opened, threads=count)))
    print_rows("The inbox alone, one question put and one settled", list(together.rows(costs, "process")))


def _beyond(data: str, tempo: Tempo, options: argparse.Namespace) -> None:
    rows: list[Row] = []
    for count in options.threads:
        with world(data, tempo, workers=0, seats=0, cores=_anywhere()) as opened:
            commands, delay = together.beyond(opened, threads=count)
        rows.append(
            Row(
                f"{count:,} questions: commands a second; until another workspace's is begun",
                f"{commands:.1f}; {delay:.0f} ms",
            )
        )
    print_rows("Questions of one workspace beyond its bound", rows)


PRINTING = dict(zip(PARTS, (_steady, _burst, _workers, _open, _waiting, _beyond), strict=True))


def _apart() -> tuple[int | None, ...]:
    """Give the first core to the worker and the last to all others, where there are two and the system allows it."""
    if len(CORES) < 2:
        return (None,)
    pin(CORES[-1])
    return CORES[0], CORES[-1]


def _anywhere() -> tuple[None]:
    """Let all processes run where the system wants."""
    if CORES:
        os.sched_setaffinity(0, CORES)
    return (None,)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description="How the bot scales.")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what is measured")
    parser.add_argument("--conversations", type=int, default=1_000, help="how many there are in one process")
    parser.add_argument("--live", type=int, nargs="+", default=(50, 100, LIVE), help="answers at once")
    parser.add_argument("--tokens", type=int, default=300, help="the length of an answer")
    parser.add_argument("--threads", type=int, nargs="+", default=THREADS, help="how many there are")
    parser.add_argument("--plot", type=Path, help="where the plot of throughput by workers goes, as SVG")
    return parser.parse_args()


if __name__ == "__main__":
    main()
