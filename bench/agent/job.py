"""What every contender is asked, and the clock it is held to. Only the standard library: frameworks run this too."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, TypeAlias

MODEL = "gpt-4o-mini"
KEY = "no-key"


@dataclass(frozen=True, slots=True)
class Tool:
    """The one tool, and what it always finds, as text for the model."""

    name: str
    description: str
    parameters: dict[str, Any]
    result: str

    @property
    def schema(self) -> dict[str, Any]:
        """The tool as the chat completions API wants it."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class Job:
    """A question, the tool for it and the answer to it; asked one at a time, or *at_once* at a time.

    What is `given` is the question with what a search has found for it, for those who search before they ask.
    """

    url: str
    instructions: str
    question: str
    given: str
    tool: Tool
    answer: str
    warm_up: int = 20
    questions: int = 200
    at_once: int = 1
    core: int | None = None

    @classmethod
    def read(cls) -> Job:
        """Take the job from standard input."""
        fields: dict[str, Any] = json.load(sys.stdin)
        tool = Tool(**fields.pop("tool"))
        return cls(tool=tool, **fields)

    def written(self) -> str:
        """Give what `read` reads."""
        return json.dumps(dataclasses.asdict(self))


@dataclass(frozen=True, slots=True)
class Result:
    """Milliseconds a question: CPU of the whole process; to the first text and to the end, by the clock, each median.

    `all` is how long all of them took together.
    """

    cpu: float
    first: float
    total: float
    all: float


Show: TypeAlias = Callable[[str], None]
Ask: TypeAlias = Callable[[Show], Awaitable[None]]
"""Has the question answered, and shows the pieces of the answer as they come."""
Contender: TypeAlias = Callable[[Job], AbstractAsyncContextManager[Ask]]


def contend(contender: Contender) -> None:
    """Do the job of standard input, and print the result."""
    job = Job.read()
    pin(job.core)
    print(json.dumps(dataclasses.asdict(asyncio.run(_measure(contender, job)))))


def pin(core: int | None) -> None:
    """Stay on one core, where the system can do that."""
    if core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})


async def _measure(contender: Contender, job: Job) -> Result:
    async with contender(job) as ask:
        await _all(ask, dataclasses.replace(job, questions=job.warm_up))
        gc.collect()
        begun, cpu = time.perf_counter(), time.process_time()
        times = await _all(ask, job)
        used, took = time.process_time() - cpu, time.perf_counter() - begun
    return Result(
        cpu=used * 1000 / job.questions,
        first=_median([first for first, _ in times]),
        total=_median([total for _, total in times]),
        all=took * 1000,
    )


async def _all(ask: Ask, job: Job) -> list[tuple[float, float]]:
    left = iter(range(job.questions))

    async def worker() -> list[tuple[float, float]]:
        return [await _once(ask, job) for _ in left]

    done = await asyncio.gather(*(worker() for _ in range(job.at_once)))
    return [times for worked in done for times in worked]


async def _once(ask: Ask, job: Job) -> tuple[float, float]:
    """Ask once; give the milliseconds to the first text and to the end. A wrong answer ends the benchmark."""
    pieces: list[str] = []
    first = 0.0

    def show(piece: str) -> None:
        nonlocal first
        first = first or time.perf_counter()
        pieces.append(piece)

    begun = time.perf_counter()
    await ask(show)
    end = time.perf_counter()
    if "".join(pieces).strip() != job.answer.strip():
        sys.exit(f"The answer is not the one that the server gave: {''.join(pieces)!r}")
    return (first - begun) * 1000, (end - begun) * 1000


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
