"""Observers: what happens, as structured log lines without the texts that people wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sized
from dataclasses import asdict
from typing import Any, cast

from core.events import (
    AnswerAssumed,
    Answered,
    CatchUpCutShort,
    CommandsFailed,
    ConnectionLost,
    Event,
    LostByStore,
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
    | LostByStore
    | AnswerAssumed
    | ConnectionLost
    | CommandsFailed
    | CatchUpCutShort
    | PlaceRefused
    | PlatformFailed
    | PossiblyDoubled
)


def log_events(logger: Any) -> Observer:
    """Return what writes each event as one line: plain values, and of words that somebody wrote their length."""

    def observe(event: Event) -> None:
        has_failed = isinstance(event, StateChanged) and event.error_type in ("retrieval", "generation")
        fields = asdict(event)
        if isinstance(event, ToolCalled):
            fields["arguments"] = _masked(event.arguments)
        if "question" in fields:
            fields["question"] = str(fields["question"])
        if isinstance(event, TokensUsed | Answered):
            del fields["usage"]
            fields |= event.usage.model_dump()
        write: Callable[..., Any] = logger.warning if has_failed or isinstance(event, _TROUBLES) else logger.info
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(event).__name__).lower()
        write(name, **{name: value for name, value in fields.items() if value is not None})

    return observe


def _masked(arguments: str) -> dict[str, Any] | str:
    """Name the arguments and the size of each, never what they say: the model may have copied the question."""
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return f"{len(arguments)} characters, not JSON"
    if not isinstance(values, dict):
        return f"{len(arguments)} characters, no object"
    masked: dict[str, Any] = {}
    for name, value in cast("dict[str, Any]", values).items():
        shown = name if name.isidentifier() else f"{len(name)} characters"
        masked[shown] = value
        if isinstance(value, str | list | dict):
            masked[shown] = f"{len(cast('Sized', value))} {'characters' if isinstance(value, str) else 'items'}"
    return masked
