"""One turn of the model, read from the bytes of a stream or from a whole answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from adapters.openai.calls import ToolCalls
from adapters.openai.failures import BrokenAnswer
from core.model import ModelTurn, Usage

_LINE_END = re.compile(rb"\r\n|\n|\r")


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
                events += self._event()
        return events

    def _event(self) -> list[bytes]:
        data = b"\n".join(self._data)
        self._data.clear()
        self.ended = self.ended or data.startswith(b"[DONE]")
        return [] if self.ended else [data]


OPENINGS = {"<think>": "</think>", "<thinking>": "</thinking>", "<thought>": "</thought>"}


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
            if not (self._enter() if not self._closing else self._leave()):
                return ""
        shown, self._held = self._held, ""
        return shown

    def rest(self) -> str:
        """Return what was held back, at the end of the text; thoughts that never ended are not shown."""
        shown, self._held = ("" if self._closing else self._held), ""
        return shown

    def _enter(self) -> bool:
        """Find out whether thoughts begin; return whether that could be decided."""
        begun = self._held.lstrip()
        for opening, closing in OPENINGS.items():
            if begun.startswith(opening):
                self._held, self._closing, self._thought = begun.removeprefix(opening), closing, True
                return True
            if opening.startswith(begun):
                return False
        self._held = begun if self._thought else self._held
        self._answering = True
        return True

    def _leave(self) -> bool:
        """Find the end of the thoughts; return whether it has come."""
        _, mark, after = self._held.partition(self._closing)
        if not mark:
            self._held = self._held[-len(self._closing) :]
            return False
        self._held, self._closing = after, ""
        return True


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
        """Read an event; return the text that it adds to the answer."""
        fields = _fields(event)
        if not fields:
            raise BrokenAnswer("an event that is no object")
        self._note(fields)
        choices = fields.get("choices")
        choice = _fields(choices[0]) if choices and isinstance(choices, list) else {}
        delta = _fields(choice.get("delta"))
        if delta.get("tool_calls"):
            self._calls.add(delta["tool_calls"])
        if choice.get("finish_reason"):
            self._finish(choice["finish_reason"])
        text = self._thoughts.without(_words(delta.get("content")) or _words(delta.get("refusal")))
        if text:
            self._text.append(text)
        return text

    def take_whole(self, answer: object) -> str:
        """Read an answer that came in one piece although a stream was asked for."""
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
        """Return the whole turn; `BrokenAnswer` if it did not come to its end, or says nothing.

        An answer cut by its length stays: the service's own limit cut it, so asking again would cut it again. A refusal
        is text like any other: asking again would be refused again, and the core decides what is shown.
        """
        if not self.finished:
            raise BrokenAnswer("an answer without an end")
        calls, self.extras = self._calls.finish(self._tools)
        text = "".join(self._text)
        if not calls and not text.strip():
            raise BrokenAnswer("an empty answer")
        return ModelTurn(text, calls, _usage(self._usage), self._model)

    def _note(self, fields: dict[str, Any]) -> None:
        if fields.get("error"):
            raise BrokenAnswer("an error in place of an answer")
        if fields.get("usage"):
            self._usage = fields["usage"]
        name = fields.get("model")
        if name and isinstance(name, str):
            self._model = name

    def _finish(self, reason: object) -> None:
        if reason == "error":
            raise BrokenAnswer("an error in place of an end")
        self.finished = True


def _usage(raw: object) -> Usage:
    fields = _fields(raw)
    return Usage(
        prompt_tokens=_count(fields.get("prompt_tokens")),
        completion_tokens=_count(fields.get("completion_tokens")),
        cached_tokens=_count(_fields(fields.get("prompt_tokens_details")).get("cached_tokens")),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] - the service's JSON


def _words(content: object) -> str:
    """Return the text of a content, which some services send as a list of parts, thoughts among them."""
    if isinstance(content, list):
        parts = [_fields(part) for part in cast("list[Any]", content)]
        return "".join(_words(part.get("text")) for part in parts if part.get("type") == "text")
    return content if isinstance(content, str) else ""
