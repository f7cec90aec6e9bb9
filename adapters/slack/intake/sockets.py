"""Hears Slack over Socket Mode: several connections, so that one always stands while another is replaced."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from adapters.chat.background import BackgroundTasks
from adapters.retry import CONNECTING, RetryPolicy
from adapters.slack.client.failures import translated
from adapters.slack.intake.connection import CROWDED, Answer, SocketModeConnection
from adapters.slack.intake.health import APP_TOKEN_REFUSED, judge
from core.errors import Misconfigured
from core.events import unobserved

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

CONNECTIONS = 2
LASTING = 10.0  # seconds after which the loss of a connection is no reason to wait before the next


@dataclass(frozen=True, slots=True)
class Way:
    """How to connect: for whom, how often it is tried, and who hears that Slack can be heard."""

    app_token: str
    client: AsyncWebClient
    retries: RetryPolicy = CONNECTING
    connected: Callable[[str], object] = unobserved


class Sockets:
    """Keeps connections. Each event comes on one of them, which Slack chooses.

    Each is replaced before it is given up where Slack has said that it will close it, and those that fail are tried
    again by one alone until one stands, so that an outage is told once and not by each of them.
    """

    def __init__(self, way: Way, answer: Answer, *, connections: int = CONNECTIONS) -> None:
        self._way = way
        self._answer = answer
        self._number = connections
        self._standing: set[SocketModeConnection] = set()
        self._retiring = BackgroundTasks()
        self._retries = replace(way.retries, judge=partial(judge, refusal=APP_TOKEN_REFUSED), told=self._tell)
        self._opening = asyncio.Lock()
        self._is_told = False

    async def run(self) -> None:
        """Receive until this is cancelled. Raises `Misconfigured` where only the operator can help."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._number):
                    group.create_task(self._keep())
        except BaseExceptionGroup as failures:
            lasting, _ = failures.split(Misconfigured)
            raise (lasting or failures).exceptions[0] from failures
        finally:
            await self._retiring.close()
            await asyncio.gather(*(link.close() for link in self._standing))

    async def _keep(self) -> None:
        """Keep one connection, whose place another takes again and again."""
        losses, link = 0, await self._connected()
        while True:
            since = time.monotonic()
            await link.over.wait()
            losses = 0 if time.monotonic() - since > LASTING else losses + 1
            if link.reason == CROWDED or not link.was_announced:
                await self._close(link)
            await self._retries.sleep(self._retries.backoff(losses))
            successor = await self._connected()
            self._retire(link)
            link = successor

    def _retire(self, link: SocketModeConnection) -> None:
        """Let a connection that was replaced come to its end behind the new one."""
        if link in self._standing:
            self._standing.discard(link)
            self._retiring.begin(link.retire)

    async def _close(self, link: SocketModeConnection) -> None:
        self._standing.discard(link)
        self._tell(1, link.reason)
        await link.close()

    def _tell(self, attempt: int, reason: str) -> None:
        """Tell that Slack cannot be heard, unless another connection stands."""
        if not self._standing:
            self._is_told = False
            self._way.retries.told(attempt, reason)

    async def _connected(self) -> SocketModeConnection:
        """Connect, one connection after the other, as often as it takes."""
        async with self._opening:
            opened = await self._retries.call(self._open)
            self._standing.add(opened)
            if not self._is_told:
                self._is_told = True
                self._way.connected(opened.app_id)
            return opened

    async def _open(self) -> SocketModeConnection:
        """Return a connection that stands. Raises `PostingFailed`, or an error of the network."""
        client: Any = self._way.client
        said = await translated(client.apps_connections_open(app_token=self._way.app_token))
        return await SocketModeConnection.open(client.session, str(said["url"]), self._answer, proxy=client.proxy)
