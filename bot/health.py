"""How this process is, for hosts and people who watch it over HTTP: whether it lives, is ready, and its metrics."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any, Generic, TypeAlias, TypeVar

from aiohttp import web

from adapters.chat.platform import utc_now
from adapters.web import served
from bot.metrics import Metrics
from bot.wiring.services import Advice
from core.errors import FootnoteError, Unavailable
from core.events import (
    CommandsFailed,
    CommandsRegistered,
    CommunityBack,
    CommunityLost,
    Connected,
    ConnectionLost,
    PlatformFailed,
    ServiceBack,
    ServiceSkipped,
)
from core.model import Backlog
from core.ports import Backlogged

LIVE, READY, METRICS = "/live", "/ready", "/metrics"
TIMEOUT = 2.0  # seconds for each look
OUR_STORE, DOCUMENTS = "data store", "documents"
STARTING, STOPPING = "It is starting.", "It is stopping."
LOST = "{}: no connection since {:%H:%M} UTC ({})."
REFUSED = "{} has refused the bot in {} since {:%H:%M} UTC ({})."
SKIPPED = "The {} failed again and again ({}), so it is skipped until a call goes through."
NO_COMMANDS = "{} rejected the commands ({}); they are tried again every hour."
UNHEARD, UNKNOWN = "{}: not connected yet.", "{}: not logged in yet."
NO_ANSWER = "The {} did not answer within {:g} seconds."
UNAVAILABLE = 503
LONGEST_END = 1.0  # seconds that requests are given when it is time to stop
SHORT_LIVED = {"Cache-Control": "no-store"}

Result = TypeVar("Result")
Noted: TypeAlias = (
    Connected
    | ConnectionLost
    | CommunityLost
    | CommunityBack
    | PlatformFailed
    | CommandsFailed
    | CommandsRegistered
    | ServiceSkipped
    | ServiceBack
)


class CachedCheck(Generic[Result]):
    """Looks at something now and then: whoever asks in between, or at the same time, hears of the last look."""

    def __init__(
        self, name: str, look: Callable[[], Awaitable[Result]], *, kept: float = 1.0, timeout: float = TIMEOUT
    ) -> None:
        self._name = name
        self._look = look
        self._kept = kept
        self._timeout = timeout
        self._lock = asyncio.Lock()
        self._found: tuple[Result | None, str | None] = (None, None)
        self._good_until = float("-inf")

    async def __call__(self) -> tuple[Result | None, str | None]:
        """Return what was found, or why not, as a sentence without a secret."""
        async with self._lock:
            if time.monotonic() >= self._good_until:
                self._found = await self._try()
                self._good_until = time.monotonic() + self._kept
        return self._found

    async def _try(self) -> tuple[Result | None, str | None]:
        try:
            async with asyncio.timeout(self._timeout):
                return await self._look(), None
        except TimeoutError:
            return None, NO_ANSWER.format(self._name, self._timeout)
        except FootnoteError as error:
            return None, str(error)
        except Exception as error:  # noqa: BLE001 - whoever asks is to be answered, whatever is wrong
            return None, f"The {self._name} cannot be used ({type(error).__name__})."


class Health:
    """Knows what a process still needs to be of use. With *metrics*, it serves metrics too."""

    def __init__(self, metrics: Metrics | None = None, *, now: Callable[[], datetime] = utc_now) -> None:
        self.metrics = metrics
        self._now = now
        self._missing: dict[str, None] = {STARTING: None}
        self._heard = frozenset[str]()  # the platforms that this process listens to
        self._gone: dict[str, str] = {}  # what is missing of platforms that were heard, or will not be
        self._refused: dict[str, str] = {}  # what platforms did not take, and which services are skipped
        self._backlog: CachedCheck[Backlog] | None = None
        self._looks: list[CachedCheck[Any]] = []

    def begin(self, inbox: Backlogged, *, heard: Iterable[str], entered: Iterable[str]) -> None:
        """Wait for the platforms that have to be *heard*, and for those that have to be *entered* to answer there."""
        self._backlog = CachedCheck(OUR_STORE, inbox.backlog)
        self._looks.append(self._backlog)
        self._missing.pop(STARTING, None)
        self._heard = frozenset(heard := tuple(heard))
        self._missing |= dict.fromkeys(map(UNHEARD.format, heard)) | dict.fromkeys(map(UNKNOWN.format, entered))

    def needs(self, look: Callable[[], Awaitable[str | None]], *, kept: float) -> None:
        """Look at the documents too, for which more has to be done; what was found is *kept* for some seconds.

        The look may return a hint for whoever runs this, who is told although nothing is missing.
        """
        self._looks.append(CachedCheck(DOCUMENTS, look, kept=kept))

    def observe(self, event: Noted) -> None:
        """Note that a platform hears us, or not, and what is missing that the bot can do without."""
        match event:
            case CommandsFailed(platform, reason):
                self._refused[platform] = NO_COMMANDS.format(platform, reason)
            case ServiceSkipped(service, reason):
                self._refused[service] = SKIPPED.format(service, reason)
            case CommunityLost(platform, community, name, reason):
                self._refused[community] = REFUSED.format(platform, name, self._now(), reason)
            case CommandsRegistered(name) | ServiceBack(name) | CommunityBack(_, name):
                self._refused.pop(name, None)
            case Connected(platform):
                self._miss(platform, "")
            case ConnectionLost(platform, reason):
                self._miss(platform, LOST.format(platform, self._now(), reason))
            case PlatformFailed(platform, reason):
                self._missing.pop(UNKNOWN.format(platform), None)
                self._miss(platform, f"{platform}: {reason}")

    def _miss(self, platform: str, sentence: str) -> None:
        """Say this of a platform, or nothing, instead of what was said before."""
        for said in (UNHEARD.format(platform), self._gone.pop(platform, "")):
            self._missing.pop(said, None)
        if sentence:
            self._gone[platform] = sentence
            self._missing[sentence] = None

    def entered(self, platform: str) -> None:
        """Note that answers can be given there, also where they could not before."""
        self._missing.pop(UNKNOWN.format(platform), None)
        if platform not in self._heard:  # else it is gone until it is heard
            self._miss(platform, "")

    def stop(self) -> None:
        """Be ready no more, so that nothing new is sent here."""
        self._missing[STOPPING] = None

    async def missing(self) -> list[str]:
        """Return a sentence for each thing that is missing; nothing if the process is ready."""
        return [*self._missing, *(sentence for _, sentence in await self._found() if sentence)]

    async def _found(self) -> list[tuple[object, str | None]]:
        return await asyncio.gather(*(look() for look in self._looks))

    async def look(self) -> str:
        """Return a line for the doctor. Raises `Unavailable` with what is missing."""
        if missing := await self.missing():
            raise Unavailable(" ".join(missing))
        well = f"footnote run (process {os.getpid()}) is connected and working"
        return Advice(". ".join([well, *self._refused.values()])) if self._refused else well

    def pages(self) -> list[web.RouteDef]:
        """Return the signs of life, for any server of this process."""
        return [web.get(LIVE, self._live), web.get(READY, self._ready)]

    def served(self, host: str, port: int) -> AbstractAsyncContextManager[int]:
        """Answer at a port of its own while the block runs; yield the port. Raises `Misconfigured`."""
        refusal = (
            f"/live, /ready and /metrics cannot be served at {host}, port {port}. Set FOOTNOTE_HEALTH_HOST to "
            "an address of this machine, and FOOTNOTE_HEALTH_PORT to a port that nothing else uses; each "
            "process needs one of its own."
        )
        routes = [*self.pages(), web.get(METRICS, self._metrics_page)]
        return served(routes, host, port, refusal=refusal, shutdown_timeout=LONGEST_END)

    async def _live(self, _: web.Request) -> web.Response:
        """Answer: that is the sign."""
        return web.Response(text="ok\n", headers=SHORT_LIVED)

    async def _ready(self, _: web.Request) -> web.Response:
        missing = await self.missing()
        hints = [found for found, _ in await self._found() if isinstance(found, str)]
        status, lines = (UNAVAILABLE, missing) if missing else (200, ["ok", *hints, *self._refused.values()])
        return web.Response(status=status, text="".join(f"{line}\n" for line in lines), headers=SHORT_LIVED)

    async def _metrics_page(self, request: web.Request) -> web.Response:
        if self.metrics is None:
            raise web.HTTPNotFound
        backlog, _ = await self._backlog() if self._backlog else (None, None)
        body, kind = self.metrics.exposed(backlog, accepts=request.headers.get("Accept", ""))
        return web.Response(body=body, headers={"Content-Type": kind, **SHORT_LIVED})
