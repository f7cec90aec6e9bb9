"""A platform's messages in memory, with a clock of its own and failures as a test orders them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from adapters.chat.platform import Controls, Part, Posted
from core.errors import Gone, PostingFailed, Unreachable

DELETED = "deleted"


@dataclass(slots=True)
class Thread:
    """Implements `Poster`, and has a clock: each call takes as long as *delays* say, and time passes only here.

    *failures* are raised by the next calls, one each; None lets a call pass. With `lost` set, a call that fails as
    unreachable is carried out, and only its confirmation gets lost.
    """

    failures: list[PostingFailed | None] = field(default_factory=list[PostingFailed | None])
    delays: list[float] = field(default_factory=list[float])
    lost: bool = False
    messages: dict[str, str] = field(default_factory=dict[str, str])
    controls: dict[str, Controls] = field(default_factory=dict[str, Controls])
    nonces: dict[str, str] = field(default_factory=dict[str, str])
    calls: list[tuple[float, str, str]] = field(default_factory=list[tuple[float, str, str]])
    time: float = 0.0

    @property
    def shown(self) -> list[str]:
        """What a reader sees."""
        return [text for text in self.messages.values() if text != DELETED]

    @property
    def did(self) -> list[str]:
        """The calls without their times and texts."""
        return [call for _, call, _ in self.calls]

    def now(self) -> float:
        """Read the clock."""
        return self.time

    async def sleep(self, seconds: float) -> None:
        """Let time pass, and whoever else has something to do go first; nobody should wait for what is over."""
        assert seconds > 0
        await asyncio.sleep(0)
        self.time += seconds

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Post, once for each nonce."""
        known = self.nonces.get(nonce)
        if known is not None and self.messages[known] == DELETED:
            raise Gone
        message_id = known or f"m{len(self.messages) + 1}"
        await self._call("post", part.text, lambda: self._write(message_id, part, nonce))
        return Posted(message_id, Part(self.messages[message_id], self.controls[message_id]))

    async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
        """Replace the text."""
        if self.messages[message_id] == DELETED:
            raise Gone
        await self._call("edit", part.text, lambda: self._replace(message_id, part))

    async def delete(self, message_id: str) -> None:
        """Remove the message; its id stays known."""
        if self.messages[message_id] == DELETED:
            raise Gone
        await self._call("delete", "", lambda: self.messages.update({message_id: DELETED}))

    def _write(self, message_id: str, part: Part, nonce: str) -> None:
        self.nonces[nonce] = message_id
        if message_id not in self.messages:
            self._replace(message_id, part)

    def _replace(self, message_id: str, part: Part) -> None:
        self.messages[message_id] = part.text
        self.controls[message_id] = part.controls

    async def _call(self, name: str, part: str, carry_out: Callable[[], None]) -> None:
        await asyncio.sleep(0)
        self.time += self.delays.pop(0) if self.delays else 0.0
        self.calls.append((round(self.time, 3), name, part))
        failure = self.failures.pop(0) if self.failures else None
        if failure is None or (self.lost and isinstance(failure, Unreachable)):
            carry_out()
        if failure is not None:
            raise failure
