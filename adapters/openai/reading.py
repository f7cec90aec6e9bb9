"""One turn of the model, read from the bytes of a stream or from a whole answer; nothing in it is trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import uuid4

from adapters.openai.failures import BrokenAnswer
from core.model import ModelTurn, ToolCall, Usage

_LINE_END = re.compile(rb"\r\n|\n|\r")
OPENINGS = {"<think>": "</think>", "<thinking>": "</thinking>", "<thought>": "</thought>"}


class Events:
    """Takes bytes with `feed`, which returns the data of every event that is whole by then."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._half_end = False
        self.ended = False

    def feed(self, piece: bytes) -> list[bytes]:
        """Take more bytes; what comes after the end is nothing."""
        if self._half_end:
            piece = piece.removeprefix(b"\n")
        self._half_end = piece.endswith(b"\r")
        text = self._rest + piece
        *lines, self._rest = _LINE_END.split(text) if b"\r" in text else text.split(b"\n")
        events: list[bytes] = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif not line and self._data:
                data = b"\n".join(self._data)
                self._data.clear()
                self.ended = self.ended or data.startswith(b"[DONE]")
                if not self.ended:
                    events.append(data)
        return events


class Thoughts:
    """Lets text through, but for blocks of thoughts before its first word; further on such marks are only text."""

    def __init__(self) -> None:
        self._answering = False
        self._closing = ""
        self._held = ""
        self._thought = False

    def without(self, text: str) -> str:
        """Return what may be shown of the next piece; what may still become a mark is held back."""
        if self._answering:
            return text
        self._held += text
        while not self._answering:
            if self._closing:
                _, mark, after = self._held.partition(self._closing)
                if not mark:
                    self._held = self._held[-len(self._closing) :]
                    return ""
                self._held, self._closing = after, ""
            begun = self._held.lstrip()
            if opening := next((mark for mark in OPENINGS if begun.startswith(mark)), None):
                self._held, self._closing, self._thought = begun.removeprefix(opening), OPENINGS[opening], True
            elif any(mark.startswith(begun) for mark in OPENINGS):
                return ""
            else:
                self._held = begun if self._thought else self._held
                self._answering = True
        return self.rest()

    def rest(self) -> str:
        """Return what was held back, at the end of the text; thoughts that never ended are not shown."""
        shown, self._held = ("" if self._closing else self._held), ""
        return shown


@dataclass(slots=True)
class PartialCall:
    """A call as far as it has come, or one piece of it; what is missing is empty."""

    index: int | None
    id: str
    name: str
    arguments: list[str]
    extra: Any

    @classmethod
    def of(cls, raw: dict[str, Any]) -> PartialCall:
        """Return a piece as it came; arguments that came as an object are written out."""
        function, index = _fields(raw.get("function")), raw.get("index")
        arguments = function.get("arguments")
        if not isinstance(arguments, str):
            arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
        return cls(
            index=index if isinstance(index, int) else None,
            id=_words(raw.get("id")),
            name=_words(function.get("name")),
            arguments=[arguments],
            extra=raw.get("extra_content"),
        )

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


class ToolCalls:
    """The calls of one turn, put together from fragments, which differ from service to service."""

    def __init__(self) -> None:
        self._drafts: list[PartialCall] = []

    def add(self, pieces: object) -> None:
        """Take the `tool_calls` of one event, whatever it is."""
        for raw in cast("list[Any]", pieces) if isinstance(pieces, list) else []:
            if not isinstance(raw, dict):
                continue
            piece = PartialCall.of(cast("dict[str, Any]", raw))
            newest = reversed(self._drafts)
            if piece.index is None:
                last = self._drafts[-1] if self._drafts else None
                draft = next((each for each in newest if not piece.id or each.id == piece.id), last)
            else:
                draft = next((each for each in newest if each.index == piece.index), None)
            if draft is None or draft.ends_before(piece):
                self._drafts.append(piece)
                continue
            draft.id = draft.id or piece.id
            draft.name += piece.name if piece.name != draft.name else ""  # one that is repeated is the same
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


class Reading:
    """Takes the events of one answer in their order; nothing in them is trusted to be what it should be."""

    def __init__(self, model: str, tools: Sequence[str]) -> None:
        self._model = model
        self._tools = tools
        self._text: list[str] = []
        self._thoughts = Thoughts()
        self._calls = ToolCalls()
        self._usage: object = None
        self.finished = False
        self.extras: dict[str, Any] = {}

    def take(self, event: object) -> str:
        """Return the text that an event adds to the answer. Raises `BrokenAnswer`."""
        fields = _fields(event)
        if not fields or fields.get("error"):
            raise BrokenAnswer("an error in place of an answer" if fields else "an event that is no object")
        self._usage = fields.get("usage") or self._usage
        self._model = _words(fields.get("model")) or self._model
        choices = fields.get("choices")
        choice = _fields(choices[0]) if choices and isinstance(choices, list) else {}
        delta, reason = _fields(choice.get("delta")), choice.get("finish_reason")
        if delta.get("tool_calls"):
            self._calls.add(delta["tool_calls"])
        if reason == "error":
            raise BrokenAnswer("an error in place of an end")
        self.finished = self.finished or bool(reason)
        text = self._thoughts.without(_words(delta.get("content")) or _words(delta.get("refusal")))
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

    def rest(self) -> str:
        """Return the text that was held back, at the end."""
        text = self._thoughts.rest()
        if text:
            self._text.append(text)
        return text

    def turn(self) -> ModelTurn:
        """Return the whole turn. Raises `BrokenAnswer` if it did not come to its end, or says nothing.

        An answer cut by its length stays: the service's own limit cut it, so asking again would cut it again. A refusal
        is text like any other: asking again would be refused again, and the core decides what is shown.
        """
        if not self.finished:
            raise BrokenAnswer("an answer without an end")
        calls, self.extras = self._calls.finish(self._tools)
        text = "".join(self._text)
        if not calls and not text.strip():
            raise BrokenAnswer("an empty answer")
        usage = _fields(self._usage)
        cached = _fields(usage.get("prompt_tokens_details")).get("cached_tokens")
        counted = (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)
        prompt, completion, cached = (max(each, 0) if isinstance(each, int) else 0 for each in counted)
        used = Usage(prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached)
        return ModelTurn(text, calls, used, self._model)


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
