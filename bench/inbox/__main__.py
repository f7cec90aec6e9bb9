"""Our inbox alone, beside pydocket and taskiq-redis, each on a real server of its own with an append-only file.

`python -m bench.inbox`: workers have one core, the server and who puts have another. The same jobs and slots for all.
The others run in an environment of their own that the command makes.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from bench.cohere import percentile
from bench.environment import version
from bench.inbox import trials
from bench.inbox.arena import LOCK, OURS, keep_to_the_last_core
from bench.inbox.trials import Back, Order, Quick
from bench.report import Row, print_rows

Rows: TypeAlias = Iterator[Row]


def main() -> None:
    """Print a table for each trial."""
    options = _options()
    keep_to_the_last_core()
    for name in options.trials:
        trial, show, title, is_repeated = TRIALS[name]
        results: dict[str, list[Any]] = {contender: [] for contender in NAMES}
        for _ in range(options.rounds if is_repeated else 1):
            for contender in NAMES:
                results[contender].append(trial(contender))
        print_rows(title, [row for contender in NAMES for row in show(NAMES[contender], results[contender])])


def _soon(name: str, results: Sequence[list[float]]) -> Rows:
    found = [f"{_median([percentile(each, share) for each in results]):.1f}" for share in (0.5, 0.95)]
    yield Row(f"{name}: from before it is put until it is begun, median and p95", f"{found[0]} and {found[1]} ms")


def _quick(name: str, results: Sequence[Quick]) -> Rows:
    yield Row(f"{name}: jobs a second", f"{_median([one.rate for one in results]):.0f}")
    commands, sent = _median([one.commands for one in results]), _median([one.sent for one in results])
    yield Row(f"{name}: commands of the server for a job, with those in scripts; bytes", f"{commands:.1f}; {sent:.0f}")


def _order(name: str, results: Sequence[Order]) -> Rows:
    [found] = results
    yield Row(f"{name}: begun before the one before had ended", str(found.overlapping))
    yield Row(f"{name}: begun before one that was put earlier", str(found.misplaced))


def _back(name: str, results: Sequence[Back]) -> Rows:
    [found] = results
    what = f"{name}: until the jobs of the killed worker were begun again, first and last"
    if found.alone:
        yield Row(what, f"{min(found.alone):.1f} and {max(found.alone):.1f} s")
    elif found.after:
        yield Row(what, f"not in {trials.WAITED:.0f} s; once another job was put, {max(found.after):.1f} s")
    else:
        yield Row(what, f"not in {2 * trials.WAITED:.0f} s, also after another job was put")


def _median(values: list[float]) -> float:
    return statistics.median(values)


NAMES = {
    OURS: "Footnote",
    "docket_usual": f"pydocket {version(LOCK, 'pydocket')}",
    "docket_brisk": f"pydocket {version(LOCK, 'pydocket')} looking every 10 ms",
    "taskiq_streams": f"taskiq-redis {version(LOCK, 'taskiq-redis')}",
}
TRIALS: dict[str, tuple[Callable[[str], Any], Callable[[str, Any], Rows], str, bool]] = {
    "soon": (trials.soon, _soon, f"{trials.SOON} jobs, one every {trials.EVERY * 1000:.0f} ms", True),
    "quick": (trials.quick, _quick, f"{trials.QUICK} jobs that wait, {trials.SLOTS} slots", True),
    "order": (trials.order, _order, f"{trials.ORDERED} jobs on {trials.KEYS} keys, two workers", False),
    "back": (trials.back, _back, f"A worker is killed, lease of {trials.LEASE:.0f} s", False),
}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.inbox", description="Our inbox beside other queues.")
    parser.add_argument("--trials", nargs="+", choices=tuple(TRIALS), default=tuple(TRIALS), help="which ones")
    parser.add_argument("--rounds", type=int, default=3, help="of those whose times are taken")
    return parser.parse_args()


if __name__ == "__main__":
    main()
