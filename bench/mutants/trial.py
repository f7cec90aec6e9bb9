"""Runs tests against mutants, in copies of the tree, so that nothing is ever changed in the tree itself."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from enum import StrEnum
from pathlib import Path
from queue import Queue
from subprocess import PIPE

from bench.mutants.mutant import Mutant
from bench.mutants.table import ROOT, Group

LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".footnote", ".hypothesis", ".ruff_cache", ".pytest_cache")
OPTIONS = ("-x", "-q", "-n", "0", "-p", "no:randomly", "--hypothesis-seed=0")
LOADED = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # pytest's plugins are, before it begins
AGAIN = ("--lf", "--lfnf=none")  # only what has just failed
PASSED, NO_TESTS = 0, 5  # what pytest ends with
SAID = "said.txt"  # what pytest prints, in the copy
MOST_SAID = 4_000  # characters of it
TRIES = 3  # to pass without a change, on a machine that may be busy
SLACK = 30.0  # seconds a run may take beyond three times the one without a change: the machine may be busy


class Outcome(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    OUT_OF_TIME = "killed by time"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"


class Copy:
    """A copy of the tree, with a process that runs tests in it, one run at a time."""

    def __init__(self, folder: Path) -> None:
        shutil.copytree(ROOT, folder, ignore=LEFT_OUT, symlinks=True)
        self.folder = folder
        self._host = subprocess.Popen(
            (sys.executable, "-m", "bench.mutants.host"), cwd=folder, stdin=PIPE, stdout=PIPE, text=True
        )

    def run(self, group: Group, *more: str, within: float | None) -> int | None:
        """Return what pytest ends with; None if it came to no end in time."""
        assert self._host.stdin is not None and self._host.stdout is not None  # noqa: PT018 - pipes
        arguments = [*OPTIONS, *LOADED, *more, "-k", group.only, *map(str, group.tests)]
        self._host.stdin.write(json.dumps([arguments, str(self.folder / SAID), within]) + "\n")
        self._host.stdin.flush()
        return json.loads(self._host.stdout.readline())

    def close(self) -> None:
        """End the process, which runs nothing."""
        self._host.communicate()


class Copies:
    """Copies of the tree, each for one run at a time."""

    def __init__(self, each: Sequence[Copy]) -> None:
        self._free: Queue[Copy] = Queue()
        self._times = itertools.count(1)
        for copy in each:
            self._free.put(copy)

    def seconds(self, group: Group) -> float:
        """Return how long the tests of a group take without a change. Raises `RuntimeError` if they do not pass."""
        said = ""
        for _ in range(TRIES):
            begun = time.monotonic()
            with self._one() as copy:
                code = copy.run(group, within=None)
                said = (copy.folder / SAID).read_text()
            if code == PASSED:
                return time.monotonic() - begun
        raise RuntimeError(f"The tests do not pass without a change:\n{said[-MOST_SAID:]}")

    def outcome(self, mutant: Mutant, group: Group, *, usually: float) -> Outcome:
        """Return what the tests of its group make of a mutant, where they *usually* take so many seconds."""
        with self._one() as copy:
            changed = copy.folder / mutant.path
            changed.write_text(mutant.text)
            # Python's caches know a text by its time in seconds and its length, so that each has a time of its own.
            os.utime(changed, (number := next(self._times), number))
            try:
                within = 3 * usually + SLACK
                code = copy.run(group, within=within)
                if code not in (PASSED, None, NO_TESTS):  # a test that fails now and then has noticed nothing
                    code = copy.run(group, *AGAIN, within=within)
            finally:
                shutil.copy2(ROOT / mutant.path, changed)
        if code == NO_TESTS:
            raise RuntimeError(f"pytest ended with {code}: {group.name}")
        if code is None:
            return Outcome.OUT_OF_TIME
        return Outcome.SURVIVED if code == PASSED else Outcome.KILLED

    @contextlib.contextmanager
    def _one(self) -> Generator[Copy]:
        copy = self._free.get()
        try:
            yield copy
        finally:
            self._free.put(copy)


@contextlib.contextmanager
def copies(number: int) -> Generator[Copies]:
    """Make so many copies of the tree, and remove them at the end."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as parent, contextlib.ExitStack() as stack:
        made = [Copy(Path(parent, str(each))) for each in range(number)]
        for copy in made:
            stack.callback(copy.close)
        yield Copies(made)
