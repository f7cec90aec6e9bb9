"""The jobs with pydocket as it is, and with its limit of one at a time for each key where keys matter."""

# pyright: basic, reportMissingImports=false
# The queue is no dependency of ours: it lives in the benchmark's own environment, which the checker does not see.

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from docket import ConcurrencyLimit, Docket, Worker

from bench.inbox.job import Do, Parcel, Queue, Setup, contend


class Pydocket:
    """One docket, and the worker that is made when there is something to do."""

    def __init__(self, docket: Docket, setup: Setup, **options: Any) -> None:
        self._docket = docket
        self._setup = setup
        self._options = options
        self._do: Do | None = None
        self._task = self._one_by_one if setup.by_key else self._at_once
        docket.register(self._task)

    async def put(self, parcel: Parcel) -> None:
        """Add the task."""
        await self._docket.add(self._task)(parcel.number, parcel.key, parcel.seconds, parcel.text)

    async def work(self, do: Do) -> None:
        """Run a worker."""
        self._do = do
        lease = timedelta(seconds=self._setup.lease)
        slots = self._setup.slots
        async with Worker(self._docket, concurrency=slots, redelivery_timeout=lease, **self._options) as worker:
            await worker.run_forever()

    async def _at_once(self, number: int, key: str, seconds: float, text: str) -> None:
        assert self._do is not None
        await self._do(Parcel(number, key, seconds, text))

    async def _one_by_one(
        self,
        number: int,
        key: str,
        seconds: float,
        text: str,
        limit: ConcurrencyLimit = ConcurrencyLimit("key", max_concurrent=1),  # noqa: B008 - its way to be told
    ) -> None:
        await self._at_once(number, key, seconds, text)


@asynccontextmanager
async def docket_usual(setup: Setup, **options: Any) -> AsyncGenerator[Queue]:
    """Give a docket."""
    async with Docket(name="bench", url=setup.url) as docket:
        yield Pydocket(docket, setup, **options)


if __name__ == "__main__":
    contend(docket_usual)
