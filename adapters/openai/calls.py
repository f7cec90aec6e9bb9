"""Tool calls put together from the fragments that they arrive in, which differ from service to service."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import uuid4

from adapters.openai.failures import BrokenAnswer
from core.model import ToolCall


@dataclass(slots=True)
class Fragment:
    """A piece of a call as it came; what is missing is empty."""

    index: int | None
    id: str
    name: str
    arguments: str
    extra: Any

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Fragment:
        """Read a piece; arguments that came as an object are written out."""
        inner = raw.get("function")
        function = cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}
        index, arguments = raw.get("index"), function.get("arguments")
        if arguments is None:
            arguments = ""
        elif not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        return cls(
            index=index if isinstance(index, int) else None,
            id=_text(raw.get("id")),
            name=_text(function.get("name")),
            arguments=arguments,
            extra=raw.get("extra_content"),
        )


@dataclass(slots=True)
class PartialCall:
    """A call as far as it has come."""

    index: int | None
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])
    extra: Any = None

    def add(self, piece: Fragment) -> None:
        """Take a piece; an id or a name that is repeated is the same one."""
        self.id = self.id or piece.id
        if piece.name != self.name:
            self.name += piece.name
        self.arguments.append(piece.arguments)
        self.extra = piece.extra or self.extra

    @property
    def text(self) -> str:
        """The arguments so far."""
        return "".join(self.arguments)

    def ends_before(self, piece: Fragment) -> bool:
        """Whether the piece begins another call, although index or id say that it belongs to this one.

        Some services number every call 0, some repeat the name or change the id with every piece. A piece that names a
        tool after the arguments are whole begins another call; a piece with neither name nor id never does.
        """
        if piece.id and self.id and piece.id != self.id:
            return bool(piece.name) or is_object(self.text)
        if piece.name and self.name and piece.name != self.name:
            return bool(self.text)
        return bool(piece.name and piece.arguments.strip()) and is_object(self.text)


class ToolCalls:
    """The calls of one turn."""

    def __init__(self) -> None:
        self._drafts: list[PartialCall] = []

    def add(self, pieces: object) -> None:
        """Take the `tool_calls` of one event, whatever it is."""
        for raw in cast("list[Any]", pieces) if isinstance(pieces, list) else []:
            if isinstance(raw, dict):
                self._add(Fragment.of(cast("dict[str, Any]", raw)))

    def _add(self, piece: Fragment) -> None:
        draft = self._draft_for(piece)
        if draft is None or draft.ends_before(piece):
            draft = PartialCall(piece.index)
            self._drafts.append(draft)
        draft.add(piece)

    def _draft_for(self, piece: Fragment) -> PartialCall | None:
        newest = reversed(self._drafts)
        if piece.index is None:
            return next((draft for draft in newest if not piece.id or draft.id == piece.id), self._newest)
        return next((draft for draft in newest if draft.index == piece.index), None)

    @property
    def _newest(self) -> PartialCall | None:
        return self._drafts[-1] if self._drafts else None

    def finish(self, tools: Sequence[str]) -> tuple[tuple[ToolCall, ...], dict[str, Any]]:
        """Return the calls, each with an id of its own, and what the service wants back with them, by id."""
        calls: list[ToolCall] = []
        extras: dict[str, Any] = {}
        for draft in self._drafts:
            id_ = draft.id
            if not id_ or any(call.id == id_ for call in calls):
                id_ = f"call_{uuid4().hex[:24]}"
            name = draft.name or _guessed_name(draft, tools)
            calls.append(ToolCall(id=id_, name=name, arguments=draft.text or "{}"))
            if draft.extra:
                extras[id_] = draft.extra
        return tuple(calls), extras


def is_object(text: str) -> bool:
    """Whether the text is a whole JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _guessed_name(draft: PartialCall, tools: Sequence[str]) -> str:
    """Return the name of the tool by the id, where some services put its name, or by there being no other."""
    named = [tool for tool in tools if tool in draft.id] or list(tools)
    if len(named) == 1 and (draft.id or draft.text):
        return named[0]
    raise BrokenAnswer("a tool call without a name")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
