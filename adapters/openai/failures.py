"""What went wrong, in a sentence for a person, and whether it may pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.retry import Skipped, Transient, retry_after
from adapters.vendor_errors import is_untrusted

if TYPE_CHECKING:
    from openai import APIStatusError

WRONG_KEY = "The chat model's service refused the key. Check OPENAI_API_KEY and OPENAI_BASE_URL."
FORBIDDEN = "The key may not use the chat model {model!r}. Check OPENAI_API_KEY and OPENAI_MODEL, or ask for access."
UNKNOWN_MODEL = "The chat model {model!r} is not known at this address. Check OPENAI_MODEL and OPENAI_BASE_URL."
NO_CREDIT = "The account of the chat model has no credit left. Top it up, or use another OPENAI_API_KEY."
TOO_LONG = "The conversation is too long for the chat model {model!r}. Set OPENAI_MODEL to one that reads more."
REFUSED = (
    "The chat model's service refused the request. Check OPENAI_MODEL, its name and that it can call tools, and "
    "OPENAI_BASE_URL."
)
PAGE = "A web page came in place of the chat model's answer. Try again in a moment, or check OPENAI_BASE_URL."
BUSY = "The chat model's service has too much to do. Try again in a moment."
FAILED = "The chat model's service failed. Try again in a moment."
UNREACHABLE = "The chat model's service cannot be reached. Try again in a moment, or check OPENAI_BASE_URL."
CERTIFICATE = (
    "The certificate of the chat model's service is not trusted. Check OPENAI_BASE_URL and the system's certificates."
)
SLOW = "The chat model's service did not answer in time. Try again in a moment."
BROKEN = "The chat model's service gave no complete answer. Try again in a moment."

LASTING: Mapping[int | str, str] = {
    401: WRONG_KEY,
    403: FORBIDDEN,
    404: UNKNOWN_MODEL,
    "model_not_found": UNKNOWN_MODEL,
    "insufficient_quota": NO_CREDIT,
    "context_length_exceeded": TOO_LONG,
}
WORDS = {"api key not valid": WRONG_KEY, "maximum context length": TOO_LONG}  # of Gemini and of vLLM


class BrokenAnswer(Exception):
    """What came is no answer; `str` says in a few words why."""


class WebPage(BrokenAnswer):
    """What came is for people: somebody else lives there, or a gateway on the way has something to say."""


class EndlessAnswer(BrokenAnswer):
    """What comes is larger or takes longer than any answer; another one would be no shorter."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure as people and retries want it; `lasting` when only an operator can end it, or probably so."""

    sentence: str
    passing: Transient | None = None
    lasting: bool = False


def failures() -> tuple[type[Exception], ...]:
    """Name all that the client library may raise; anything else is a mistake of ours."""
    from aiohttp import ClientError
    from httpx2 import HTTPError, StreamError
    from openai import OpenAIError

    # ValueError: the client lets out bad JSON and bad UTF-8 of an event as they are.
    return (
        OpenAIError,
        HTTPError,
        StreamError,
        ClientError,
        BrokenAnswer,
        Skipped,
        ValueError,
        RecursionError,
        OSError,
    )


def diagnose(error: Exception, model: str) -> Failure:
    """Find out what a failure means."""
    from aiohttp import ClientError
    from httpx2 import HTTPError
    from openai import APIConnectionError, APIStatusError

    match error:
        case Skipped():
            return Failure(str(error))
        case APIStatusError():
            return _of_status(error, model)
        case APIConnectionError() | HTTPError() | ClientError() | OSError():
            return _of_connection(error)
        case BrokenAnswer():
            is_page, passing = isinstance(error, WebPage), Transient(str(error))
            return Failure(PAGE if is_page else BROKEN, None if isinstance(error, EndlessAnswer) else passing, is_page)
        case ValueError() | RecursionError():
            return Failure(BROKEN, Transient("an event that is no JSON"))
        case _:
            return Failure(FAILED, Transient("an error in place of an answer"))


def _of_status(error: APIStatusError, model: str) -> Failure:
    status = error.status_code
    sentence = LASTING.get(status) or LASTING.get(error.code or "")
    if sentence is None and status == 400:  # noqa: PLR2004 - a bad request, of which only the words say what was bad
        text = error.response.text.lower()
        sentence = next((says for words, says in WORDS.items() if words in text), None)
    if sentence is not None:
        return Failure(sentence.format(model=model), lasting=True)
    if status in {408, 409, 429} or status >= 500:  # noqa: PLR2004 - all of the server's own failures
        pause = retry_after(error.response.headers)
        return Failure(BUSY if status == 429 else FAILED, Transient(f"status {status}", pause))  # noqa: PLR2004 - the status of a rate limit
    return Failure(REFUSED, lasting=True)


def _of_connection(error: Exception) -> Failure:
    from httpx2 import ReadTimeout

    if is_untrusted(error):
        return Failure(CERTIFICATE, lasting=True)
    if isinstance(error, ReadTimeout | TimeoutError) or isinstance(error.__cause__, ReadTimeout):
        return Failure(SLOW, Transient("timed out"))
    return Failure(UNREACHABLE, Transient("no connection"))
