"""`python -m bench.path`: how much of the product one question passes, on each platform.

Counted are the modules and the named functions that are entered during the second question of a journey, from the
event to the settled task, with the index that needs no key, one search and one answer. Each platform is traced in a
process of its own. `--list` prints the functions too, by module, in the order of their first entry.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from typing import ParamSpec, TypeVar

from bench.path.journeys import PLATFORMS, prepare, trace
from bench.path.tracer import Entered

P = ParamSpec("P")
T = TypeVar("T")


def tell(platform: str, entered: tuple[Entered, ...], *, is_listed: bool) -> None:
    """Print the figures, and where it is wanted the path."""
    print(f"{platform} {len({each.module for each in entered})} modules {len(entered)} functions", flush=True)
    if is_listed:
        for module, functions in groupby(entered, lambda each: each.module):
            print(f"  {module}")
            for each in functions:
                print(f"    {each.name}")


def main() -> None:
    """Trace the platforms that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m bench.path", description="What one question passes.")
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help=", ".join(PLATFORMS))
    parser.add_argument("--list", action="store_true", help="the functions too, in the order of their first entry")
    parser.add_argument("--data", metavar="FOLDER", help="an index of the same pages, which saves making one")
    asked = parser.parse_args()
    if unknown := set(asked.platforms) - set(PLATFORMS):
        parser.error(f"there is no platform {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        data = asked.data or folder
        if not asked.data:
            in_its_own_process(prepare, data)
        for platform in asked.platforms or PLATFORMS:
            tell(platform, in_its_own_process(trace, platform, data), is_listed=asked.list)


def in_its_own_process(work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Do the work where nothing was done before it."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(work, *args, **options).result()


if __name__ == "__main__":
    main()
