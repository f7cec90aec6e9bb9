"""A task that this process holds: it is renewed while somebody works on it, and ends when that is written down."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from adapters.redis.runner import ScriptRunner
from adapters.redis.secrets import Seal
from core.errors import StoreUnavailable
from core.model import MOST_ATTEMPTS, Claim, Delivery, Interruption, MessageRef, Task

PREFIX = "footnote:inbox:{inbox}:"  # the braces keep all keys on one node of a cluster
RENEWED_AFTER = 1 / 3  # of the time of a lease
TRUSTED_FOR = 1 / 2  # of the time of a lease, without asking
_CLOCK: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def waking_time() -> float:
    """Return seconds that go on while the process is frozen and, where the system knows one, while it sleeps."""
    return time.clock_gettime(_CLOCK)


def sealed_at(message: MessageRef, field: str) -> str:
    """Return the place that a field of a question is sealed for."""
    return f"{PREFIX}question:{message} {field}"


@dataclass(slots=True, kw_only=True, eq=False)
class Lease:
    """A hold on a task for so many *seconds*, *renewed* the last time right after the moment that is noted.

    The `hold` shows the server whose it is: the entry of its thread, how often that was taken, with a name that no
    other hold has, and which revision it is about. `failures` are the attempts before it that failed, those not counted
    which ended with their process. Whoever could not renew for the whole time has to take it for lost, as another may
    have taken the task over. What writes returns whether the task is still ours, and raises `StoreUnavailable`.
    """

    task: Task
    hold: Mapping[str, str | int]
    run: ScriptRunner
    seal: Seal
    consumer: str
    seconds: float
    renewed: float
    failures: int = 0
    now: Callable[[], float] = waking_time
    nudged: asyncio.Event = field(default_factory=asyncio.Event)
    """To be set when something may have happened to the question."""
    recorded: Delivery | None = None

    async def keep_up(self) -> None:
        """Renew until the hold is lost, or for ever: three times in its time, and at once when it is nudged."""
        while self.task.cancelled.reason is not Interruption.LOST:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.seconds * RENEWED_AFTER):
                    await self.nudged.wait()
            self.nudged.clear()
            await self._renew()

    async def is_held(self) -> bool:
        """Return whether nobody else can have taken the task; a process that was frozen asks the server."""
        if self.now() - self.renewed > self.seconds * TRUSTED_FOR:
            await self._renew()
        return self.task.cancelled.reason is not Interruption.LOST

    async def record(self, delivery: Delivery) -> bool:
        """Keep which messages belong to the task; what is kept already is not written again."""
        if delivery == self.recorded:
            return await self.is_held()
        self.recorded = None
        sealed = self.seal.encrypt(delivery.model_dump_json(), place=sealed_at(self.task.message, "delivery"))
        is_kept = bool(await self.run("record", PREFIX, **self.hold, delivery=sealed))
        self.recorded = delivery if is_kept else None
        return is_kept

    async def keep_words(self) -> bool:
        """Keep the words of the question beyond its end."""
        return bool(await self.run("keep", PREFIX, **self.hold, words=self._words()))

    async def settle(self) -> bool:
        """Conclude the task; what changed meanwhile comes next."""
        return bool(await self.run("settle", PREFIX, **self.hold))

    async def release(self) -> bool:
        """Return the task to whoever is next, as if it had not been taken."""
        return bool(await self.run("release", PREFIX, **self.hold))

    async def postpone(self, seconds: float) -> bool:
        """Let the task wait for its next attempt."""
        return bool(await self.run("postpone", PREFIX, **self.hold, pause=int(seconds * 1000)))

    async def bury(self, reason: str) -> bool:
        """Lay the task aside as dead, and keep the question's words for longer than `keep_words` does."""
        given = {**self.hold, "reason": reason, "words": self._words(), "most_attempts": MOST_ATTEMPTS}
        return bool(await self.run("bury", PREFIX, **given))

    async def _renew(self) -> None:
        begun = self.now()
        with suppress(StoreUnavailable):
            lease = int(self.seconds * 1000)
            found = await self.run("renew", PREFIX, **self.hold, consumer=self.consumer, lease=lease)
            if found:
                self.task.cancelled.set(Interruption(found))
            if found != Interruption.LOST:
                self.renewed = max(begun, self.renewed)
        if self.now() - self.renewed >= self.seconds:
            self.task.cancelled.set(Interruption.LOST)

    def _words(self) -> bytes:
        """Return what is kept of the question, sealed: nothing that others have written."""
        if not isinstance(self.task, Claim):
            return b""
        alone = self.task.question.model_copy(update={"context": ()})
        return self.seal.encrypt(alone.model_dump_json(), place=sealed_at(self.task.message, "text"))
