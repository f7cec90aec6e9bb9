"""Telling observers."""

from __future__ import annotations

from core.events import Event, Retried, everyone, unobserved


def test_everyone_hears_every_event_in_order() -> None:
    """One observer is made of several."""
    first: list[Event] = []
    second: list[Event] = []
    observer = everyone(first.append, unobserved, second.append)

    events = [Retried("chat model", attempt, "rate limit") for attempt in (1, 2)]
    for event in events:
        observer(event)

    assert first == second == events
