"""Probes in the bot's process: when things happen, how late the loop is, and how much memory there is."""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections import Counter
from pathlib import Path

from adapters.redis.inbox import RedisInbox
from bench.chat.load import Notes
from core.events import Connected, Event, MemoryFailed, Retried, ServiceFailed, State, StateChanged, TaskFailed
from core.model import Signal

TICK = 0.01
EVERY = 10  # ticks between two looks at the memory
SELDOM = 50  # ticks between two looks at the speed of the core
WORK = range(10_000)  # numbers to add up, which takes a fraction of a millisecond
WARMING = 4  # times that it is done, as a core that has just woken up is slower


class Probes:
    """Watches the process it is made in; `fresh` begins new notes and gives the old ones."""

    def __init__(self) -> None:
        self._notes = Notes()
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
                self._notes.claimed.setdefault(question.id, time.time())
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
        """Note when signals are put down."""
        put = RedisInbox.put

        async def timed_put(inbox: RedisInbox, signal: Signal) -> bool | None:
            done = await put(inbox, signal)
            self._notes.put.setdefault(signal.message.id, time.time())
            return done

        setattr(RedisInbox, "put", timed_put)  # noqa: B010 - it is replaced for as long as the process lives

    def wait(self, message: str, seconds: float) -> None:
        """Note that the platform made the answer to a message wait."""
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
            if turn % SELDOM == 0:
                self._notes.work.append(min(worked() for _ in range(WARMING)))


def worked() -> float:
    """Do a piece of work that is always the same, and give the ms of this thread that it took."""
    begun = time.thread_time()
    sum(WORK)
    return (time.thread_time() - begun) * 1000


def resident() -> float:
    """Read the resident memory of this process in MB; 0 where the system does not tell."""
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6 if pages.exists() else 0.0
