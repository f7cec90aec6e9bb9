"""The way to Cohere: one client, made at first use, with our retries and time limits instead of its own."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit, urlunsplit

from adapters.cohere.failures import CallFailed, Explainer, judge
from adapters.retry import RetryPolicy
from core.events import Observer, Retried, Service

if TYPE_CHECKING:
    from cohere import AsyncClientV2
    from httpx import AsyncClient, Response


Item = TypeVar("Item")
Result = TypeVar("Result")

PIECE = 16  # texts or vectors


class Turns:
    """Lets one piece of work be done in each round of the event loop, however many wait."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def wait(self) -> None:
        """Wait for a turn; what follows at once is done in it."""
        async with self._lock:
            await asyncio.sleep(0)

    async def each(self, work: Callable[[Sequence[Item]], list[Result]], items: Sequence[Item]) -> list[Result]:
        """Do the *work* piece by piece, and join what comes of it."""
        done: list[Result] = []
        for at in range(0, len(items), PIECE):
            await self.wait()
            done += work(items[at : at + PIECE])
        return done


Result = TypeVar("Result")

COHERE = "https://api.cohere.com"
CONNECT = 5.0  # seconds


@dataclass(frozen=True, slots=True)
class CohereTimeouts:
    """How many seconds one try may take, from the first byte sent to the last received."""

    query: float = 5.0  # a person waits
    passages: float = 60.0


TIMEOUTS = CohereTimeouts()


class CohereConnection:
    """Calls Cohere for one model; closed, it opens again at the next call."""

    def __init__(  # noqa: PLR0913 - what both of Cohere's services are made of
        self,
        service: Service,
        *,
        model: str,
        setting: str,
        api_key: str,
        base_url: str | None,
        retries: RetryPolicy,
        observer: Observer,
    ) -> None:
        """Call *service* by *model*, which the environment variable *setting* names. Nothing is opened yet."""
        self._api_key = api_key.strip()
        self._url = _without_login(base_url or COHERE)
        self.address = urlsplit(self._url).netloc or "COHERE_BASE_URL"
        self._explainer = Explainer(model, setting, self.address, self._api_key)
        self._retries = replace(retries.observed(observer, partial(Retried, service)), judge=judge)
        self.turns = Turns()
        self._opening: asyncio.Task[tuple[AsyncClientV2, AsyncClient]] | None = None

    async def call(self, work: Callable[[AsyncClientV2], Awaitable[Result]], *, timeout: float) -> Result:  # noqa: ASYNC109 - of one try
        """Do the *work*, again where that may help. Raises `CallFailed`."""

        async def attempt() -> Result:
            client = await self._client()
            async with asyncio.timeout(timeout):
                return await work(client)

        try:
            return await self._retries.call(attempt)
        except Exception as error:  # noqa: BLE001 - the client leaks several families of exceptions
            failure = self._explainer.explain(error)
        raise failure  # out here, so that the client's exception is no part of it

    async def aclose(self) -> None:
        """Let go of all connections."""
        opening, self._opening = self._opening, None
        if opening is not None:
            _, http = await opening
            await http.aclose()
        self.turns = Turns()  # a lock stays with its event loop

    async def _client(self) -> AsyncClientV2:
        if self._opening is None:
            self._opening = asyncio.create_task(asyncio.to_thread(_build, self._api_key, self._url, self.turns))
        client, _ = await asyncio.shield(self._opening)
        return client


def _without_login(url: str) -> str:
    """Return the address without a user or a password, since the key is the only login; empty if it is no address."""
    try:
        parts = urlsplit(url)
    except ValueError:  # brackets that do not match; the failure has its sentence when it is called
        return ""
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])).rstrip("/")


def unusable(what: str, *, by_operator: bool = False) -> CallFailed:
    """Return the failure of a call that was answered, but not with what was asked for."""
    return CallFailed(f"Cohere's answer cannot be used: {what}.", reason=what, by_operator=by_operator)


def _build(api_key: str, url: str, turns: Turns) -> tuple[AsyncClientV2, AsyncClient]:
    """Make the client, in a worker thread: importing it takes most of a second.

    It is given an HTTP client of its own, which takes proxies and certificates from the machine, as whoever is behind
    a proxy needs; and an address and a key, so that it looks for neither. Answers are unpacked one after the other:
    each takes the client some milliseconds.
    """
    import numpy as np  # noqa: F401 # pyright: ignore[reportUnusedImport] - loaded here, used by whoever decodes
    from cohere import AsyncClientV2
    from httpx import AsyncClient, Limits, Timeout

    async def in_turn(response: Response) -> None:
        await response.aread()
        await turns.wait()

    http = AsyncClient(
        timeout=Timeout(None, connect=CONNECT),
        limits=Limits(max_connections=None),
        verify=ssl.create_default_context(),
        event_hooks={"response": [in_turn]},
    )
    client = AsyncClientV2(
        api_key,
        base_url=url,
        max_retries=0,
        httpx_client=http,
        log_warning_experimental_features=False,
    )
    return client, http
