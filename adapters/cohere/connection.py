"""The way to Cohere: one client, made at first use, with our retries and time limits, and its failures in our words."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit, urlunsplit

from adapters.retry import RetryPolicy, Transient, retry_after
from adapters.vendor_errors import is_untrusted
from core.errors import FootnoteError
from core.events import Observer, Retried, Service

if TYPE_CHECKING:
    from cohere import AsyncClientV2
    from httpx import AsyncClient, Response


REFUSED_KEY = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, 498)
REFUSED_REQUEST = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
PASSING = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
LONGEST_QUOTE = 200


class CallFailed(Exception):
    """A call that brought nothing usable.

    The text of this exception is for logs: the vendor's exceptions hold headers, addresses and sometimes the key, so
    none of them is kept, chained or quoted as it is. `sentence` is for a person; `by_operator` says that waiting does
    not help.
    """

    def __init__(self, sentence: str, *, reason: str, by_operator: bool) -> None:
        super().__init__(reason)
        self.sentence = sentence
        self.by_operator = by_operator


@contextmanager
def raising(unavailable: type[FootnoteError], *, refused: type[FootnoteError] | None = None) -> Generator[None]:
    """Turn `CallFailed` into *unavailable*, or into *refused* if an operator has to change something."""
    try:
        yield
    except CallFailed as failure:
        kind = refused if refused is not None and failure.by_operator else unavailable
        raise kind(failure.sentence) from failure


def judge(error: Exception) -> Transient | None:
    """Return whether trying again may help."""
    import httpx
    from cohere.core.api_error import ApiError

    match error:
        case ApiError(status_code=int(status)) if status in PASSING or (status >= 500 and status != 501):  # noqa: PLR2004 - the server's own failures, but not what it cannot do
            return Transient(f"status {status}", retry_after(error.headers or {}))
        case TimeoutError() | httpx.TimeoutException():
            return Transient("time-out")
        case httpx.UnsupportedProtocol() | httpx.LocalProtocolError():
            return None
        case httpx.TransportError() if is_untrusted(error):
            return None
        case httpx.TransportError():
            return Transient("connection")
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Explainer:
    """Words a failure for people, by the names of the settings that they can change."""

    model: str
    model_setting: str
    address: str
    api_key: str

    def explain(self, error: Exception) -> CallFailed:
        """Return what may be said of the error."""
        sentence, by_operator = self._sentence(error)
        return CallFailed(sentence, reason=self._reason(error), by_operator=by_operator)

    def _sentence(self, error: Exception) -> tuple[str, bool]:
        import httpx
        from cohere.core.api_error import ApiError

        match error:
            case ApiError(status_code=int(status)) if status >= HTTPStatus.BAD_REQUEST:
                return self._of_status(status, _message(error.body))
            case httpx.UnsupportedProtocol() | httpx.InvalidURL():
                return "COHERE_BASE_URL is not an address. It looks like https://api.cohere.com.", True
            case httpx.LocalProtocolError() | UnicodeEncodeError():
                return "COHERE_API_KEY holds characters that cannot be in a key. Copy it again.", True
            case httpx.TransportError() if is_untrusted(error):
                says = f"The certificate at {self.address} is not trusted."
                return f"{says} Check COHERE_BASE_URL and the system's certificates.", True
            case TimeoutError() | httpx.TransportError():
                return f"Cohere cannot be reached at {self.address}. Try again in a moment.", False
            case _:  # the client fails in many ways on answers of another shape
                return f"What answers at {self.address} is not Cohere's API. Check COHERE_BASE_URL.", True

    def _of_status(self, status: int, message: str) -> tuple[str, bool]:
        if status in REFUSED_KEY:
            return "Cohere refused the key. Check COHERE_API_KEY.", True
        if status == HTTPStatus.PAYMENT_REQUIRED:
            return "Cohere wants the account of COHERE_API_KEY to be paid for. Look at its billing page.", True
        if status == HTTPStatus.NOT_FOUND or (status in REFUSED_REQUEST and "model" in message.lower()):
            return f"Cohere does not know the model {self.model}. Check {self.model_setting}.", True
        if status in REFUSED_REQUEST:
            return f"Cohere refused the request. Check {self.model_setting} and COHERE_DIMENSION.", True
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            return "The request limit of COHERE_API_KEY is reached. Wait a little, or have it raised.", False
        return f"Cohere does not work at the moment (status {status}). Try again later.", False

    def _reason(self, error: Exception) -> str:
        """Name the error; of its text only the service's own message is kept, without the key."""
        status: object = getattr(error, "status_code", None)
        if status is None:
            return type(error).__name__
        message = _message(getattr(error, "body", None))
        if self.api_key:
            message = message.replace(self.api_key, "***")
        return f"{type(error).__name__}, status {status}: {message[:LONGEST_QUOTE]}"


def _message(body: Any) -> str:
    if not isinstance(body, dict):
        return ""
    return str(cast("dict[str, object]", body).get("message") or "")


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
