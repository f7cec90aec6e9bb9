"""The jobs as questions in our inbox, each key as a thread; what they say is sealed, as it always is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from adapters.redis.connection import connect
from adapters.redis.inbox import RedisInbox
from adapters.redis.inbox_store import Bounds
from adapters.redis.secrets import Seal
from bench.inbox.job import Do, Parcel, Queue, Setup, contend
from core.model import Asked, Claim, MessageRef, Person, Question, ThreadRef

SECRET = "a secret that is long enough for a benchmark"
NO_BOUND = 1_000_000


class Ours:
    """The inbox of one process."""

    def __init__(self, inbox: RedisInbox, slots: int) -> None:
        self._inbox = inbox
        self._slots = slots

    async def put(self, parcel: Parcel) -> None:
        """Ask."""
        await self._inbox.put(Asked(question=_question(parcel)))

    async def work(self, do: Do) -> None:
        """Claim one task after the other in each slot."""
        await asyncio.gather(*(self._claim(do) for _ in range(self._slots)))

    async def _claim(self, do: Do) -> None:
        while True:
            async with self._inbox.claim() as task:
                assert isinstance(task, Claim)
                await do(Parcel.read(task.question.text))


def _question(parcel: Parcel) -> Question:
    thread = ThreadRef(platform="bench", workspace="w", channel="c", thread=parcel.key)
    return Question.create(
        message=MessageRef(thread=thread, id=str(parcel.number)),
        text=parcel.written(),
        author=Person(id=f"p{parcel.number}", name="Ada"),
        asked_at=datetime.now(UTC),
    )


@asynccontextmanager
async def ours(setup: Setup) -> AsyncGenerator[Queue]:
    """Give the inbox with connections of its own."""
    client, blocking = connect(setup.url), connect(setup.url, blocking=True)
    bounds = Bounds(setup.lease, per_person=NO_BOUND, per_workspace=NO_BOUND)
    try:
        async with RedisInbox(client, blocking, seal=Seal([SECRET]), bounds=bounds) as inbox:
            yield Ours(inbox, setup.slots)
    finally:
        await blocking.aclose()
        await client.aclose()


if __name__ == "__main__":
    contend(ours)
