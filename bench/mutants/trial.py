"""Runs tests against mutants, in copies of the tree, so that nothing is ever changed in the tree itself."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from enum import StrEnum
from pathlib import Path
from queue import Queue

from bench.mutants.mutant import Mutant
from bench.mutants.table import ROOT, Group

LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".footnote", ".hypothesis", ".ruff_cache", ".pytest_cache")
OPTIONS = ("-x", "-q", "-n", "0", "-p", "no:randomly", "--hypothesis-seed=0")
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


class Copies:
    """Copies of the tree, each for one run at a time."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._free: Queue[Path] = Queue()
        for folder in folders:
            self._free.put(folder)

    def seconds(self, group: Group) -> float:
        """Return how long the tests of a group take without a change. Raises `RuntimeError` if they do not pass."""
        said = ""
        for _ in range(TRIES):
            begun = time.monotonic()
            with self._one() as folder:
                code = _run(folder, group, within=None)
                said = (folder / SAID).read_text()
            if code == PASSED:
                return time.monotonic() - begun
        raise RuntimeError(f"The tests do not pass without a change:\n{said[-MOST_SAID:]}")

    def outcome(self, mutant: Mutant, group: Group, *, usually: float) -> Outcome:
        """Return what the tests of its group make of a mutant, where they *usually* take so many seconds."""
        with self._one() as folder:
            changed = folder / mutant.path
            changed.write_text(mutant.text)
            try:
                within = 3 * usually + SLACK
                code = _run(folder, group, within=within)
                if code not in (PASSED, None, NO_TESTS):  # a test that fails now and then has noticed nothing
                    code = _run(folder, group, *AGAIN, within=within)
            finally:
                shutil.copy2(ROOT / mutant.path, changed)
        if code == NO_TESTS:
            raise RuntimeError(f"pytest ended with {code}: {group.name}")
        if code is None:
            return Outcome.OUT_OF_TIME
        return Outcome.SURVIVED if code == PASSED else Outcome.KILLED

    @contextlib.contextmanager
    def _one(self) -> Generator[Path]:
        folder = self._free.get()
        try:
            yield folder
        finally:
            self._free.put(folder)


@contextlib.contextmanager
def copies(number: int) -> Generator[Copies]:
    """Make so many copies of the tree, and remove them at the end."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as parent:
        folders = [Path(parent, str(each)) for each in range(number)]
        for folder in folders:
            shutil.copytree(ROOT, folder, ignore=LEFT_OUT, symlinks=True)
        yield Copies(folders)


def _run(folder: Path, group: Group, *more: str, within: float | None) -> int | None:
    """Return what pytest ends with; None if it came to no end in time."""
    command = [sys.executable, "-m", "pytest", *OPTIONS, *more, "-k", group.only, *map(str, group.tests)]
    # With caches of its own, Python could take a change of the same second and the same length for no change.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    with (
        (folder / SAID).open("w") as said,
        subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
        ) as running,
    ):
        try:
            return running.wait(within)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
