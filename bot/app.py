"""`footnote run`: what listens and what answers, side by side, until somebody stops it in good order."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
from collections.abc import Collection, Coroutine
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from adapters.retry import MEMORY, NEWS, SHUT_OUT, Transient
from bot.commands.doctor import look_inside
from bot.commands.session import RUN, Session, session, tell_slips
from bot.health import Health
from bot.metrics import Metrics
from bot.outcome import OK
from bot.roles import Role, shares
from bot.settings import Settings, read_settings
from bot.sync import SourceAlerts, Syncing
from bot.version import version
from bot.wiring import NOTHING_TO_SEARCH, Check, RetryTiming, open_platforms
from bot.wiring.platforms import Platform, PlatformClient, TimedSurface, admission_of
from bot.wiring.services import load_ahead
from bot.wiring.stores import Stores
from core.answering.agent import Agent
from core.answering.attention import Attention
from core.answering.responder import Responder
from core.errors import FootnoteError, Misconfigured, RetrievalUnavailable, ShutOut, StoreUnavailable
from core.events import (
    CommandsFailed,
    CommandsRegistered,
    CommunityBack,
    CommunityLost,
    Connected,
    ConnectionLost,
    Observer,
    PlatformFailed,
    ServiceBack,
    ServiceSkipped,
    Shortcoming,
    everyone,
    only,
    unobserved,
)
from core.ports import Catalogue, ChatSurface
from core.worker import Worker

if TYPE_CHECKING:
    from adapters.redis.inbox import RedisInbox


SIGNALS = (signal.SIGTERM, signal.SIGINT)
THRESHOLDS = (50_000, 10, 10)  # allocations, and rounds of the younger generation, between two walks of the collector
USUAL_START = 5.0  # seconds in which the bot has logged in everywhere, if all is well
SOON = 2.0  # seconds until a question is looked at again whose platform cannot be reached
OUTLINE_KEPT = 10.0  # seconds; to count a large index takes longer than to look at the inbox


async def hint(catalogue: Catalogue) -> str | None:
    """Return what to do where there is nothing to search. Raises `RetrievalUnavailable` and `Misconfigured`."""
    return None if (await catalogue.outline()).passages else NOTHING_TO_SEARCH


class Bot:
    """One process of the bot; *catalogue* says what there is to search, and *health* how it is, for those who ask."""

    def __init__(
        self,
        settings: Settings,
        agent: Agent,
        stores: Stores,
        observer: Observer,
        catalogue: Catalogue,
        health: Health | None = None,
    ) -> None:
        self._settings = settings
        self._agent = agent
        self._stores = stores
        self._health = health or Health()
        kinds = Connected, ConnectionLost, CommunityLost, CommunityBack, PlatformFailed, CommandsFailed
        heard = only(self._health.observe, *kinds, CommandsRegistered)
        self._observer = everyone(observer, heard, only(self._back, Connected))
        self._catalogue = catalogue
        self._there: set[str] = set()
        self._stopping = asyncio.Event()
        self._leaving = asyncio.Event()

    def stop(self) -> None:
        """Receive nothing more and finish the answers under way; said again, hand them back at once."""
        if self._stopping.is_set():
            self._leaving.set()
        self._stopping.set()
        self._health.stop()

    async def run(self, chosen: Collection[Role]) -> None:
        """Work until it is stopped, by a call or a signal; raises what a share of the work cannot go on with."""
        loop, health, settings = asyncio.get_running_loop(), self._health, self._settings
        async with contextlib.AsyncExitStack() as stack:
            for number in SIGNALS:
                loop.add_signal_handler(number, self.stop)
                stack.callback(loop.remove_signal_handler, number)
            if settings.health_port is not None:
                await stack.enter_async_context(health.served(settings.health_host, settings.health_port))
            inbox = await stack.enter_async_context(self._stores.inbox(self._observer))
            opening = open_platforms(settings, self._observer, self._stores, self._catalogue, health.pages())
            platforms = await stack.enter_async_context(opening)
            self._there = {platform.name for platform in platforms}
            for platform in platforms:
                platform.silence = self._agent.limits.silence
            heard = [platform.name for platform in platforms if Role(platform.key) in chosen]
            is_durable = await self._is_durable()
            if Role.WORKER in chosen:
                health.begin(inbox, heard=heard, entered=[platform.name for platform in platforms])
                health.needs(partial(hint, self._catalogue), kept=OUTLINE_KEPT)
            else:
                health.begin(inbox, heard=heard, entered=())
            await until(self._leaving, self._share(chosen, inbox, platforms, is_durable=is_durable))

    async def _is_durable(self) -> bool:
        """Return whether the store keeps what it is given; False while it cannot be asked. Raises `Misconfigured`."""
        try:
            await self._stores.require_durable()
        except StoreUnavailable:
            return False
        return True

    async def _share(
        self, chosen: Collection[Role], inbox: RedisInbox, platforms: Collection[Platform], *, is_durable: bool
    ) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                if not is_durable:
                    group.create_task(NEWS.call(self._stores.require_durable))
                if Role.SYNC in chosen:
                    group.create_task(until(self._stopping, forever()))  # which is done beside this
                if Role.WORKER in chosen:
                    group.create_task(self._work(inbox, platforms))
                for platform in platforms:
                    if Role(platform.key) in chosen:
                        group.create_task(self._listen(platform, inbox))
        except BaseExceptionGroup as failures:
            raise _first(failures) from failures

    async def _listen(self, platform: Platform, inbox: RedisInbox) -> None:
        """Listen until the stop, and again where the platform took the bot back that had refused it."""
        policy = replace(SHUT_OUT, judge=partial(self._refused, platform))
        await until(self._stopping, policy.call(partial(platform.listen, self._stores, inbox)))

    async def _work(self, inbox: RedisInbox, platforms: Collection[Platform]) -> None:
        """Answer until the stop, and then for as long as the host allows what is under way."""
        async with contextlib.AsyncExitStack() as stack:
            clients = [(each, await stack.enter_async_context(each.client(self._stores, inbox))) for each in platforms]
            members = {each.key: each.membership for each in platforms if each.membership is not None}
            entrances = {platform.key: Entrance() for platform in platforms}
            await load_ahead(self._settings)
            spare_the_collector()
            stores, now, observer = self._stores, partial(datetime.now, UTC), self._observer
            responder = Responder(
                self._agent,
                stores.conversations,
                now=now,
                deliveries=inbox,
                admission=admission_of(self._settings, stores, self._catalogue, members),
                insist=MEMORY.call,
                attention=Attention(self._agent) if self._settings.has_chat_model else None,
                observer=observer,
            )
            worker = Worker(inbox, responder, entrances, stores.conversations, now=now, observer=observer)
            alerts = SourceAlerts(self._catalogue, stores.communities, stores.dedup, entrances)
            async with asyncio.TaskGroup() as group:
                group.create_task(until(self._stopping, alerts.run()))
                for platform, client in clients:
                    group.create_task(self._enter(platform, client, entrances[platform.key]))
                working = group.create_task(worker.run(concurrency=self._settings.answers_at_once))
                await self._stopping.wait()
                worker.stop()
                await asyncio.wait({working}, timeout=self._settings.grace_seconds)
                working.cancel()

    async def _enter(self, platform: Platform, client: PlatformClient, entrance: Entrance) -> None:
        """Log in, let answers through, and do what goes on beside them until the stop.

        Until it is logged in, answers on other platforms do not wait.
        """

        def judge(error: Exception) -> Transient | None:
            failure = self._refused(platform, error)
            if failure is not None:
                entrance.refuse()
            return failure

        await until(self._stopping, replace(SHUT_OUT, judge=judge).call(client.log_in))
        if self._stopping.is_set():
            return
        metrics = self._health.metrics
        entrance.open(TimedSurface(client.surface, metrics) if metrics else client.surface)
        self._there.add(platform.name)
        self._health.entered(platform.name)
        await until(self._stopping, client.beside())

    def _refused(self, platform: Platform, error: Exception) -> Transient | None:
        """Go on without a platform that does not take the bot, and try again; where it was the last one, raise why."""
        if not isinstance(error, Misconfigured):
            return None
        was_there = platform.name in self._there
        self._there.discard(platform.name)
        if not self._there:
            raise error
        if was_there:
            self._observer(PlatformFailed(platform.name, str(error)))
        return Transient(str(error))

    def _back(self, event: Connected) -> None:
        self._there.add(event.platform)


class Entrance:
    """Gives the surface of a platform to the workers once the bot has logged in.

    They wait for that while the bot starts. Where it takes longer, or the bot is refused, questions wait in the inbox
    for the next try, and keep no worker from those of other platforms.
    """

    def __init__(self) -> None:
        self._surface: ChatSurface | None = None
        self._is_known = asyncio.Event()
        self._wait, self._until = SOON, asyncio.get_running_loop().time() + USUAL_START

    def refuse(self) -> None:
        """Let nobody in for now."""
        self._wait = SHUT_OUT.waits[-1]
        self._is_known.set()

    def open(self, surface: ChatSurface) -> None:
        """Let everybody in."""
        self._surface = surface
        self._is_known.set()

    async def __call__(self) -> ChatSurface:
        """Return the surface once it is there. Raises `ShutOut` where the bot is refused, or cannot log in for now."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(self._until):
                await self._is_known.wait()
        if self._surface is None:
            raise ShutOut(self._wait)
        return self._surface


async def until(event: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Do *work* to its end, or break it off as soon as there is the *event*."""
    working, waiting = asyncio.create_task(work), asyncio.create_task(event.wait())
    try:
        await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        working.cancel()
        waiting.cancel()
        await asyncio.gather(working, waiting, return_exceptions=True)  # which are cancelled once more if this is
    if not working.cancelled():
        working.result()


async def forever() -> None:
    """Wait until this is cancelled."""
    await asyncio.Event().wait()


def spare_the_collector() -> None:
    """Set what is loaded by now apart: it stays, and to walk through it again and again would make readers wait.

    What hundreds of answers take and give back every second is looked through more rarely than by default.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the failure to tell: one of ours if there is any, since its sentence says what to do."""
    failure: BaseException = failures.subgroup(FootnoteError) or failures
    while isinstance(failure, BaseExceptionGroup):
        failure = cast("BaseExceptionGroup[BaseException]", failure).exceptions[0]
    return failure


CROWDED = RetryTiming(interval=0.005)  # the longest, 0.7 seconds, with 140 answers at once


def run_bot(named: Collection[Role], *, observer: Observer = unobserved) -> int:
    """Listen and answer; a first signal stops in good order, a second one at once. The *observer* hears of events."""
    tell_slips()  # first, since a misspelt token is why a platform is missing
    settings = read_settings()
    chosen = shares(named, settings)
    metrics = None if settings.health_port is None else Metrics()
    health = Health(metrics)
    services = only(health.observe, ServiceSkipped, ServiceBack)
    heard = everyone(observer, metrics.observe if metrics else unobserved, services)
    with session(RUN, memory=True, tells_slips=False, timing=CROWDED, observer=heard) as opened:
        app, stores = opened.app, opened.stores
        bot = Bot(opened.settings, app.agent, stores, opened.observer, app.index, health)
        syncing = Syncing(app.library, stores.dedup, opened.observer) if Role.SYNC in chosen else None
        opened.run(_beside_commands(opened, stores.address, health, bot.run(chosen), syncing))
    return OK


async def _beside_commands(
    opened: Session, store: str, health: Health, work: Coroutine[Any, Any, None], syncing: Syncing | None
) -> None:
    """Do *work*, and keep sources up to date where this process is to.

    Commands beside it get what they need of the data folder, where this process has that for itself.
    """
    from adapters.beside import Handshake, OwnerServer

    app, folder = opened.app, opened.settings.data_dir
    welcome = Handshake(version(), app.embedder.name, app.embedder.dimension, store)
    offer = OwnerServer(welcome, app.index, partial(look_inside, opened, Check("bot", health.look)))
    async with contextlib.AsyncExitStack() as stack:
        try:
            if not opened.settings.is_shared:
                await stack.enter_async_context(offer.shared(folder))
        except Misconfigured as refused:  # the bot itself can do without
            opened.observer(Shortcoming(None, str(refused)))
        try:
            async with asyncio.TaskGroup() as group:
                beside = [group.create_task(_tell_hint(app.index, opened.observer))]
                if syncing is not None:
                    beside.append(group.create_task(syncing.run()))
                await work
                for each in beside:
                    each.cancel()
        except BaseExceptionGroup as failures:
            raise _first(failures) from failures


async def _tell_hint(catalogue: Catalogue, observer: Observer) -> None:
    """Say where there is nothing to search; an index that cannot be reached may be there later."""
    with contextlib.suppress(RetrievalUnavailable):
        if said := await hint(catalogue):
            observer(Shortcoming(None, said))
