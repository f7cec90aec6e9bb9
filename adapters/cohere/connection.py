"""The way to Cohere: one client, made at first use, with our retries and time limits, and its failures in our words."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import InitVar, dataclass, field, replace
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast
from urllib.parse import urlsplit

from pydantic import SecretStr

from adapters.retry import SERVICE, CircuitBreaker, RetryPolicy, Skipped, Transient, retry_after
from adapters.vendors import is_untrusted, trusted
from core.errors import FootnoteError
from core.events import Observer, Retried, Service, unobserved

if TYPE_CHECKING:
    from cohere import AsyncClientV2
    from cohere.core.api_error import ApiError
    from httpx import AsyncClient, Response


REFUSED_KEY = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, 498)
REFUSED_REQUEST = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
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
PATIENCE = 3.0  # seconds: whoever searches gives up before a try does


@dataclass(frozen=True, slots=True)
class CohereTimeouts:
    """How many seconds one try may take, from the first byte sent to the last received."""

    query: float = 5.0  # a person waits
    passages: float = 60.0


TIMEOUTS = CohereTimeouts()


@dataclass(eq=False, repr=False, kw_only=True)
class CohereService:
    """Calls Cohere for one *model*, which a *setting* names; closed, it opens again at the next call.

    Settings have checked the address and the key.
    """

    setting: ClassVar[str]
    service: ClassVar[Service]
    """What events call it."""

    model: str = field(kw_only=False)
    api_key: InitVar[str]
    base_url: InitVar[str | None] = None
    retries: RetryPolicy = SERVICE
    observer: Observer = unobserved
    timeouts: CohereTimeouts = TIMEOUTS
    turns: Turns = field(default_factory=Turns, init=False)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _opened: tuple[AsyncClientV2, AsyncClient] | None = field(default=None, init=False)

    def __post_init__(self, api_key: str, base_url: str | None) -> None:
        self._key, self._url = SecretStr(api_key), base_url or COHERE
        self.address = urlsplit(self._url).netloc
        observed = self.retries.observed(self.observer, partial(Retried, self.service))
        self.retries = replace(observed, judge=self._judge)
        self.breaker = CircuitBreaker(self.service, self.observer, PATIENCE, self.retries.clock)

    async def call(
        self,
        work: Callable[[AsyncClientV2], Awaitable[Result]],
        *,
        timeout: float,  # noqa: ASYNC109 - of one try
        is_awaited: bool = True,
    ) -> Result:
        """Do the *work*, again where that may help. Raises `CallFailed`, at once where somebody waits in vain."""

        async def attempt() -> Result:
            async with self._opening:
                self._opened = self._opened or await asyncio.to_thread(_build, self._key, self._url, self.turns)
                client, _ = self._opened
            with self.breaker.watched(self._judge) if is_awaited else nullcontext():
                async with asyncio.timeout(timeout):
                    return await work(client)

        try:
            return await self.retries.call(attempt)
        except Skipped as skipped:
            failure = CallFailed(str(skipped), reason=str(skipped), by_operator=False)
        except Exception as error:  # noqa: BLE001 - the client leaks several families of exceptions
            sentence, _, by_operator = self._diagnose(error)
            reason = type(error).__name__
            if status := getattr(error, "status_code", None):  # of its text only the service's own message is kept
                message = _message(error)
                message = message.replace(self._key.get_secret_value(), "***") if self._key else message
                reason += f", status {status}: {message[:LONGEST_QUOTE]}"
            failure = CallFailed(sentence, reason=reason, by_operator=by_operator)
        raise failure  # out here, so that the client's exception is no part of it

    def _judge(self, error: Exception) -> Transient | None:
        return self._diagnose(error)[1]

    def _diagnose(self, error: Exception) -> tuple[str, Transient | None, bool]:
        """Return a sentence for people, why trying again may help if it may, and whether an operator has to act."""
        import httpx
        from cohere.core.api_error import ApiError

        match error:
            case ApiError(status_code=int(status)) if status >= HTTPStatus.BAD_REQUEST:
                return self._of_status(status, error)
            case httpx.TransportError() if is_untrusted(error):
                says = f"The certificate at {self.address} is not trusted."
                return f"{says} Check COHERE_BASE_URL and the system's certificates.", None, True
            case TimeoutError() | httpx.TransportError():
                is_late = isinstance(error, TimeoutError | httpx.TimeoutException)
                says = f"Cohere cannot be reached at {self.address}. Try again in a moment."
                return says, Transient("time-out" if is_late else "connection"), False
            case _:  # the client fails in many ways on answers of another shape
                return f"What answers at {self.address} is not Cohere's API. Check COHERE_BASE_URL.", None, True

    def _of_status(self, status: int, error: ApiError) -> tuple[str, Transient | None, bool]:
        is_refused, names_model = status in REFUSED_REQUEST, "model" in _message(error).lower()
        if status in REFUSED_KEY:
            return "Cohere refused the key. Check COHERE_API_KEY.", None, True
        if status == HTTPStatus.PAYMENT_REQUIRED:
            says = "Cohere requires payment for the account of COHERE_API_KEY. See its billing page."
            return says, None, True
        if status == HTTPStatus.NOT_FOUND or (is_refused and names_model):
            return f"Cohere does not know the model {self.model}. Check {self.setting}.", None, True
        if is_refused:
            return f"Cohere refused the request. Check {self.setting} and COHERE_DIMENSION.", None, True
        says = f"Cohere is not working at the moment (status {status}). Try again later."
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            says = "The request limit of COHERE_API_KEY has been reached. Wait a little, or have it raised."
        elif status == HTTPStatus.NOT_IMPLEMENTED or (status < 500 and status != HTTPStatus.REQUEST_TIMEOUT):  # noqa: PLR2004 - from there on the server's own failures, but not what it cannot do
            return says, None, False
        return says, Transient(f"status {status}", retry_after(error.headers or {})), False

    async def aclose(self) -> None:
        """Let go of all connections; the next call opens new ones."""
        opened, self._opened = self._opened, None
        self.turns, self._opening = Turns(), asyncio.Lock()  # a lock stays with its event loop
        if opened is not None:
            await opened[1].aclose()


def _message(error: Any) -> str:
    """Return what the service itself said of an error."""
    body: Any = getattr(error, "body", None)
    return str(cast("dict[str, object]", body).get("message") or "") if isinstance(body, dict) else ""


def unusable(what: str, *, by_operator: bool = False) -> CallFailed:
    """Return the failure of a call that was answered, but not with what was asked for."""
    return CallFailed(f"Cohere's answer cannot be used: {what}.", reason=what, by_operator=by_operator)


def _build(api_key: SecretStr, url: str, turns: Turns) -> tuple[AsyncClientV2, AsyncClient]:
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
        verify=trusted(),
        event_hooks={"response": [in_turn]},
    )
    client = AsyncClientV2(
        api_key.get_secret_value(),
        base_url=url,
        max_retries=0,
        httpx_client=http,
        log_warning_experimental_features=False,
    )
    return client, http
