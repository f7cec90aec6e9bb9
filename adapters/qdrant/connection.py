"""The way to a Qdrant server: one client, with its time limits, our retries, and its failures in our words."""

from __future__ import annotations

import asyncio
import math
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

from adapters.qdrant.failures import WrongSettings, judge, translated
from adapters.retry import RetryPolicy
from core.events import Observer, Retried

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient

Result = TypeVar("Result")

MEMORY = ":memory:"  # in place of an address: an index in this process that is gone at its end
PORT = 6333
CONNECTIONS = 50


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds that one try may take: somebody waits for a search, nobody for an ingestion."""

    search: float = 5.0
    ingest: float = 30.0


class Connection:
    """Calls to one server; the client is made for the first of them."""

    def __init__(
        self, url: str, api_key: str | None, *, retries: RetryPolicy, patience: Patience, observer: Observer
    ) -> None:
        self._url = url
        self._api_key = (api_key or "").strip()
        self._retries = replace(retries.observed(observer, partial(Retried, "index")), judge=judge)
        self._patience = patience
        self._opening = asyncio.Lock()
        self._client: AsyncQdrantClient | None = None

    @property
    def is_local(self) -> bool:
        """Whether there is no server at all."""
        return self._url == MEMORY

    @property
    def address(self) -> str:
        """Host and port, without user and password."""
        return MEMORY if self.is_local else _place(_split(self._url))

    @property
    def shows_key(self) -> bool:
        """Whether the key travels where others can read it."""
        parts = urlsplit(self._url)
        nearby = parts.hostname in {"localhost", "127.0.0.1", "::1"}
        return bool(self._api_key) and parts.scheme == "http" and not nearby

    async def ask(self, work: Callable[[AsyncQdrantClient], Awaitable[Result]]) -> Result:
        """Do something that a person waits for. Raises `RetrievalUnavailable`."""
        return await self._call(work, self._patience.search)

    async def ingest(self, work: Callable[[AsyncQdrantClient], Awaitable[Result]]) -> Result:
        """Do something that may take its time. Raises `RetrievalUnavailable`.

        A write is repeated as freely as a read: ids are made from passage ids, deletions name what is to go, and
        aliases name where they are to point, so that doing it twice does nothing more.
        """
        return await self._call(work, self._patience.ingest)

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _call(self, work: Callable[[AsyncQdrantClient], Awaitable[Result]], seconds: float) -> Result:
        client = await self._opened()

        async def attempt() -> Result:
            async with asyncio.timeout(seconds):
                return await work(client)

        with translated(secret=self._api_key):
            return await self._retries.call(attempt)

    async def _opened(self) -> AsyncQdrantClient:
        async with self._opening:
            if self._client is None:  # in a thread: importing the vendor takes longer than anybody else should wait
                self._client = await asyncio.to_thread(self._open)
            return self._client

    def _open(self) -> AsyncQdrantClient:
        from httpx import Limits
        from qdrant_client import AsyncQdrantClient

        if self.is_local:
            return AsyncQdrantClient(location=MEMORY)
        parts = _split(self._url)
        return AsyncQdrantClient(
            url=f"{parts.scheme}://{_place(parts)}{parts.path.rstrip('/')}",
            headers=_key_header(self._api_key),
            timeout=math.ceil(self._patience.ingest),
            check_compatibility=False,  # the check would block the event loop
            limits=Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS),
            **_transport(parts),
        )


def _split(url: str) -> SplitResult:
    """Take an address apart. Raises `WrongSettings` without quoting it: it may hold a password."""
    try:
        parts = urlsplit(url.strip())
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address, parts = False, urlsplit("")
    if not is_address:
        raise WrongSettings("QDRANT_URL is not an address. It looks like https://qdrant.example:6333.")
    return parts


def _place(parts: SplitResult) -> str:
    place = parts.netloc.rpartition("@")[2]
    return place if parts.port else f"{place.rstrip(':')}:{PORT}"


def _key_header(api_key: str) -> dict[str, str]:
    """Hand the key over as a header; the client would warn on standard error where `check` says it in words."""
    if not all("!" <= letter <= "~" for letter in api_key):
        raise WrongSettings("QDRANT_API_KEY holds characters that no key has. Copy it again.")
    return {"api-key": api_key} if api_key else {}


def _transport(parts: SplitResult) -> dict[str, Any]:
    """Say what the HTTP client is told: trust what the system trusts, and take no proxy or password from elsewhere."""
    options: dict[str, Any] = {"trust_env": False}
    if parts.scheme == "https":
        options["verify"] = ssl.create_default_context()
    if parts.username:
        options["auth"] = (unquote(parts.username), unquote(parts.password or ""))
    return options
