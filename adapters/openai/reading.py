"""One turn of the model, read from the bytes of a stream or from a whole answer; nothing in it is trusted."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import uuid4

from pydantic_core import from_json

from adapters.openai.client import OpenAILimits
from adapters.openai.failures import BrokenAnswer, EndlessAnswer, failures
from core.model import ModelTurn, ToolCall, Usage

LARGEST = 32 * 1024 * 1024  # bytes, most of them the framing of tokens
LONGEST_EVENT = 1024 * 1024  # bytes
MOST_ARGUMENTS = 20_000  # characters of all calls of a turn; a query of 2,000 has at most 12,000 in JSON
MOST_DRAFTS = 64  # calls of a turn; far more than are ever made
MOST_BLANK = 1_000  # characters before the first word, of which nobody sees any
CUT = frozenset({"length", "max_tokens", "MAX_TOKENS"})  # a service's words for an answer that got too long
OPENINGS = {"<think>": "</think>", "<thinking>": "</thinking>", "<thought>": "</thought>"}
_BLANK = re.compile(r"\s*+")
_BLANK_LINE = re.compile(rb"(?>\r\n|\n|\r){2}")


@dataclass(slots=True)
class Watch:
    """Is told of every piece; whoever sends nothing at all is met by the client's own time limit.

    Services keep a line open by comments, so that bytes alone are no sign of an answer: `heard` is when news came, or
    when a reader who took their time went on.
    """

    limits: OpenAILimits
    heard: float = field(default_factory=time.monotonic)
    _begun: float = field(default_factory=time.monotonic, init=False)
    _size: int = field(default=0, init=False)

    def saw(self, piece: bytes, *, is_news: bool) -> None:
        """Count a piece. Raises `TimeoutError` or `EndlessAnswer` for one too many."""
        now = time.monotonic()
        self._size += len(piece)
        if self._size > LARGEST or now - self._begun > self.limits.whole:
            raise EndlessAnswer("an answer without an end in sight")
        self.heard = now if is_news else self.heard
        if now - self.heard > self.limits.read:
            raise TimeoutError


@dataclass(slots=True)
class Thoughts:
    """Leaves off blocks of thoughts before the first word of an answer; once they `are_over`, marks are only text."""

    held: str = ""
    closing: str = ""
    are_over: bool = False
    _thought: bool = False

    def without(self, text: str) -> str:
        """Return what may be shown of the next piece before they are over; what may yet become a mark is held back."""
        held, at = self.held + text, 0
        while not self.are_over:
            if self.closing:
                end = held.find(self.closing, at)
                if end < 0:
                    self.held = held[max(at, len(held) - len(self.closing)) :]
                    return ""
                at, self.closing = end + len(self.closing), ""
            start = _BLANK.match(held, at).end()  # pyright: ignore[reportOptionalMemberAccess] - it matches nothing too
            if opening := next((mark for mark in OPENINGS if held.startswith(mark, start)), None):
                at, self.closing, self._thought = start + len(opening), OPENINGS[opening], True
            elif any(mark.startswith(held[start : start + len(mark)]) for mark in OPENINGS):
                self.held = held[max(at, len(held) - MOST_BLANK) :]
                return ""
            else:
                at, self.are_over = start if self._thought else at, True
        self.held = ""
        return held[at:]


@dataclass(slots=True)
class PartialCall:
    """A call as far as it has come, or one piece of it; what is missing is empty."""

    index: int | None
    id: str
    name: str
    arguments: list[str]
    extra: Any

    def ends_before(self, piece: PartialCall) -> bool:
        """Return whether the piece begins another call, although index or id say that it belongs to this one.

        Some services number every call 0, some repeat the name or change the id with every piece. A piece that names a
        tool after the arguments are whole begins another call; a piece with neither name nor id never does.
        """
        if piece.id and self.id and piece.id != self.id:
            return bool(piece.name) or is_object("".join(self.arguments))
        if piece.name and self.name and piece.name != self.name:
            return any(self.arguments)
        return bool(piece.name and piece.arguments[0].strip()) and is_object("".join(self.arguments))


@dataclass(slots=True)
class ToolCalls:
    """The calls of one turn, put together from fragments, which differ from service to service."""

    _drafts: list[PartialCall] = field(default_factory=list[PartialCall])
    _size: int = 0

    def add(self, pieces: object) -> None:
        """Take the `tool_calls` of one event, whatever it is; arguments that came as an object are written out.

        Raises `EndlessAnswer` for more than anybody could want to call.
        """
        for raw in cast("list[Any]", pieces) if isinstance(pieces, list) else []:
            if not isinstance(raw, dict):
                continue
            fields = _fields(raw)
            function, index = _fields(fields.get("function")), fields.get("index")
            arguments = function.get("arguments")
            if not isinstance(arguments, str):
                arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
            index, name = index if isinstance(index, int) else None, _words(function.get("name"))
            piece = PartialCall(index, _words(fields.get("id")), name, [arguments], fields.get("extra_content"))
            self._size += len(arguments) + len(name) + 1
            if self._size > MOST_ARGUMENTS:
                raise EndlessAnswer("tool calls without an end in sight")
            newest = reversed(self._drafts)
            if index is None:
                last = self._drafts[-1] if self._drafts else None
                draft = next((each for each in newest if not piece.id or each.id == piece.id), last)
            else:
                draft = next((each for each in newest if each.index == index), None)
            if draft is None or draft.ends_before(piece):
                if len(self._drafts) == MOST_DRAFTS:  # each piece is looked for among them
                    raise EndlessAnswer("tool calls without an end in sight")
                self._drafts.append(piece)
                continue
            draft.id = draft.id or piece.id
            draft.name += name if name != draft.name else ""  # one that is repeated is the same
            draft.arguments += piece.arguments
            draft.extra = piece.extra or draft.extra

    def finish(self, tools: Sequence[str]) -> tuple[tuple[ToolCall, ...], dict[str, Any]]:
        """Return the calls, each with an id of its own, and what the service wants back with them, by id."""
        calls: list[ToolCall] = []
        extras: dict[str, Any] = {}
        for draft in self._drafts:
            id_, arguments = draft.id, "".join(draft.arguments)
            if not id_ or any(call.id == id_ for call in calls):
                id_ = f"call_{uuid4().hex[:24]}"
            name = draft.name
            if not name:  # some services put it into the id, and where there is one tool, it is no other
                named = [tool for tool in tools if tool in draft.id] or list(tools)
                if len(named) != 1 or not (draft.id or arguments):
                    raise BrokenAnswer("a tool call without a name")
                name = named[0]
            calls.append(ToolCall(id=id_, name=name, arguments=arguments or "{}"))
            if draft.extra:
                extras[id_] = draft.extra
        return tuple(calls), extras


@dataclass(slots=True)
class Reading:
    """Takes one answer as it comes; nothing in it is trusted to be what it should be.

    `finished` tells that the model came to its end, `ended` that the service has said all, and `extras` what it wants
    back with its calls.
    """

    model: str
    tools: Sequence[str]
    finished: bool = False
    is_cut: bool = False
    ended: bool = False
    extras: dict[str, Any] = field(default_factory=dict[str, Any])
    _rest: bytearray = field(default_factory=bytearray)
    _text: list[str] = field(default_factory=list[str])
    _thoughts: Thoughts = field(default_factory=Thoughts)
    _calls: ToolCalls = field(default_factory=ToolCalls)
    _usage: object = None

    def read(self, piece: bytes) -> tuple[str, int, Exception | None]:
        """Take more bytes of a stream; what comes after the end is nothing.

        Return the text of the events that are whole by now, up to the first that is broken, how many there are, and
        what is wrong with that one. What the quicker reader of JSON minds, such as half of an emoji, the other takes.
        """
        text, count = "", 0
        try:
            for event in self._events(piece):
                data = event[5:] if event.startswith(b"data:") else b""
                if not data or len(data.splitlines()) > 1:  # an event may have more lines, of other kinds too
                    data = b"\n".join(line[5:] for line in event.splitlines() if line.startswith(b"data:"))
                self.ended = data.startswith((b" [DONE]", b"[DONE]"))
                if self.ended:
                    break
                if not data:
                    continue
                count += 1
                try:  # a blank before it is no matter to JSON
                    fields = from_json(data, cache_strings="keys")
                except ValueError:
                    fields = json.loads(data.decode())
                text += self.take(fields)
        except failures() as error:
            return text, count, error
        return text, count, None

    def _events(self, piece: bytes) -> Sequence[bytes]:
        """Return the events that are whole now. An end is looked for in what is new, so that each byte is seen once."""
        seen = max(len(self._rest) - len(b"\r\n\r"), 0)
        self._rest += piece
        if not _BLANK_LINE.search(self._rest, seen):
            if len(self._rest) > LONGEST_EVENT:
                raise EndlessAnswer("an event without an end in sight")
            return ()
        come = bytes(self._rest)
        *events, rest = _BLANK_LINE.split(come) if b"\r" in come else come.split(b"\n\n")
        self._rest = bytearray(rest)
        return events

    def take(self, event: object) -> str:
        """Return the text that an event adds to the answer. Raises `BrokenAnswer`."""
        fields = _fields(event)
        if not fields or fields.get("error"):
            raise BrokenAnswer("an error in place of an answer" if fields else "an event that is no object")
        self._usage = fields.get("usage") or self._usage
        model, choices = fields.get("model"), fields.get("choices")
        if model != self.model:
            self.model = _words(model) or self.model
        if not isinstance(choices, list) or not choices:
            return ""
        choice = _fields(choices[0])
        delta = _fields(choice.get("delta"))
        if (reason := choice.get("finish_reason")) == "error":
            raise BrokenAnswer("an error in place of an end")
        self.finished = bool(reason) or self.finished
        self.is_cut = self.is_cut or reason in CUT
        if calls := delta.get("tool_calls"):
            self._calls.add(calls)
        text = _words(delta.get("content")) or _words(delta.get("refusal"))
        if text and not self._thoughts.are_over:
            text = self._thoughts.without(text)
        if text:
            self._text.append(text)
        return text

    def take_whole(self, answer: object) -> str:
        """Return the text of an answer that came in one piece although a stream was asked for."""
        choices = _fields(answer).get("choices")
        if not isinstance(choices, list) or not choices:
            raise BrokenAnswer("JSON that is no answer")
        choice = _fields(choices[0])
        choice = {"finish_reason": "stop", **choice, "delta": choice.get("message")}
        return self.take({**_fields(answer), "choices": [choice]})

    def finish(self) -> tuple[str, ModelTurn]:
        """Return the text that was held back, and the whole turn.

        Raises `BrokenAnswer` if it did not come to its end, or says nothing. Thoughts that never ended are not shown.

        An answer cut by its length stays: asking again would cut it again. So it would one that is cut before its first
        word, which raises `EndlessAnswer`. A refusal is text like any other: the core decides what is shown.
        """
        if not self.finished:
            raise BrokenAnswer("an answer without an end")
        calls, self.extras = self._calls.finish(self.tools)
        rest = "" if self._thoughts.closing else self._thoughts.held
        text = "".join((*self._text, rest))
        if not calls and not text.strip():
            raise (EndlessAnswer if self.is_cut else BrokenAnswer)("an empty answer")
        usage = _fields(self._usage)
        cached = _fields(usage.get("prompt_tokens_details")).get("cached_tokens")
        counted = (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)
        prompt, completion, cached = (max(each, 0) if isinstance(each, int) else 0 for each in counted)
        used = Usage(prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached)
        return rest, ModelTurn(text, calls, used, self.model, self.is_cut)


def is_object(text: str) -> bool:
    """Return whether the text is a whole JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] - the service's JSON


def _words(content: object) -> str:
    """Return the text of a content, which some services send as a list of parts, thoughts among them."""
    if isinstance(content, str):
        return content
    parts = [_fields(part) for part in cast("list[Any]", content)] if isinstance(content, list) else []
    return "".join(_words(part.get("text")) for part in parts if part.get("type") == "text")
