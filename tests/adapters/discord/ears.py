"""A listener that is connected, and the end of the inbox that it puts things into."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.discord.client.connection import connect
from adapters.discord.inbound.listener import Listener
from adapters.discord.inbound.ports import Ports
from core.errors import StoreUnavailable
from core.model import Asked, Edited, MessageRef, Signal, Task
from core.ports import Inbox
from tests.servers.discord import DiscordServer, Message


@dataclass
class Box:
    """Keeps what comes, in order, and each thing once, as an inbox does; `crowd` is how many it says are waiting."""

    signals: list[Signal] = field(default_factory=list[Signal])
    fails: bool = False
    crowd: int = 0
    came: asyncio.Event = field(default_factory=asyncio.Event)
    refused: asyncio.Event = field(default_factory=asyncio.Event)
    known: list[Signal] = field(default_factory=list[Signal])

    async def put(self, signal: Signal) -> bool:
        """Keep a signal."""
        self._check()
        if self._is_old(signal):
            return False
        self.known.append(signal)
        self.signals.append(signal)
        self.came.set()
        return True

    def claim(self) -> contextlib.AbstractAsyncContextManager[Task]:
        """Nobody works here."""
        raise NotImplementedError

    async def keep(self, task: Task) -> bool:
        """Nobody works here."""
        raise NotImplementedError

    async def knows(self, message: MessageRef) -> bool:
        """Look among the questions."""
        self._check()
        return any(one.message == message for one in self.known if isinstance(one, Asked))

    async def waiting(self) -> int:
        """Give what the test has said."""
        return self.crowd

    def _is_old(self, signal: Signal) -> bool:
        """Know a question by its message, and an edit by its revision."""
        same = [one for one in self.known if one.message == signal.message]
        if isinstance(signal, Edited):
            return any(
                isinstance(one, Asked | Edited) and one.question.revision >= signal.question.revision for one in same
            )
        return any(one.kind == signal.kind for one in same)

    def _check(self) -> None:
        if self.fails:
            self.refused.set()
            raise StoreUnavailable("The store cannot be reached. Try again in a moment.")

    async def next(self) -> Signal:
        """Wait for one signal and take it."""
        async with asyncio.timeout(5):
            while not self.signals:
                self.came.clear()
                await self.came.wait()
        return self.signals.pop(0)

    async def question(self) -> Asked:
        """Wait for a question and take it."""
        asked = await self.next()
        assert isinstance(asked, Asked)
        return asked


class EagerListener(Listener):
    """Identifies at once: the five seconds between two shards are the real platform's."""

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Wait for nothing."""


@contextlib.asynccontextmanager
async def listening(
    server: DiscordServer, box: Inbox, *, message_content: bool = True, **ports: Any
) -> AsyncGenerator[Listener]:
    """Run a listener that is connected."""
    client = connect(
        EagerListener,
        message_content=message_content,
        api_url=server.api_url,
        gateway_url=server.gateway_url,
        ports=Ports(inbox=box, **ports),
        guild_ready_timeout=0.05,
    )
    running = asyncio.create_task(client.start(server.token))
    try:
        await server.connected()
        await client.wait_until_ready()
        yield client
    finally:
        await client.close()
        await running


def answers(server: DiscordServer) -> Sequence[Message]:
    """What the bot has said."""
    return [one for one in server.platform.messages.values() if one.author_id == server.bot.id and one.content]


def words(server: DiscordServer) -> Sequence[str]:
    """What the bot has said, without where."""
    return [one.content for one in answers(server)]
