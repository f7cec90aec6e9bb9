"""Probes in the product's process: when things happen, how long requests are held back, how late the loop is."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapters.redis.inbox import RedisInbox
from bench.discord.load import Notes
from core.events import Connected, Event, MemoryFailed, Retried, ServiceFailed, State, StateChanged, TaskFailed
from core.model import Signal

if TYPE_CHECKING:
    from aiohttp import ClientSession, TraceRequestEndParams, TraceRequestStartParams
    from discord.http import HTTPClient, Route

TICK = 0.01
EVERY = 10  # ticks between two looks at the memory
_OPENING = re.compile(r"/messages/(\d+)/threads$")
_POSTING = re.compile(r"/channels/(\d+)/messages$")
_TRIES: ContextVar[list[float]] = ContextVar("tries")


class Probes:
    """Watches the process it is made in; `fresh` begins new notes and gives the old ones."""

    def __init__(self) -> None:
        self._notes = Notes()
        self._posted: set[int] = set()
        self.connected = asyncio.Event()
        self._live = 0
        self._cpu = time.process_time()
        self._failures: Counter[str] = Counter()

    def fresh(self) -> Notes:
        """Give what was noted until now."""
        notes, self._notes = self._notes, Notes()
        notes.cpu, self._cpu = time.process_time() - self._cpu, time.process_time()
        notes.failures, self._failures = dict(self._failures), Counter()
        gc.collect()
        return notes

    def observe(self, event: Event) -> None:
        """Count answers that are being written, and what goes wrong."""
        match event:
            case StateChanged(state=State.RECEIVED, question=question):
                self._live += 1
                self._notes.claimed.setdefault(int(question.id), time.time())
            case StateChanged(state=State.COMPLETE | State.ERROR):
                self._live -= 1
            case Retried(reason=reason) | ServiceFailed(reason=reason) | TaskFailed(reason=reason):
                self._failures[f"{type(event).__name__}: {reason}"] += 1
            case Connected():
                self.connected.set()
            case MemoryFailed():
                self._failures[type(event).__name__] += 1
            case _:
                pass

    def install(self) -> None:
        """Note when signals are put down, and how long requests to Discord are held back before they are sent."""
        from aiohttp import TraceConfig
        from discord.http import HTTPClient

        put, request, log_in = RedisInbox.put, HTTPClient.request, HTTPClient.static_login
        trace = TraceConfig()
        trace.on_request_start.append(_sending)
        trace.on_request_end.append(_answered)

        async def timed_put(inbox: RedisInbox, signal: Signal) -> bool:
            done = await put(inbox, signal)
            self._notes.put.setdefault(int(signal.message.id), time.time())
            return done

        async def timed_request(client: HTTPClient, route: Route, **options: Any) -> Any:
            return await self._timed(route, lambda: request(client, route, **options))

        async def traced_login(client: HTTPClient, token: str) -> Any:
            client.http_trace = trace
            return await log_in(client, token)

        for owner, name, timed in (
            (RedisInbox, "put", timed_put),
            (HTTPClient, "request", timed_request),
            (HTTPClient, "static_login", traced_login),
        ):
            setattr(owner, name, timed)

    async def _timed(self, route: Route, call: Callable[[], Awaitable[Any]]) -> Any:
        """Make a call; on the way to the first text, what passes beside its last try has been a wait."""
        opening, posting = _OPENING.search(route.url), _POSTING.search(route.url)
        if route.method != "POST" or not (opening or posting):
            return await call()
        tries: list[float] = []
        _TRIES.set(tries)
        begun = time.time()
        try:
            return await call()
        finally:
            ended = time.time()
            sent, answered = tries[-2:] if len(tries) > 1 else (ended, ended)
            if opening:
                self._wait(int(opening[1]), ended - begun - (answered - sent))
            elif posting and (message := int(posting[1])) not in self._posted:
                self._posted.add(message)
                self._wait(message, sent - begun)

    def _wait(self, message: int, seconds: float) -> None:
        waited = self._notes.waited
        waited[message] = waited.get(message, 0.0) + seconds

    async def watch(self) -> None:
        """Note by how many ms each turn of the loop comes late; a long silence counts for every turn that it took."""
        loop = asyncio.get_running_loop()
        due, turn = loop.time(), 0
        while True:
            due += TICK
            if due > loop.time():
                await asyncio.sleep(due - loop.time())
            self._notes.late.append((loop.time() - due) * 1000)
            turn += 1
            if turn % EVERY == 0:
                self._notes.resident.append((self._live, resident()))


async def _sending(_session: ClientSession, _context: Any, _params: TraceRequestStartParams) -> None:
    _TRIES.get([]).append(time.time())


async def _answered(_session: ClientSession, _context: Any, _params: TraceRequestEndParams) -> None:
    _TRIES.get([]).append(time.time())


def resident() -> float:
    """Read the resident memory of this process in MB; 0 where the system does not tell."""
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6 if pages.exists() else 0.0
