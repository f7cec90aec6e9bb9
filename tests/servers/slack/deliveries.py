"""What was sent to the app, how often, and what the app said to it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

from tests.servers.slack.events import EVENTS
from tests.servers.slack.shape import Json

PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Attempt:
    """One sending of something: over which socket or to which address, and the status, where there is one."""

    where: str
    number: int
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""


@dataclass(eq=False, slots=True)
class Delivery:
    """An event, a command or an interaction on its way to the app; `response` is what came with the acknowledgement.

    `at` and `acked_at` are the real times, in seconds since 1970, at which it happened and was first acknowledged.
    """

    id: str
    kind: str
    payload: Json
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    acked: bool = False
    acks: int = 0
    response: Any = None
    no_retry: bool = False
    at: float = field(default_factory=time.time)
    acked_at: float | None = None
    _acked: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def name(self) -> str:
        """The type of the event, or the kind of interaction."""
        if self.kind == EVENTS:
            return str(self.payload["event"]["type"])
        return str(self.payload.get("type") or self.payload.get("command") or self.kind)

    @property
    def statuses(self) -> list[int]:
        """The statuses of answers over HTTP."""
        return [attempt.status for attempt in self.attempts if attempt.status is not None]

    def acknowledge(self, response: object) -> None:
        """Take note that the app has it."""
        self.acks += 1
        if not self.acked:
            self.response, self.acked_at = response, time.time()
        self.acked = True
        self._acked.set()

    async def answered(self) -> None:
        """Wait until the app has acknowledged it, as long as that takes."""
        await self._acked.wait()

    async def acknowledged(self, seconds: float = PATIENCE) -> Any:
        """Wait until the app has acknowledged it, and give what it said. Raises `AssertionError`."""
        try:
            async with asyncio.timeout(seconds):
                await self._acked.wait()
        except TimeoutError as error:
            raise AssertionError(f"{self.name} was not acknowledged within {seconds:g} s") from error
        return self.response
