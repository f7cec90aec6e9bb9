"""Hears Slack over Socket Mode: several connections, so that one always stands while another is replaced."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import ClientError

from adapters.chat.patience import PATIENCE, Patience
from adapters.chat.posting import PostingFailed
from adapters.slack.client.failures import Denied, translated
from adapters.slack.intake.health import APP_TOKEN_REFUSED, raise_if_lasting, reason_of, wait_of
from adapters.slack.intake.link import CROWDED, Answer, Link, NoGreeting
from core.errors import Misconfigured

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

CONNECTIONS = 2
LASTING = 10.0  # seconds after which the loss of a connection is no reason to wait before the next


def unnoticed(app_id: str) -> None:
    """Take no note of a connection."""


@dataclass(frozen=True, slots=True)
class Way:
    """How to connect: for whom, with what patience, and who hears that Slack can be heard."""

    app_token: str
    client: AsyncWebClient
    patience: Patience = PATIENCE
    connected: Callable[[str], None] = unnoticed


class Sockets:
    """Keeps connections. Each event comes on one of them, which Slack chooses.

    Each is replaced before it is given up where Slack has said that it will close it, and those that fail are tried
    again by one alone until one stands, so that an outage is told once and not by each of them.
    """

    def __init__(self, way: Way, answer: Answer, *, connections: int = CONNECTIONS) -> None:
        self._way = way
        self._answer = answer
        self._number = connections
        self._standing: set[Link] = set()
        self._retiring: set[asyncio.Task[None]] = set()
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
            for each in self._retiring:
                each.cancel()
            await asyncio.gather(*(link.close() for link in self._standing))

    async def _keep(self) -> None:
        """Keep one connection, whose place another takes again and again."""
        waits = self._way.patience.waits()
        link = await self._connected()
        while True:
            since = time.monotonic()
            await link.over.wait()
            if time.monotonic() - since > LASTING:
                waits = self._way.patience.waits()
            if link.reason == CROWDED or not link.was_announced:
                await self._close(link)
            await self._way.patience.sleep(next(waits) if time.monotonic() - since < LASTING else 0)
            successor = await self._connected()
            self._retire(link)
            link = successor

    def _retire(self, link: Link) -> None:
        """Let a connection that was replaced come to its end behind the new one."""
        if link in self._standing:
            self._standing.discard(link)
            retiring = asyncio.create_task(link.retire())
            self._retiring.add(retiring)
            retiring.add_done_callback(self._retiring.discard)

    async def _close(self, link: Link) -> None:
        self._standing.discard(link)
        if not self._standing:
            self._is_told = False
            self._way.patience.retrying(1, link.reason)
        await link.close()

    async def _connected(self) -> Link:
        """Connect, one connection after the other, as often as it takes."""
        async with self._opening:
            attempt, waits = 0, self._way.patience.waits()
            while not isinstance(opened := await self._open(), Link):
                attempt += 1
                if not self._standing:
                    self._is_told = False
                    self._way.patience.retrying(attempt, reason_of(opened))
                await self._way.patience.sleep(max(next(waits), wait_of(opened)))
            self._standing.add(opened)
            if not self._is_told:
                self._is_told = True
                self._way.connected(opened.app_id)
            return opened

    async def _open(self) -> Link | Exception:
        """Give a connection that stands, or why there is none."""
        client: Any = self._way.client
        try:
            said = await translated(client.apps_connections_open(app_token=self._way.app_token))
            return await Link.open(client.session, str(said["url"]), self._answer, proxy=client.proxy)
        except Denied as denied:
            raise_if_lasting(denied, APP_TOKEN_REFUSED)
            return denied
        except (PostingFailed, NoGreeting, ClientError, OSError, TimeoutError) as failure:
            return failure
