"""What every contender has to carry, and how it tells of it. Only the standard library: other queues run this too."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

TEXT = "How does Footnote make sure that what it says comes from the documents?"


@dataclass(frozen=True, slots=True)
class Parcel:
    """One job: it takes so many seconds, and comes after those before it that have the same key."""

    number: int
    key: str
    seconds: float = 0.0
    text: str = TEXT

    @classmethod
    def read(cls, written: str) -> Parcel:
        """Take one that `written` gave."""
        return cls(**json.loads(written))

    def written(self) -> str:
        """Give it as a line."""
        return json.dumps(dataclasses.asdict(self))


@dataclass(frozen=True, slots=True)
class Setup:
    """Where Redis is, how much is done at once, for how long a job is held, whether keys matter, and where to run."""

    url: str
    slots: int = 50
    lease: float = 30.0
    by_key: bool = False
    core: int | None = None


Do: TypeAlias = Callable[[Parcel], Awaitable[None]]


class Queue(Protocol):
    """A contender; `work` goes on until it is cancelled."""

    async def put(self, parcel: Parcel) -> None:
        """Put a job into the queue."""
        ...

    async def work(self, do: Do) -> None:
        """Do what is in the queue."""
        ...


Contender: TypeAlias = Callable[[Setup], AbstractAsyncContextManager[Queue]]


def contend(contender: Contender) -> None:
    """Put or work, as the command line says, with a setup from the first line of standard input.

    Each line of standard output says what happened to which job at which time. What to put follows the setup: how many
    seconds lie between two jobs, and the jobs.
    """
    first, *more = sys.stdin.read().splitlines()
    setup = Setup(**json.loads(first))
    pin(setup.core)
    if sys.argv[1] == "work":
        asyncio.run(_work(contender, setup))
    else:
        asyncio.run(_put(contender, setup, float(more[0]), [Parcel.read(line) for line in more[1:]]))


def pin(core: int | None) -> None:
    """Stay on one core, where the system can do that."""
    if core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})


async def _put(contender: Contender, setup: Setup, every: float, parcels: Sequence[Parcel]) -> None:
    loop = asyncio.get_running_loop()
    async with contender(setup) as queue:
        begun = loop.time()
        for place, parcel in enumerate(parcels):
            await asyncio.sleep(max(begun + place * every - loop.time(), 0))
            _tell("put", parcel.number)
            await queue.put(parcel)
        _tell("done", -1)


async def _work(contender: Contender, setup: Setup) -> None:
    async with contender(setup) as queue:
        _tell("ready", -1)
        await queue.work(_do)


async def _do(parcel: Parcel) -> None:
    _tell("begun", parcel.number)
    await asyncio.sleep(parcel.seconds)
    _tell("ended", parcel.number)


def _tell(what: str, number: int, **more: Any) -> None:
    told = {"what": what, "number": number, "at": time.time(), **more}
    os.write(1, json.dumps(told).encode() + b"\n")
