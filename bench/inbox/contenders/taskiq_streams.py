"""The jobs with taskiq over a Redis stream; it knows no keys."""

# pyright: basic, reportMissingImports=false
# The queue is no dependency of ours: it lives in the benchmark's own environment, which the checker does not see.

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from taskiq.receiver import Receiver
from taskiq_redis import RedisStreamBroker

from bench.inbox.job import Do, Parcel, Queue, Setup, contend


class Taskiq:
    """One broker."""

    def __init__(self, broker: RedisStreamBroker, setup: Setup) -> None:
        self._broker = broker
        self._setup = setup
        self._do: Do | None = None

        async def deliver(number: int, key: str, seconds: float, text: str) -> None:
            assert self._do is not None
            await self._do(Parcel(number, key, seconds, text))

        self._task = broker.register_task(deliver, task_name="deliver")  # it takes no methods

    async def put(self, parcel: Parcel) -> None:
        """Kick the task."""
        await self._task.kiq(parcel.number, parcel.key, parcel.seconds, parcel.text)

    async def work(self, do: Do) -> None:
        """Receive until the end."""
        self._do = do
        self._broker.is_worker_process = True
        receiver = Receiver(self._broker, max_async_tasks=self._setup.slots, run_startup=False)
        await receiver.listen(asyncio.Event())


@asynccontextmanager
async def taskiq_streams(setup: Setup) -> AsyncGenerator[Queue]:
    """Give a broker that reads from the beginning; a lock of a worker that died is over with the lease as well."""
    broker = RedisStreamBroker(
        setup.url,
        consumer_id="0",
        idle_timeout=int(setup.lease * 1000),
        unacknowledged_lock_timeout=setup.lease,
    )
    queue = Taskiq(broker, setup)
    await broker.startup()
    try:
        yield queue
    finally:
        await broker.shutdown()


if __name__ == "__main__":
    contend(taskiq_streams)
