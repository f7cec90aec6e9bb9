"""`python -m bench.path`: how much of the product one question passes, on each platform.

Counted are the modules and the named functions that are entered during each of the follow-ups of a journey, from the
event to the settled task, with the index that needs no key, one search and one answer. Each platform is traced in a
process of its own. `--list` prints the functions too, by module, in the order of their first entry.

`--commands` counts instead what a server of Redis does for a question on a chat platform, in each way of asking for the
one that costs it least: all commands, those within scripts included, and those that clients sent. What comes every
second or two, whether anybody asks or not, is told apart. With `--list`, each script and command with its number.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import ParamSpec, TypeVar

from bench.path import chat
from bench.path.chat import COMMUNITIES, spent
from bench.path.commands import Spent
from bench.path.journeys import PLATFORMS, prepare, trace
from bench.path.tracer import Entered
from tests.fixtures.commands import copy_data

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


def tell_commands(platform: str, told: Mapping[str, Spent], *, is_listed: bool) -> None:
    """Print how much the server did in each way, and where it is wanted for what."""
    for way, each in sorted(told.items()):
        print(f"{platform} {way} {each.commands} commands {each.of_clients} of clients {each.polls} of polls")
        if is_listed:
            for name, count in each.by_name():
                print(f"  {count:3} {name}")


def main() -> None:
    """Trace the platforms that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m bench.path", description="What one question passes.")
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help=", ".join(PLATFORMS))
    parser.add_argument("--list", action="store_true", help="the functions too, in the order of their first entry")
    parser.add_argument("--data", metavar="FOLDER", help="an index of the same pages, which saves making one")
    parser.add_argument("--commands", action="store_true", help="what the server of Redis does for it")
    asked = parser.parse_args()
    platforms = asked.platforms or (COMMUNITIES if asked.commands else PLATFORMS)
    if unknown := set(platforms) - set(COMMUNITIES if asked.commands else PLATFORMS):
        parser.error(f"there is no platform {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        if not asked.data:
            in_its_own_process(prepare, f"{folder}/data")
        for platform in platforms:  # each with pages that are its own, as they belong to the first that asks
            data = str(copy_data(Path(asked.data or f"{folder}/data"), Path(folder, f"{platform}-data")))
            if asked.commands:
                told = in_its_own_process(spent, platform, data, f"{folder}/{platform}")
                tell_commands(platform, told, is_listed=asked.list)
            else:
                tell(platform, in_its_own_process(trace, platform, data), is_listed=asked.list)


def in_its_own_process(work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Do the work where nothing but importing was done before it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([chat.__name__])
    with ProcessPoolExecutor(1, context) as process:
        return process.submit(work, *args, **options).result()


if __name__ == "__main__":
    main()
