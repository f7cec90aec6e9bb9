"""What goes wrong between Cohere and us: whether it may pass, and what a person can do about it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast

from adapters.retry import Transient, retry_after
from adapters.vendor_errors import is_untrusted
from core.errors import FootnoteError

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
        case ApiError(status_code=int(status)) if _passes(status):
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


def _passes(status: int) -> bool:
    theirs = status >= HTTPStatus.INTERNAL_SERVER_ERROR and status != HTTPStatus.NOT_IMPLEMENTED
    return theirs or status in PASSING


def _message(body: Any) -> str:
    if not isinstance(body, dict):
        return ""
    return str(cast("dict[str, object]", body).get("message") or "")
