"""The way to a Qdrant server: one client, with its time limits, our retries, and its failures in our words."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

from adapters.retry import CircuitBreaker, RetryPolicy, Skipped, Transient
from adapters.vendors import is_untrusted, quoted, trusted
from core.errors import RetrievalUnavailable

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient
    from qdrant_client.http.exceptions import UnexpectedResponse


UNREACHABLE = "The Qdrant server cannot be reached. Check QDRANT_URL, and whether the server is running."
SLOW = "The Qdrant server did not answer in time. Try again in a moment."
BUSY = "The Qdrant server is too busy, or in trouble. Try again in a moment; its log says why."
REFUSED = "The Qdrant server refused the request. Its log says why."
KEY = "The Qdrant server refused the key. Check QDRANT_API_KEY."
RIGHTS = (
    "The key in QDRANT_API_KEY does not have the permissions for that. Reading documents needs a key that may write."
)
STRANGER = "What answers is not a Qdrant server. Check QDRANT_URL."
CERTIFICATE = "The certificate of the Qdrant server is not trusted. Check QDRANT_URL and the system's certificates."
FOREIGN = (
    "The Qdrant server answered with something that Footnote did not write. Check QDRANT_URL, or set QDRANT_COLLECTION "
    "to an unused name and read the documents again."
)
GONE = "The collection has just been replaced. Try again."

TIMEOUT, TOO_MANY, SERVER_ERROR = 408, 429, 500


class WrongSettings(RetrievalUnavailable):
    """An operator has to change something; whoever asks a question meanwhile is told that nothing can be searched."""


class Missing(RetrievalUnavailable):
    """There is no such collection."""


def diagnose(error: Exception) -> tuple[RetrievalUnavailable, Transient | None]:
    """Return a failure in our words, and why it may pass if it may."""
    from httpx import TimeoutException, TransportError
    from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    match error:
        case TimeoutError() | ResponseHandlingException(source=TimeoutException()):
            return RetrievalUnavailable(SLOW), Transient("no answer in time")
        case ResponseHandlingException(source=TransportError()):
            lost = RetrievalUnavailable(UNREACHABLE), Transient("no connection")
            return (WrongSettings(CERTIFICATE), None) if is_untrusted(error) else lost
        case UnexpectedResponse():
            return _of_status(error)
        case QdrantException():  # asked to wait, though not always in seconds
            wait = float(error.retry_after_s) if isinstance(error, ResourceExhaustedResponse) else None
            return RetrievalUnavailable(BUSY), Transient(f"status {TOO_MANY}", wait)
        case ResponseHandlingException() | ValueError():  # JSON of another service, or a page of HTML
            return WrongSettings(STRANGER), None
        case _:
            return RetrievalUnavailable(REFUSED), None


def judge(error: Exception) -> Transient | None:
    """Return why trying again may help, if it may."""
    return diagnose(error)[1]


def _of_status(error: UnexpectedResponse) -> tuple[RetrievalUnavailable, Transient | None]:
    match error.status_code:
        case 401:
            return WrongSettings(KEY), None
        case 403:
            return WrongSettings(RIGHTS), None
        case 404:  # a server that knows no such collection says so in its own way; another one knows no such path
            with suppress(ValueError):
                if isinstance(error.structured().get("status"), dict):
                    return Missing(GONE), None
            return WrongSettings(STRANGER), None
        case int(status) if status in {TIMEOUT, TOO_MANY} or status >= SERVER_ERROR:
            return RetrievalUnavailable(BUSY), Transient(f"status {status}")
        case _:
            return RetrievalUnavailable(REFUSED), None


Result = TypeVar("Result")
Call: TypeAlias = "Callable[[Callable[[AsyncQdrantClient], Awaitable[Any]]], Awaitable[Any]]"

PORT = 6333
CONNECTIONS = 50
PAGE_OF_SCROLL = 1_000


@dataclass(frozen=True, slots=True)
class QdrantTimeouts:
    """Seconds that one try may take: somebody waits for a search, nobody for an ingestion."""

    search: float = 5.0
    ingest: float = 30.0


@dataclass(eq=False, repr=False)
class QdrantConnection:
    """Calls to one server; the client is made for the first of them.

    Settings have checked the address and the key.
    """

    url: str
    api_key: str
    retries: RetryPolicy
    timeouts: QdrantTimeouts
    breaker: CircuitBreaker = field(default_factory=partial(CircuitBreaker, "index"))
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _client: AsyncQdrantClient | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.retries = replace(self.retries, judge=judge)

    @property
    def address(self) -> str:
        """Host and port."""
        parts = urlsplit(self.url)
        return parts.netloc if parts.port else f"{parts.netloc.rstrip(':')}:{PORT}"

    @property
    def shows_key(self) -> bool:
        """Whether the key travels where others can read it."""
        parts = urlsplit(self.url)
        nearby = parts.hostname in {"localhost", "127.0.0.1", "::1"}
        return bool(self.api_key) and parts.scheme == "http" and not nearby

    async def ask(self, work: Callable[[AsyncQdrantClient], Awaitable[Result]]) -> Result:
        """Do something that a person waits for. Raises `RetrievalUnavailable`, at once where that were in vain."""

        async def watched(client: AsyncQdrantClient) -> Result:
            with self.breaker.watched(judge):
                async with asyncio.timeout(self.timeouts.search):
                    return await work(client)

        return await self._call(watched, self.timeouts.ingest)

    async def look(self, work: Callable[[AsyncQdrantClient], Awaitable[Result]]) -> Result:
        """Do the same for whoever wants to know how the server is now. Raises `RetrievalUnavailable`."""
        return await self._call(work, self.timeouts.search)

    async def ingest(self, work: Callable[[AsyncQdrantClient], Awaitable[Result]]) -> Result:
        """Do something that may take its time. Raises `RetrievalUnavailable`.

        A write is repeated as freely as a read: ids are made from passage ids, deletions name what is to go, and
        aliases name where they are to point, so that doing it twice does nothing more.
        """
        return await self._call(work, self.timeouts.ingest)

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _call(self, work: Callable[[AsyncQdrantClient], Awaitable[Result]], seconds: float) -> Result:
        """Turn every failure into one of ours, with its words as the cause, but for the key."""
        async with self._opening:
            if self._client is None:  # in a thread: importing the vendor takes longer than anybody else should wait
                self._client = await asyncio.to_thread(self._open)
            client = self._client
        from qdrant_client.http.exceptions import UnexpectedResponse

        async def attempt() -> Result:
            async with asyncio.timeout(seconds):
                return await work(client)

        try:
            return await self.retries.call(attempt)
        except Skipped as skipped:
            raise RetrievalUnavailable(str(skipped)) from None
        except Exception as error:  # noqa: BLE001 - the client leaks several families of exceptions
            said = None
            if isinstance(error, UnexpectedResponse):  # the client's text has only the beginning of the server's
                said = f"status {error.status_code}, {error.content.decode(errors='replace')}"
            (failure, _), cause = diagnose(error), quoted(error, self.api_key, said=said)
        raise failure from cause  # out here, so that the client's exception is no part of it

    def _open(self) -> AsyncQdrantClient:
        from httpx import Limits
        from qdrant_client import AsyncQdrantClient

        parts = urlsplit(self.url)
        options: dict[str, Any] = {"verify": trusted()} if parts.scheme == "https" else {}
        # The key goes as a header, since the client would warn on standard error where `check` says it in words. It
        # trusts what the system trusts, and takes no proxy from the environment.
        return AsyncQdrantClient(
            url=f"{parts.scheme}://{self.address}{parts.path.rstrip('/')}",
            headers={"api-key": self.api_key} if self.api_key else {},
            timeout=math.ceil(self.timeouts.ingest),
            check_compatibility=False,  # the check would block the event loop
            limits=Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS),
            trust_env=False,
            **options,
        )


async def payloads(call: Call, name: str, **wanted: Any) -> AsyncIterator[Mapping[str, Any]]:
    """Yield the payloads of the points of a collection, by calls such as `ask`. Raises `RetrievalUnavailable`."""
    page: dict[str, Any] = {"limit": PAGE_OF_SCROLL, **wanted}
    while True:
        points, page["offset"] = await call(lambda client: client.scroll(name, **page))
        for point in points:
            yield point.payload or {}
        if page["offset"] is None:
            return
