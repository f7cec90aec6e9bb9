"""Addresses at which an app may answer an interaction, five times within half an hour."""

from __future__ import annotations

from dataclasses import dataclass, field

LIFE = 1800.0
USES = 5


@dataclass(eq=False, slots=True)
class ResponseUrl:
    """An address, whom it answers, and which message it may replace."""

    path: str
    team_id: str
    channel_id: str
    user_id: str
    at: float
    thread_ts: str | None = None
    original: tuple[str, str] | None = None
    posts: list[str] = field(default_factory=list[str])
