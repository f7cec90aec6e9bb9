"""What goes wrong with a Qdrant server, in our words."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from adapters.certificates import is_untrusted
from adapters.retry import Transient
from adapters.vendor_text import quoted
from core.errors import RetrievalUnavailable

if TYPE_CHECKING:
    from qdrant_client.http.exceptions import UnexpectedResponse

UNREACHABLE = "The Qdrant server cannot be reached. Check QDRANT_URL, and whether the server runs."
SLOW = "The Qdrant server did not answer in time. Try again in a moment."
BUSY = "The Qdrant server is too busy, or in trouble. Try again in a moment; its log says why."
REFUSED = "The Qdrant server refused the request. Its log says why."
KEY = "The Qdrant server refused the key. Check QDRANT_API_KEY."
RIGHTS = "The key in QDRANT_API_KEY has not enough rights for that. Reading documents in needs a key that may write."
STRANGER = "What answers is not a Qdrant server. Check QDRANT_URL."
CERTIFICATE = "The certificate of the Qdrant server is not trusted. Check QDRANT_URL and the system's certificates."
FOREIGN = (
    "The Qdrant server answered with something that Footnote did not write. Check QDRANT_URL, or set QDRANT_COLLECTION "
    "to a name that is free and read the documents again."
)
GONE = "The collection has just been replaced. Try again."

TIMEOUT, TOO_MANY, SERVER_ERROR = 408, 429, 500


class WrongSettings(RetrievalUnavailable):
    """An operator has to change something; whoever asks a question meanwhile is told that nothing can be searched."""


class Missing(RetrievalUnavailable):
    """There is no such collection."""


def judge(error: Exception) -> Transient | None:
    """Say whether a failure may pass."""
    from httpx import TimeoutException, TransportError
    from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    match error:
        case TimeoutError() | ResponseHandlingException(source=TimeoutException()):
            return Transient("no answer in time")
        case ResponseHandlingException(source=TransportError()) if not is_untrusted(error):
            return Transient("no connection")
        case UnexpectedResponse(status_code=int(status)) if status in {TIMEOUT, TOO_MANY} or status >= SERVER_ERROR:
            return Transient(f"status {status}")
        case ResourceExhaustedResponse():
            return Transient(f"status {TOO_MANY}", wait=float(error.retry_after_s))
        case QdrantException():  # asked to wait, but not in seconds
            return Transient(f"status {TOO_MANY}")
        case _:
            return None


@contextmanager
def translated(*, secret: str) -> Generator[None]:
    """Turn every failure into one of ours, with the words of the failure as its cause, but for the *secret*."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the client leaks several families of exceptions
        failure, cause = _translate(error), quoted(error, secret, said=_words(error))
    else:
        return
    raise failure from cause  # out here, so that the client's exception is no part of it


def _words(error: Exception) -> str | None:
    """Give what the server said as a whole; the client's text has only its beginning."""
    from qdrant_client.http.exceptions import UnexpectedResponse

    if isinstance(error, UnexpectedResponse):
        return f"status {error.status_code}, {error.content.decode(errors='replace')}"
    return None


def _translate(error: Exception) -> RetrievalUnavailable:
    from httpx import TimeoutException, TransportError
    from qdrant_client.common.client_exceptions import QdrantException
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    match error:
        case TimeoutError() | ResponseHandlingException(source=TimeoutException()):
            return RetrievalUnavailable(SLOW)
        case ResponseHandlingException(source=TransportError()):
            return WrongSettings(CERTIFICATE) if is_untrusted(error) else RetrievalUnavailable(UNREACHABLE)
        case UnexpectedResponse():
            return _of_status(error)
        case QdrantException():
            return RetrievalUnavailable(BUSY)
        case ResponseHandlingException() | ValueError():  # JSON of another service, a page of HTML, or none in memory
            return Missing(GONE) if str(error).endswith("not found") else WrongSettings(STRANGER)
        case _:
            return RetrievalUnavailable(REFUSED)


def _of_status(error: UnexpectedResponse) -> RetrievalUnavailable:
    match error.status_code:
        case 401:
            return WrongSettings(KEY)
        case 403:
            return WrongSettings(RIGHTS)
        case 404:
            return Missing(GONE) if _is_qdrant(error) else WrongSettings(STRANGER)
        case int(status) if status in {TIMEOUT, TOO_MANY} or status >= SERVER_ERROR:
            return RetrievalUnavailable(BUSY)
        case _:
            return RetrievalUnavailable(REFUSED)


def _is_qdrant(error: UnexpectedResponse) -> bool:
    """Tell a server that knows no such collection from one that knows no such path."""
    try:
        body = error.structured()
    except ValueError:
        return False
    return isinstance(body.get("status"), dict)
