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
from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from queue import Queue
from subprocess import PIPE

from bench.mutants.mutant import Mutant
from bench.mutants.table import ROOT, Group

LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".footnote", ".hypothesis", ".ruff_cache", ".pytest_cache")
OPTIONS = ("-x", "-q", "-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider", "--hypothesis-seed=0")
LOADED = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # pytest's plugins are, before it begins
PASSED, NO_TESTS = 0, 5  # what pytest ends with
SAID, NOTED = "said.txt", "noted.txt"  # what pytest and its plugin write, in the copy
MOST_SAID = 4_000  # characters of it
TRIES = 3  # to pass without a change, on a machine that may be busy
SLACK = 30.0  # seconds a run may take beyond five times the one without a change: the machine may be busy
NEAR = 8  # tests that noticed changes nearby, and come first


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

    def run(self, arguments: Sequence[str], plugin: str, about: Sequence[str], within: float | None) -> int | None:
        """Return what pytest ends with; None if it came to no end in time."""
        assert self._host.stdin is not None and self._host.stdout is not None  # noqa: PT018 - pipes
        for name in (SAID, NOTED):
            (self.folder / name).unlink(missing_ok=True)
        noting = (plugin, about, str(self.folder / NOTED))
        order = [[*OPTIONS, *LOADED, *arguments], noting, str(self.folder / SAID), within]
        self._host.stdin.write(json.dumps(order) + "\n")
        self._host.stdin.flush()
        return json.loads(self._host.stdout.readline())

    def wrote(self, name: str) -> str:
        """Return what the last run wrote there; "" for nothing."""
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def close(self) -> None:
        """End the process, which runs nothing."""
        self._host.communicate()


@dataclass(frozen=True, slots=True)
class Usual:
    """What a run of the tests of a group without a change shows: the `seconds` of each, and who runs which line."""

    seconds: Mapping[str, float]
    touched: Mapping[str, Mapping[str, Sequence[str]]]

    def touching(self, mutant: Mutant) -> list[str]:
        """Return the tests that run one of the lines that are changed; all tests for what is run at import."""
        lines = self.touched.get(str(mutant.path), {})
        found = {test for line in mutant.lines for test in lines.get(str(line), ())}
        return [test for test in self.seconds if test in found] or list(self.seconds)


class Copies:
    """Copies of the tree, each for one run at a time."""

    def __init__(self, each: Sequence[Copy]) -> None:
        self._free: Queue[Copy] = Queue()
        self._times = itertools.count(1)
        self._noticed: dict[Path, list[tuple[int, str]]] = defaultdict(list)
        for copy in each:
            self._free.put(copy)

    def usual(self, group: Group) -> Usual:
        """Return what a run without a change shows. Raises `RuntimeError` if its tests do not pass."""
        said = ""
        for _ in range(TRIES):
            with self._one() as copy:
                sources = [str(each) for each in group.sources]
                code = copy.run(["-k", group.only, *map(str, group.tests)], "Touched", sources, None)
                said = copy.wrote(SAID)
                if code == PASSED:
                    return Usual(*json.loads(copy.wrote(NOTED)))
            print(f"{group.name}: the tests do not pass without a change:\n{said[-MOST_SAID:]}", flush=True)
        raise RuntimeError(f"The tests do not pass without a change: {group.name}")

    def outcome(self, mutant: Mutant, usual: Usual) -> Outcome:
        """Return what the tests that touch a mutant make of it, those first that are quick or noticed others nearby."""
        noticed = sorted(self._noticed[mutant.path], key=lambda each: abs(each[0] - mutant.line))
        near = list(dict.fromkeys(test for _, test in noticed))[:NEAR]
        tests = sorted(usual.touching(mutant), key=lambda test: (test not in near, usual.seconds[test]))
        with self._one() as copy:
            changed = copy.folder / mutant.path
            changed.write_text(mutant.text)
            # Python's caches know a text by its time in seconds and its length, so that each has a time of its own.
            os.utime(changed, (number := next(self._times), number))
            try:
                code, failed = self._seen(copy, tests, usual)
            finally:
                shutil.copy2(ROOT / mutant.path, changed)
        if code == NO_TESTS:
            raise RuntimeError(f"pytest ended with {code}: {mutant}")
        if failed and code != PASSED:
            self._noticed[mutant.path].append((mutant.line, failed))
        if code is None:
            return Outcome.OUT_OF_TIME
        return Outcome.SURVIVED if code == PASSED else Outcome.KILLED

    def _seen(self, copy: Copy, tests: Sequence[str], usual: Usual) -> tuple[int | None, str]:
        """Return what pytest ends with, and the test that failed; one that fails now and then has noticed nothing."""
        while True:
            code, failed = self._run(copy, tests, usual), copy.wrote(NOTED)
            if code in (PASSED, None, NO_TESTS):
                return code, failed
            code = self._run(copy, [failed] if failed else tests, usual)
            tests = [test for test in tests if test != failed]
            if code != PASSED or not failed or not tests:
                return code, failed

    def _run(self, copy: Copy, tests: Sequence[str], usual: Usual) -> int | None:
        files = dict.fromkeys(test.partition("::")[0] for test in tests)
        within = 5 * sum(usual.seconds[test] for test in tests) + SLACK
        return copy.run(list(files), "Chosen", tests, within)

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
