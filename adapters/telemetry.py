"""Observers: what happens, as structured log lines without the texts that people wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sized
from dataclasses import asdict
from typing import Any, Protocol, cast

from core.events import (
    Answered,
    CatchUpCutShort,
    CommandsFailed,
    ConnectionLost,
    Event,
    MemoryFailed,
    Observer,
    PlaceRefused,
    PlatformFailed,
    PossiblyDoubled,
    Retried,
    ServiceFailed,
    StateChanged,
    TaskFailed,
    TokensUsed,
    ToolCalled,
)

_TROUBLES = (
    MemoryFailed
    | Retried
    | ServiceFailed
    | TaskFailed
    | ConnectionLost
    | CommandsFailed
    | CatchUpCutShort
    | PlaceRefused
    | PlatformFailed
    | PossiblyDoubled
)


class Logger(Protocol):
    """As much of a structured logger as is used here."""

    def info(self, event: str, **fields: Any) -> Any:
        """Write a line."""
        ...

    def warning(self, event: str, **fields: Any) -> Any:
        """Write a line that somebody should look at."""
        ...


def log_events(logger: Logger) -> Observer:
    """Write each event as one line."""

    def observe(event: Event) -> None:
        write: Callable[..., Any] = logger.warning if _is_trouble(event) else logger.info
        write(_name(event), **_fields(event))

    return observe


def _is_trouble(event: Event) -> bool:
    if isinstance(event, StateChanged):
        return event.error_type in ("retrieval", "generation")
    return isinstance(event, _TROUBLES)


def _name(event: Event) -> str:
    """Return `ToolCalled` as `tool_called`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(event).__name__).lower()


def _fields(event: Event) -> dict[str, Any]:
    """Return the fields as plain values; words that somebody wrote become their length."""
    fields = asdict(event)
    if isinstance(event, ToolCalled):
        fields["arguments"] = _masked(event.arguments)
    if "question" in fields:
        fields["question"] = str(fields["question"])
    if isinstance(event, TokensUsed | Answered):
        del fields["usage"]
        fields |= event.usage.model_dump()
    return {name: value for name, value in fields.items() if value is not None}


def _masked(arguments: str) -> dict[str, Any] | str:
    """Name the arguments and the size of each, never what they say: the model may have copied the question."""
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return f"{len(arguments)} characters, not JSON"
    if not isinstance(values, dict):
        return f"{len(arguments)} characters, no object"
    named = cast("dict[str, object]", values)
    return {name if name.isidentifier() else f"{len(name)} characters": _size(value) for name, value in named.items()}


def _size(value: object) -> object:
    """Return numbers as they are, and of everything else only its size."""
    match value:
        case str():
            return f"{len(value)} characters"
        case list() | dict():
            return f"{len(cast('Sized', value))} items"
        case _:
            return value
