"""Observers: what happens, as structured log lines without the texts that people wrote."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from core.events import (
    AnswerAssumed,
    Answered,
    BudgetAlerted,
    CatchUpCutShort,
    CommandsFailed,
    CommunityLost,
    ConnectionLost,
    Event,
    FellBack,
    InventionsRemoved,
    LostByStore,
    MemoryFailed,
    Observer,
    PlaceRefused,
    PlatformFailed,
    PossiblyDoubled,
    Retried,
    ServiceFailed,
    ServiceSaid,
    ServiceSkipped,
    Shortcoming,
    SourceFailed,
    StateChanged,
    TaskFailed,
    TokensUsed,
)

_TROUBLES = (
    MemoryFailed
    | Retried
    | ServiceFailed
    | ServiceSaid
    | FellBack
    | ServiceSkipped
    | TaskFailed
    | LostByStore
    | AnswerAssumed
    | BudgetAlerted
    | ConnectionLost
    | CommunityLost
    | CommandsFailed
    | CatchUpCutShort
    | PlaceRefused
    | PlatformFailed
    | PossiblyDoubled
    | Shortcoming
    | SourceFailed
    | InventionsRemoved
)

SLOW = 15.0
"""Seconds of an answer and its posting, after which one is a warning with the share of each stage."""


def log_events(logger: Any) -> Observer:
    """Return what writes each event as one line of plain values."""

    def observe(event: Event) -> None:
        has_failed = isinstance(event, StateChanged) and event.error_type in ("retrieval", "generation")
        fields = asdict(event)
        if "question" in fields:
            fields["question"] = str(fields["question"])
        if isinstance(event, TokensUsed | Answered):
            del fields["usage"]
            fields |= event.usage.model_dump()
        write: Callable[..., Any] = logger.warning if has_failed or isinstance(event, _TROUBLES) else logger.info
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(event).__name__).lower()
        write(name, **{name: value for name, value in fields.items() if value is not None})
        if isinstance(event, Answered) and (whole := event.total_time_ms + event.posting_time_ms) > SLOW * 1000:
            shares = {stage: f"{took / whole:.0%}" for stage, took in event.stages.items()}
            logger.warning("slow_answer", question=fields["question"], seconds=round(whole / 1000, 1), **shares)

    return observe
