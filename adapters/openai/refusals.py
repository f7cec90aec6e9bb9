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
from adapters.vendors import without_echo

LOOKED_AT = 20_000  # characters of what a service says; a page is longer
SMALLEST, LARGEST = 256, 100_000_000  # tokens that a context may have
TOO_LONG = re.compile(
    r"context.?(?:length|window|size|limit)|maximum (?:model|prompt|input|sequence) length|prompt is too long"
    r"|input (?:is |length |tokens? )?(?:is )?(?:too long|exceed)|too many (?:input )?tokens|token limit: ?\d"
    r"|reduce (?:the length|your message)|maximum number of tokens|request (?:is )?too large|exceed_context"
    r"|string_above_max_length|`inputs` tokens",
    re.IGNORECASE,
)
NO_ROOM = re.compile(r"context (?:length|window|limit)|in the completion", re.IGNORECASE)
"""What is said also where the prompt would fit, and only the answer that was asked for would not."""
NO_TOOLS = re.compile(
    r"supports? (?:the use of )?(?:tools?|function)\b(?![_ ]choice)|support tool (?:use|call)"
    r"|tool (?:use|call\w*) is not"
    r"|\btools?\b[^.{]{0,40}\bnot (?:supported|enabled|available|allowed)|function.?call\w*[^.{]{0,40}\bnot "
    r"|--jinja|--enable-auto-tool-choice|--tool-call-parser"
    r"|(?:unrecogni[sz]ed|unsupported|unknown|unexpected|extra|not permitted)[^.{]{0,60}\btools\b",
    re.IGNORECASE,
)
_LIMITS = tuple(
    re.compile(each, re.IGNORECASE)
    for each in (
        r"(\d{3,9}) (?:maximum|max\b)",
        r"(?:maximum|max(?!_)|available|configured)[^.\d]{0,70}?(\d{3,9})",
        r">\s*(\d{3,9})",
        r"(?:must be <=|cannot exceed|context (?:length|window|size)(?: of| is)? ?\(?|\blimit(?: of|:)?) ?(\d{3,9})",
    )
)
_SLOT = re.compile(r'"n_ctx"\s*:\s*(\d+)')
_AFTER = re.compile(
    r"(?:try again|retry) (?:in|after) (?:(\d+)h)? ?(?:(\d+)m(?!s))? ?(?:(\d+(?:\.\d+)?) ?(ms|s)\w*)?", re.IGNORECASE
)
_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')
_RESET = re.compile(r'"X-RateLimit-Reset"\s*:\s*"?(\d{13})', re.IGNORECASE)


class BrokenAnswer(Exception):
    """What came is no answer; `str` says why in a few words, and `said` is the service's own error, if any."""

    def __init__(self, why: str, said: object = None) -> None:
        """Keep what the service said beside the few words."""
        super().__init__(why)
        self.said = said


class WebPage(BrokenAnswer):
    """What came is for people: somebody else lives there, or a gateway on the way has something to say."""


class EndlessAnswer(BrokenAnswer):
    """What comes is larger or takes longer than any answer; another one would be no shorter."""


class Withheld(BrokenAnswer):
    """The service holds the answer back for what is in it, or in the question; it would do so again."""


class ToolSlip(BrokenAnswer):
    """The model called a tool where it may not, or in a way that its own service does not understand."""


@dataclass(frozen=True, slots=True)
class ServiceRefusal:
    """The words of a service; `status` is None for what came in the middle of a stream, unless its code is one."""

    status: int | None
    code: str
    kind: str
    message: str
    text: str
    wait: float | None = None

    @property
    def is_about_length(self) -> bool:
        """Whether the prompt is longer than the model can read."""
        is_sized = self.status in {None, 400, 413, 422, 429, 500}
        is_late = self.status == 429 and "too large" not in self.text.lower()  # noqa: PLR2004 - the status of a rate limit
        return is_sized and not is_late and (self.status == 413 or TOO_LONG.search(self.text) is not None)  # noqa: PLR2004 - what is too large

    @property
    def is_about_tools(self) -> bool:
        """Whether the model, or the server as it was started, calls no tools."""
        return NO_TOOLS.search(self.text) is not None

    def told(self, sent: Iterable[str]) -> str:
        """Return it in a line for the operator, without what was *sent*."""
        status = f"status {self.status}" if self.status else ""
        head = ", ".join(
            each for each in (status, self.kind, self.code if self.code != str(self.status) else "") if each
        )
        return without_echo(f"{head}: {self.message}" if head else self.message, sent)

    def limit(self, sent: Iterable[str]) -> int | None:
        """Return how many tokens the model can read, if that is said; numbers that were *sent* say nothing."""
        said = re.sub(r"(?<=\d),(?=\d{3})", "", without_echo(self.message, sent, longest=LOOKED_AT))
        found = (_SLOT.search(self.text), *(pattern.search(said) for pattern in _LIMITS))
        sizes = (int(each[1]) for each in found if each)
        return next((size for size in sizes if SMALLEST <= size <= LARGEST), None)


def refusal_of(error: Exception) -> ServiceRefusal | None:
    """Return what a service said; None where the error is not one of its own."""
    from httpx2 import HTTPStatusError

    if isinstance(error, HTTPStatusError):
        return _read(error.response.text[:LOOKED_AT], error.response.status_code, error.response.headers)
    if isinstance(error, BrokenAnswer) and error.said is not None:
        return _read(json.dumps(error.said, ensure_ascii=False)[:LOOKED_AT], None, {})
    return None


def _read(text: str, status: int | None, headers: Mapping[str, str]) -> ServiceRefusal:
    try:
        body: Any = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    body = body[0] if isinstance(body, list) and body else body  # pyright: ignore[reportUnknownVariableType] - the service's JSON
    fields = _fields(body)
    error = _fields(fields.get("error")) or fields
    message = next((each for each in _messages(fields, error) if each), "" if fields else text)
    if raw := _fields(error.get("metadata")).get("raw"):  # what stands behind a gateway says what is wrong
        message = f"{message}: {raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)}"
    code, kind = (_name(error.get(name)) for name in ("code", "type"))
    if status is None and re.fullmatch(r"[45]\d\d", code):
        status = int(code)
    wait = retry_after(headers)
    return ServiceRefusal(status, code, kind, message, text, _wait(text) if wait is None else wait)


def _messages(fields: dict[str, Any], error: dict[str, Any]) -> Iterable[str]:
    for each in (error.get("message"), error.get("detail"), fields.get("error"), fields.get("message")):
        yield each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) if each else ""


def _wait(text: str) -> float | None:
    """Return the seconds for which a service asks to be left alone in its words, as several do."""
    if found := _DELAY.search(text):
        return float(found[1])
    if found := _RESET.search(text):
        return max(int(found[1]) / 1000 - time.time(), 0.0)
    found = _AFTER.search(text)
    if found is None or not any(found.groups()):
        return None
    hours, minutes, seconds, unit = found.groups()
    return (
        int(hours or 0) * 3600
        + int(minutes or 0) * 60
        + float(seconds or 0) / (1000 if unit and unit.lower() == "ms" else 1)
    )


def _fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] - the service's JSON


def _name(value: object) -> str:
    return str(value) if isinstance(value, str | int) and value not in {"", "<nil>"} else ""
