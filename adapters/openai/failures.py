"""What went wrong, in a sentence for a person, and whether it may pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from adapters.openai.refusals import (
    BAD_KEY,
    FILTER,
    LOADING,
    NO_MODEL,
    NO_MONEY,
    SLIP,
    BrokenAnswer,
    EndlessAnswer,
    OnlyThoughts,
    ServiceRefusal,
    ToolSlip,
    UsedUp,
    WebPage,
    Withheld,
    refusal_of,
)
from adapters.retry import Skipped, Transient
from adapters.vendors import is_untrusted
from core.errors import ShutOut
from core.messages.wording import about

WRONG_KEY = "The chat model's service refused the key. Check OPENAI_API_KEY and OPENAI_BASE_URL."
FORBIDDEN = "The key cannot use the chat model {model!r}. Check OPENAI_API_KEY and OPENAI_MODEL, or ask for access."
UNKNOWN_MODEL = "The chat model {model!r} is not known at this address. Check OPENAI_MODEL and OPENAI_BASE_URL."
NO_SERVICE = "There is no chat model at this address. Check OPENAI_BASE_URL, which often ends in /v1, and OPENAI_MODEL."
NO_CREDIT = "The account of the chat model has no credit left. Top it up, or use another OPENAI_API_KEY."
TOO_LONG = (
    "The conversation is too long for the chat model {model!r}. Set OPENAI_CONTEXT_TOKENS to what it reads, or "
    "OPENAI_MODEL to one that reads more."
)
REFUSED = (
    "The chat model's service refused the request. Check OPENAI_MODEL, its name and that it can call tools, and "
    "OPENAI_BASE_URL."
)
WITHHELD = (
    "The chat model's service held back the answer because of what is in it, or in the question (a content filter)."
)
PAGE = "The chat model's service answered with a web page. Try again in a moment, or check OPENAI_BASE_URL."
BUSY = "The chat model's service is overloaded. Try again in {}."
FAILED = "The chat model's service failed. Try again in a moment."
UNREACHABLE = "The chat model's service cannot be reached. Try again in a moment, or check OPENAI_BASE_URL."
CERTIFICATE = (
    "The certificate of the chat model's service is not trusted. Check OPENAI_BASE_URL and the system's certificates."
)
SLOW = (
    "The chat model's service did not answer in time. Try again in a moment, or set OPENAI_FIRST_SECONDS, "
    "OPENAI_SECONDS or FOOTNOTE_ANSWER_SECONDS to more."
)
BROKEN = "The chat model's service did not give a complete answer. Try again in a moment."
ENDLESS = "The chat model did not finish. Set OPENAI_MAX_TOKENS lower, or FOOTNOTE_ANSWER_SECONDS higher."
ONLY_THOUGHTS = (
    "The chat model wrote thoughts and no answer. If it always does, check how its server tells the two apart, as by "
    "--reasoning-parser."
)
USED_UP = "The chat model used up its tokens before the first word. Set OPENAI_MAX_TOKENS higher, or its context."

LASTING: Mapping[int | str, str] = {
    401: WRONG_KEY,
    402: NO_CREDIT,
    403: FORBIDDEN,
    404: UNKNOWN_MODEL,
    410: UNKNOWN_MODEL,
    "model_not_found": UNKNOWN_MODEL,
    "model_decommissioned": UNKNOWN_MODEL,
    "insufficient_quota": NO_CREDIT,
    "exceeded_current_quota_error": NO_CREDIT,
}
TOO_MANY, UNAVAILABLE, OVERLOADED = 429, 503, 529
BUSY_STATUSES = frozenset({TOO_MANY, UNAVAILABLE, OVERLOADED})
PASSING = frozenset({408, 409, TOO_MANY})
OF_PROMPT = frozenset({400, 422})
NO_ADDRESS = frozenset({301, 302, 303, 307, 308, 404, 405})
NAMED = ("model", "deployment", "endpoints")


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure as people and retries want it.

    It is `passing` where a later call may work, and `lasting` when only an operator can end it, or probably so. It is
    not met `again` at once by whoever was given all the time that there is. A `slip` is the model's own. One that
    `is_final` would be met by another model too, such as a prompt that `is_long`. What `is_loading` is waited for.
    """

    sentence: str
    passing: Transient | None = None
    lasting: bool = False
    again: bool = True
    is_slip: bool = False
    is_final: bool = False
    is_long: bool = False
    is_busy: bool = False
    is_loading: bool = False


def failures() -> tuple[type[Exception], ...]:
    """Name all that the client library may raise; anything else is a mistake of ours."""
    from aiohttp import ClientError
    from httpx2 import HTTPError, StreamError

    # ValueError: the client lets out bad JSON and bad UTF-8 of an event as they are.
    return HTTPError, StreamError, ClientError, BrokenAnswer, Skipped, ShutOut, ValueError, RecursionError, OSError


def diagnose(error: Exception, model: str) -> Failure:
    """Find out what a failure means."""
    if (refusal := refusal_of(error)) and (found := _of_words(refusal, model) or _of_status(refusal)):
        return found
    match error:
        case Skipped():
            return Failure(str(error), again=False, is_busy=True)
        case ShutOut(wait=wait):
            return Failure(busy(wait), Transient("a pause", wait), again=False, is_busy=True)
        case BrokenAnswer():
            return _of_answer(error)
        case ValueError() | RecursionError() if not isinstance(error, OSError):  # as of a certificate
            return Failure(BROKEN, Transient("an event that is not JSON"))
        case _:
            return _of_connection(error)


def busy(wait: float | None) -> str:
    """Return the sentence for a service that wants to be left alone for so many seconds, as far as it is known."""
    return BUSY.format("a moment" if wait is None or wait <= 1 else about(timedelta(seconds=wait)))


def _of_words(refusal: ServiceRefusal, model: str) -> Failure | None:
    """Return what a service means where its words or its code say so."""
    text = refusal.words.lower()
    if SLIP.search(text):
        return Failure(BROKEN, Transient("a failed tool call"), is_slip=True)
    if refusal.is_about_length:
        return Failure(TOO_LONG.format(model=model), lasting=True, is_final=True, is_long=True)
    if refusal.status in {None, 400, 403, 422} and FILTER.search(text):
        return Failure(WITHHELD, is_final=True)
    told = (refusal.status or 0, refusal.code, refusal.kind)
    sentence = next((LASTING[each] for each in told if each in LASTING), None)
    if refusal.status in NO_ADDRESS and not any(each in text for each in NAMED):
        sentence = NO_SERVICE
    if refusal.wait is None and NO_MONEY.search(text):  # with any status; what ends by itself is no empty account
        sentence = NO_CREDIT
    elif sentence is None and BAD_KEY.search(text):  # as Gemini says it, with a 400
        sentence = WRONG_KEY
    elif sentence is None and refusal.status in {None, 400, 422, 500} and NO_MODEL.search(text):
        sentence = UNKNOWN_MODEL
    return Failure(sentence.format(model=model), lasting=True) if sentence else None


def _of_status(refusal: ServiceRefusal) -> Failure | None:
    status = refusal.status
    if status is None:
        return None
    if status == UNAVAILABLE and LOADING.search(refusal.words):
        return Failure(SLOW, Transient("loading the model"), is_busy=True, is_loading=True)
    if status in PASSING or status >= 500:  # noqa: PLR2004 - all of the server's own failures
        is_busy = status in BUSY_STATUSES
        sentence = busy(refusal.wait) if is_busy else FAILED
        return Failure(sentence, Transient(f"status {status}", refusal.wait), is_busy=is_busy)
    return Failure(REFUSED, lasting=True, is_final=status in OF_PROMPT)


def _of_answer(error: BrokenAnswer) -> Failure:
    match error:
        case WebPage():
            return Failure(PAGE, Transient(str(error)), lasting=True)
        case EndlessAnswer():
            return Failure(ENDLESS, is_final=True)
        case Withheld():
            return Failure(WITHHELD, is_final=True)
        case OnlyThoughts():
            return Failure(ONLY_THOUGHTS, Transient(str(error)))
        case UsedUp():
            return Failure(USED_UP, lasting=True)
        case _:
            return Failure(BROKEN, Transient(str(error)), is_slip=isinstance(error, ToolSlip))


def _of_connection(error: Exception) -> Failure:
    from httpx2 import ReadError, ReadTimeout

    if is_untrusted(error):
        return Failure(CERTIFICATE, lasting=True)
    if isinstance(error, ReadTimeout | TimeoutError):
        return Failure(SLOW, Transient("timed out"), again=False)
    return Failure(BROKEN if isinstance(error, ReadError) else UNREACHABLE, Transient("no connection"))
