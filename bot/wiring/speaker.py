"""What answers on a platform, and only once it has logged in there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from bot.wiring.stores import Stores
from core.errors import Misconfigured
from core.model import Claim, Delivery, Message, MessageRef, Progress, Reaction, ThreadRef, Withdrawal
from core.ports import ChatSurface, Membership

if TYPE_CHECKING:
    from adapters.redis.inbox import RedisInbox


@dataclass(frozen=True, slots=True)
class Speaker:
    """What answers, once it has logged in; with a *membership*, only members are answered."""

    surface: ChatSurface
    log_in: Callable[[], Coroutine[Any, Any, None]]
    membership: Membership | None = None


class Platform(Protocol):
    """A platform that is set up; `key` is what it is called in the places of questions, and in roles."""

    @property
    def key(self) -> str:
        """Name it for programs."""
        ...

    @property
    def name(self) -> str:
        """Name it for people."""
        ...

    async def listen(self, stores: Stores, inbox: RedisInbox) -> None:
        """Put what people ask into the inbox, until this is cancelled. Raises `Misconfigured`."""
        ...

    def speaker(self, inbox: RedisInbox) -> AbstractAsyncContextManager[Speaker]:
        """Give what answers there; it has to log in first."""
        ...


class Patient:
    """A surface that waits until the bot has logged in, so that questions on other platforms need not wait for it."""

    def __init__(self, surface: ChatSurface) -> None:
        self._surface = surface
        self._done = asyncio.Event()
        self._refusal: Misconfigured | None = None

    def begin(self) -> None:
        """Let answers through."""
        self._done.set()

    def refuse(self, reason: Misconfigured) -> None:
        """Answer nothing: somebody has to change something first."""
        self._refusal = reason
        self._done.set()

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Draw an answer."""
        return await (await self._open()).reply(claim, progress)

    async def react(self, to: MessageRef, reaction: Reaction) -> None:
        """Mark a message."""
        await (await self._open()).react(to, reaction)

    async def unreact(self, to: MessageRef, reaction: Reaction) -> None:
        """Take a mark away."""
        await (await self._open()).unreact(to, reaction)

    async def recall(self, thread: ThreadRef, *, limit: int) -> Sequence[Message]:
        """Read a thread."""
        return await (await self._open()).recall(thread, limit=limit)

    async def withdraw(self, withdrawal: Withdrawal) -> None:
        """Take back what was posted."""
        await (await self._open()).withdraw(withdrawal)

    async def _open(self) -> ChatSurface:
        await self._done.wait()
        if self._refusal is not None:
            raise self._refusal
        return self._surface
