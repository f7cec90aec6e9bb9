"""The running bot: what listens and what answers, side by side, until somebody stops it in good order."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
from collections.abc import Collection, Coroutine, Generator, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from bot.roles import Role
from bot.settings import Settings
from bot.wiring.discord import PLATFORM, Discord
from bot.wiring.stores import Stores
from core.admission import Admission
from core.agent import Agent
from core.errors import FootnoteError
from core.events import Observer
from core.ports import ChatSurface
from core.responder import Responder
from core.worker import Pace, Worker

if TYPE_CHECKING:
    from adapters.redis.inbox import RedisInbox

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Bot:
    """One process of the bot."""

    def __init__(self, settings: Settings, agent: Agent, stores: Stores, observer: Observer) -> None:
        self._settings = settings
        self._agent = agent
        self._stores = stores
        self._observer = observer
        self._discord = Discord(settings, observer)
        self._stopping = asyncio.Event()
        self._leaving = asyncio.Event()

    def stop(self) -> None:
        """Receive nothing more and finish the answers under way; said again, hand them back at once."""
        if self._stopping.is_set():
            self._leaving.set()
        self._stopping.set()

    async def run(self, chosen: Collection[Role]) -> None:
        """Work until it is stopped, by a call or a signal; raises what a share of the work cannot go on with."""
        with self._heeding_signals():
            async with self._stores.inbox() as inbox:
                await until(self._leaving, self._share(chosen, inbox))

    async def _share(self, chosen: Collection[Role], inbox: RedisInbox) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                if Role.WORKER in chosen:
                    group.create_task(self._work(inbox))
                if Role.DISCORD in chosen:
                    group.create_task(until(self._stopping, self._discord.listen(self._stores, inbox)))
        except BaseExceptionGroup as failures:
            raise _first(failures) from failures

    async def _work(self, inbox: RedisInbox) -> None:
        """Answer until the stop, and then for as long as the host allows what is under way."""
        async with self._discord.speaker(inbox) as speaker:
            await until(self._stopping, speaker.log_in())
            _spare_the_collector()
            worker = self._worker(inbox, {PLATFORM: speaker.surface})
            async with asyncio.TaskGroup() as group:
                working = group.create_task(worker.run(Pace(seats=self._settings.answers_at_once)))
                await self._stopping.wait()
                worker.stop()
                await asyncio.wait({working}, timeout=self._settings.grace_seconds)
                working.cancel()

    def _worker(self, inbox: RedisInbox, surfaces: Mapping[str, ChatSurface]) -> Worker:
        stores, now = self._stores, partial(datetime.now, UTC)
        responder = Responder(
            self._agent,
            stores.conversations,
            now=now,
            deliveries=inbox,
            admission=Admission(stores.policies, stores.quota, stores.memo, now=now),
            observer=self._observer,
        )
        return Worker(inbox, responder, surfaces, stores.conversations, now=now, observer=self._observer)

    @contextlib.contextmanager
    def _heeding_signals(self) -> Generator[None]:
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self.stop)
        try:
            yield
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)


async def until(event: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Do *work* to its end, or break it off as soon as there is the *event*."""
    working, waiting = asyncio.create_task(work), asyncio.create_task(event.wait())
    try:
        await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        working.cancel()
        waiting.cancel()
        await asyncio.wait({working, waiting})
    if not working.cancelled():
        working.result()


def _spare_the_collector() -> None:
    """Set what is loaded by now apart: it stays, and to walk through it again and again would make readers wait."""
    gc.collect()
    gc.freeze()


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """Give the failure to tell: one of ours if there is any, since its sentence says what to do."""
    found = tuple(_leaves(failures))
    return next((each for each in found if isinstance(each, FootnoteError)), found[0])


def _leaves(failure: BaseException) -> Iterator[BaseException]:
    if not isinstance(failure, BaseExceptionGroup):
        yield failure
        return
    group = cast("BaseExceptionGroup[BaseException]", failure)
    for each in group.exceptions:
        yield from _leaves(each)
