"""What a service said as it refused a request or failed, and what can be learned from its words.

Services agree on no codes, so that most of it is read from the sentences that each of them is known to write.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.retry import retry_after
from adapters.vendors import LONGEST_DETAIL, Sent

LOOKED_AT = 20_000  # characters of what a service says; a page is longer
SMALLEST, LARGEST = 256, 100_000_000  # tokens that a context may have
TOO_LONG = re.compile(
    r"context.?(?:length|window|size|limit)|maximum (?:model|prompt|input|sequence) length|prompt is too long"
    r"|input (?:is |length |tokens? )?(?:is )?(?:too long|exceed)|too many (?:input )?tokens|token limit: ?\d"
    r"|reduce (?:the length|your message)|maximum number of tokens|request (?:is )?too large|exceed_context"
    r"|string_above_max_length|`inputs` tokens|range of input length|less than max_seq_len|prompt exceeds max"
    r"|input length \d+ exceeds|must be at least 1, got -\d",
    re.IGNORECASE,
)
NO_ROOM = re.compile(r"context (?:length|window|limit)|in the completion|tokens per min", re.IGNORECASE)
"""What is said also where the prompt would fit, and only the answer that was asked for would not.

Some services count both for what may be read and written within a minute.
"""
NO_TOOLS = re.compile(
    r"supports? (?:the use of )?(?:tools?|function)\b(?![_ ]choice)|support tool (?:use|call)"
    r"|tool (?:use|call\w*) is not"
    r"|\btools?\b[^.{]{0,40}\bnot (?:supported|enabled|available|allowed)|function.?call\w*[^.{]{0,40}\bnot "
    r"|--jinja|--enable-auto-tool-choice|--tool-call-parser"
    r"|(?:unrecogni[sz]ed|unsupported|unknown|unexpected|extra|not permitted)[^.{]{0,60}\btools\b",
    re.IGNORECASE,
)
NO_MONEY = re.compile(
    r"credit balance is too low|budget (?:has been )?exceeded|budget_exceeded|insufficient (?:balance|credits?|funds)"
    r"|used all (?:available|of your) credits|out of credits|spending limit|have any credits|余额不足",
    re.IGNORECASE,
)
NO_MODEL = re.compile(
    r"model[ _]not[ _](?:exist|found|available)|not a valid model|invalid[ _]model\b|unknown model|no such model"
    r"|(?:failed|unable) to (?:load|access) (?:the )?model|with the specified model|supported by any provider"
    r"|\bmodel\b[^.]{0,80} (?:does not exist|not found|no longer available|has been (?:deprecated|retired|removed))",
    re.IGNORECASE,
)
LOADING = re.compile(r"(?<!\berror )\bloading (?:the )?model|\bmodel\b.{0,100} is (?:\w+ )?loading", re.IGNORECASE)
SLIP = re.compile(
    r"tool_use_failed|model called a tool|parsing tool call|failed to parse (?:input|tool call)", re.IGNORECASE
)
FILTER = re.compile(
    r"content_filter|content management policy|(?:input|prompt) was flagged|content (?:violates|exists risk)"
    r"|data_?inspection_?failed",
    re.IGNORECASE,
)
BAD_KEY = re.compile(r"api key (?:not valid|expired)", re.IGNORECASE)
ANYWHERE = ("error", "message", "errors", "detail")  # what is wrong, where it is not within the error
ECHO = 36  # characters in a row that a service takes from a request; a shorter run can be its own words
QUOTED = frozenset({"input", "failed_generation", "url"})  # beside what is wrong; what people or the model wrote
OF_MINIMAX = {1002: 429, 1004: 401, 1008: 402, 1039: 429, 2013: 400, 2049: 401}  # its own codes, as a status
PAUSES = {503: 60.0, 529: 60.0}  # seconds of a pause that are kept; what is overloaded may be well any moment
LONGEST_PAUSE = 900.0
_LIMITS = tuple(
    re.compile(each, re.IGNORECASE)
    for each in (
        r"(\d{3,9}) (?:maximum|max\b)",
        r"context (?:length|window|size)(?: of| is| limit)?(?: only)? ?\(?(\d{3,9})",
        r"(?:maximum|max(?!_)|available|configured)[^.\d]{0,70}?(\d{3,9})",
        r">\s*(\d{3,9})",
        r"(?:must be <=|cannot exceed) ?(\d{3,9})",
        r"(?:\blimit(?: of| is|:)?|max_seq_len \(|length should be \[1,) ?(\d{3,9})",
    )
)
_AFTER = re.compile(
    r"(?:(?:try again|retry) (?:in|after)|please wait) (?:(\d+)h)? ?(?:(\d+)m(?!s))? ?(?:(\d+(?:\.\d+)?) ?(ms|s)\w*)?",
    re.IGNORECASE,
)
_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')
_RESET = re.compile(r'"X-RateLimit-Reset"\s*:\s*"?(\d{13})', re.IGNORECASE)


class BrokenAnswer(Exception):
    """What came is no answer; `str` says why in a few words, and `said` is the service's own error, if any.

    It is a `refusal` once it was compared with what was sent.
    """

    refusal: ServiceRefusal | None = None

    def __init__(self, why: str, said: object = None) -> None:
        """Keep what the service said beside the few words."""
        super().__init__(why)
        self.said = said


class WebPage(BrokenAnswer):
    """What came is for people: somebody else lives there, or a gateway on the way has something to say."""


class EndlessAnswer(BrokenAnswer):
    """What comes is larger or takes longer than any answer; another one would be no shorter."""


class UsedUp(BrokenAnswer):
    """All the tokens that the model may write were thoughts; another attempt would take as many."""


class OnlyThoughts(BrokenAnswer):
    """The model wrote nothing but thoughts, or what its server takes for them."""


class Withheld(BrokenAnswer):
    """The service holds the answer back for what is in it, or in the question; it would do so again."""


class ToolSlip(BrokenAnswer):
    """The model called a tool where it may not, or in a way that its own service does not understand."""


@dataclass(frozen=True, slots=True)
class ServiceRefusal:
    """What a service said, without what was sent to it.

    `status` is None for what came in the middle of a stream, unless its code is one. The `words` are its own, which
    can be acted on, and `told` is the line for the operator, in which shorter echoes are missing too.
    """

    status: int | None
    code: str
    kind: str
    words: str
    told: str
    slot: int | None = None
    wait: float | None = None

    @property
    def is_about_length(self) -> bool:
        """Whether the prompt is longer than the model can read."""
        is_sized = self.status in {None, 400, 413, 422, 429, 500}
        is_late = self.status == 429 and "too large" not in self.words.lower()  # noqa: PLR2004 - the status of a rate limit
        return is_sized and not is_late and (self.status == 413 or TOO_LONG.search(self.words) is not None)  # noqa: PLR2004 - what is too large

    @property
    def limit(self) -> int | None:
        """How many tokens the model can read, if that is said."""
        said = re.sub(r"(?<=\d),(?=\d{3})", "", self.words)
        found = (pattern.search(said) for pattern in _LIMITS)
        sizes = (self.slot or 0, *(int(each[1]) for each in found if each))
        return next((size for size in sizes if SMALLEST <= size <= LARGEST), None)


def refusal_of(error: Exception) -> ServiceRefusal | None:
    """Return what a service said; None where the error is not one of its own."""
    return error.refusal if isinstance(error, BrokenAnswer) else None


def compared(error: Exception, sent: Iterable[str]) -> Exception:
    """Return an error of which is known what the service said with it, and what of that was *sent* to it."""
    from httpx2 import HTTPStatusError

    if isinstance(error, HTTPStatusError):
        status, headers = error.response.status_code, error.response.headers
        said = headers.get("Location") or error.response.text
        error = BrokenAnswer(f"status {status}")
        error.refusal = _read(said, status, headers, Sent(sent))
    elif isinstance(error, BrokenAnswer) and error.said is not None:
        error.refusal = _read(json.dumps(error.said, ensure_ascii=False), None, {}, Sent(sent))
    return error


def _read(text: str, status: int | None, headers: Mapping[str, str], sent: Sent) -> ServiceRefusal:
    body = _parsed(text)
    body = body[0] if isinstance(body, list) and body else body  # pyright: ignore[reportUnknownVariableType] - the service's JSON
    fields = fields_of(body)
    error = fields_of(fields.get("error")) or fields_of(fields.get("base_resp")) or fields
    says = *(error.get(each) for each in ("message", "detail", "status_msg")), *(fields.get(each) for each in ANYWHERE)
    message = next((each if isinstance(each, str) else _written(each) for each in says if each), "" if fields else text)
    if raw := fields_of(error.get("metadata")).get("raw"):  # what stands behind a gateway says what is wrong
        inner = _parsed(raw) if isinstance(raw, str) else raw
        message = f"{message}: {raw if inner is None else _written(inner)}"
    message = message[:LOOKED_AT]
    code, kind, param = (_name(error.get(name)) for name in ("code", "type", "param"))
    if status is None:
        status = int(code) if re.fullmatch(r"[45]\d\d", code) else inner_status(fields)
    said = f"status {status}" if status else "", kind, code if code != str(status) else ""
    head = ", ".join(each for each in said if each)
    told = sent.cut_from(f"{head}: {message}" if head else message)[:LONGEST_DETAIL]
    words, slot = sent.cut_from(f"{code} {kind} {param} {message}", ECHO), error.get("n_ctx")
    wait = retry_after(headers)
    wait = _wait(words, text) if wait is None else wait
    return ServiceRefusal(status, code, kind, words, told, slot if isinstance(slot, int) else None, wait)


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _parsed(text: str) -> Any:
    """Return what a service says, without what is quoted in it; None where it is no JSON."""
    try:
        return json.loads(text, object_hook=lambda each: {name: each[name] for name in each if name not in QUOTED})
    except (ValueError, RecursionError):
        return None


def _wait(words: str, text: str) -> float | None:
    """Return the seconds for which a service asks to be left alone in its *words*, or beside them, as several do."""
    if found := _DELAY.search(text, 0, LOOKED_AT):
        return float(found[1])
    if found := _RESET.search(text, 0, LOOKED_AT):
        return max(int(found[1]) / 1000 - time.time(), 0.0)
    found = _AFTER.search(words)
    if found is None or not any(found.groups()):
        return None
    hours, minutes, seconds, unit = (each or "0" for each in found.groups())
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds) / (1000 if unit.lower() == "ms" else 1)


def fields_of(value: Any) -> dict[str, Any]:
    """Return an object of the service's JSON; an empty one for anything else."""
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] - the service's JSON


def inner_status(fields: Mapping[str, Any]) -> int | None:
    """Return the status that MiniMax gives within an answer, if that is a refusal."""
    code = fields_of(fields.get("base_resp")).get("status_code")
    return OF_MINIMAX.get(code, 500) if isinstance(code, int) and code else None


def _name(value: object) -> str:
    return str(value) if isinstance(value, str | int) and value not in {"", "<nil>"} else ""
