"""What one question costs in our agent, beside the least that it can cost, and beside the frameworks for agents.

`python -m bench.agent`: an answer of 300 tokens from a local server, which the frameworks have call a tool first, each
contender in a process of its own, pinned to one core with the server on another, in turns over several rounds; then a
hundred answers at once, the first words of a model that takes its time, and what a hundred mixed questions cost.
With the name of one of these parts, `cost`, `crowd`, `words` or `mixed`, only that; with `--alone`, no frameworks.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.agent.job import Job, Result
from bench.agent.mixed import LENGTH, mixed_rows
from bench.agent.question import job
from bench.environment import interpreter
from bench.report import Row, at_least, at_most, print_rows

LOCK = Path(__file__).with_name("requirements.lock")
ROUNDS = 5
FRAMEWORKS = ("agents_sdk", "pydantic_agent", "langgraph_agent", "langgraph_nodes")
ALONE = "--alone"
FRAMEWORK_QUESTIONS = 100  # they take so much longer that fewer questions say as much
FRAMEWORKS_EVERY = 2  # rounds
PAUSE = 5  # milliseconds: 200 tokens a second
CROWD = 100
FLOOR_TIMES = 2.0
START, PACE = 500, 12.5  # milliseconds to the first token, and between two: 80 tokens a second
FIRST_WORDS, WORDS_TIMES, WHOLE = 0.60, 0.6, 2.6
FRAMEWORK_TIMES = 5.0
CROWD_TIMES = 1.2
_QUIET = {"LANGSMITH_TRACING": "false", "OPENAI_AGENTS_DISABLE_TRACING": "1"}


@contextmanager
def server(asked: Job, pause: float, start: float = 0) -> Generator[Job]:
    """Serve the job, and give it with the server's address."""
    command = [sys.executable, "-m", "bench.agent.server", str(pause), str(start)]
    core = None if asked.core is None else _cores()[-1]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(dataclasses.replace(asked, core=core).written())
        process.stdin.close()
        try:
            yield dataclasses.replace(asked, url=f"http://127.0.0.1:{process.stdout.readline().strip()}/v1")
        finally:
            process.terminate()


def _cores() -> list[int]:
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def run(name: str, asked: Job) -> Result:
    """Let one contender do the job in a fresh interpreter."""
    python = sys.executable
    if name in FRAMEWORKS:
        python = interpreter("frameworks", LOCK)
        asked = dataclasses.replace(asked, questions=min(asked.questions, FRAMEWORK_QUESTIONS))
    done = subprocess.run(
        [python, "-m", f"bench.agent.contenders.{name}"],
        input=asked.written(),
        env={**os.environ, **_QUIET},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Result(**json.loads(done.stdout))


def compete(names: Sequence[str], asked: Job, pause: float, rounds: int, *, start: float = 0) -> dict[str, Result]:
    """Let all do the job in turns; give each one's medians over the rounds."""
    results: dict[str, list[Result]] = {name: [] for name in names}
    with server(asked, pause, start) as served:
        for number in range(rounds):
            for name in names:
                if name not in FRAMEWORKS or number % FRAMEWORKS_EVERY == 0:
                    results[name].append(run(name, served))
    return {name: _median(results[name]) for name in names}


def _median(results: Sequence[Result]) -> Result:
    fields = [dataclasses.astuple(result) for result in results]
    return Result(*(statistics.median(values) for values in zip(*fields, strict=True)))


def one_by_one(asked: Job, frameworks: Sequence[str]) -> list[Row]:
    """Ask one question after the other; the server answers at once.

    What it costs to check claims has a bar of its own elsewhere, so Footnote is measured with that and without.
    """
    results = compete(("floor", "ours", "unchecked", *frameworks), asked, 0, ROUNDS)
    floor, own, unchecked = results["floor"], results["ours"], results["unchecked"]
    times = [results[name].cpu / own.cpu for name in frameworks]
    rows = [
        Row(
            f"{name}: CPU of a question; first text, end by the clock",
            f"{one.cpu:.1f} ms ({one.cpu / floor.cpu:.1f} times the floor's); {one.first:.1f}, {one.total:.1f} ms",
        )
        for name, one in results.items()
    ]
    return [
        *rows,
        Row("CPU of a question with its claims checked, times the floor's", f"{own.cpu / floor.cpu:.2f}"),
        Row("what checking the claims adds", f"{own.cpu - unchecked.cpu:.1f} ms"),
        at_most("CPU of a question without that, times the floor's", unchecked.cpu / floor.cpu, FLOOR_TIMES),
        *(
            at_least("CPU of a question, times less than the best framework's", each, FRAMEWORK_TIMES)
            for each in sorted(times)[:1]
        ),
    ]


def at_once(asked: Job, frameworks: Sequence[str]) -> list[Row]:
    """Ask a hundred questions at once; each answer comes at 200 tokens a second."""
    crowd = dataclasses.replace(asked, questions=CROWD, at_once=CROWD, warm_up=CROWD)
    results = compete(("floor", "ours", *frameworks), crowd, PAUSE, ROUNDS)
    rows = [
        Row(
            f"{name}: {CROWD} at once; first text, end, end of all; CPU of a question",
            f"{one.first:.0f}, {one.total:.0f}, {one.all:.0f} ms; {one.cpu:.1f} ms",
        )
        for name, one in results.items()
    ]
    ratio = results["ours"].all / results["floor"].all
    return [*rows, at_most(f"{CROWD} at once, until the last one ends, times the floor's", ratio, CROWD_TIMES)]


def first_words(asked: Job, frameworks: Sequence[str]) -> list[Row]:
    """Ask a model that takes its time: what readers wait for.

    The answer begins with bold words, which are shown once their end has come; another one begins with plain words.
    """
    slow = dataclasses.replace(job(LENGTH), core=asked.core, questions=5, warm_up=1)
    results = compete(("floor", "ours", *frameworks), slow, PACE, 1, start=START)
    plain = dataclasses.replace(slow, answer=slow.answer.replace("**", ""))
    own, of_plain = results["ours"], compete(("ours",), plain, PACE, 1, start=START)["ours"]
    times = [own.first / results[name].first for name in frameworks]
    rows = [
        Row(f"{name}: first words; end", f"{one.first / 1000:.2f} s; {one.total / 1000:.2f} s")
        for name, one in results.items()
    ]
    return [
        *rows,
        Row("ours, if the answer begins with plain words: first words", f"{of_plain.first / 1000:.2f} s"),
        at_most("first words", own.first / 1000, FIRST_WORDS, " s"),
        *(at_most("first words, times the best framework's", each, WORDS_TIMES) for each in sorted(times)[-1:]),
        at_most("end", own.total / 1000, WHOLE, " s"),
    ]


def mixed(_: Job, __: Sequence[str]) -> list[Row]:
    """Ask a hundred mixed questions."""
    return asyncio.run(mixed_rows())


PARTS: Mapping[str, tuple[str, Callable[[Job, Sequence[str]], list[Row]]]] = {
    "cost": (f"One question at a time, median of {ROUNDS} rounds", one_by_one),
    "crowd": (f"{CROWD} answers at once, {1000 // PAUSE} tokens a second each", at_once),
    "words": (
        f"A model of {START} ms to its first token and {1000 / PACE:g} tokens a second, {LENGTH} tokens",
        first_words,
    ),
    "mixed": ("A hundred mixed questions over the course book", mixed),
}


def main(parts: Collection[str]) -> None:
    """Print the tables, or those of the named *parts*."""
    parts, frameworks = set(parts) - {ALONE}, () if ALONE in parts else FRAMEWORKS
    cores = _cores()
    asked = dataclasses.replace(job(), core=cores[0] if len(cores) > 1 else None)
    for name, (title, measure) in PARTS.items():
        if not parts or name in parts:
            print_rows(title, measure(asked, frameworks))


if __name__ == "__main__":
    main(sys.argv[1:])
