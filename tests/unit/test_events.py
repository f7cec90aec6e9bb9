"""Telling observers."""

from __future__ import annotations

from core.events import Connected, ConnectionLost, Event, PlatformFailed, Retried, everyone, only, unobserved


def test_everyone_hears_every_event_in_order() -> None:
    """One observer is made of several."""
    first: list[Event] = []
    second: list[Event] = []
    observer = everyone(first.append, unobserved, second.append)

    events = [Retried("chat model", attempt, "rate limit") for attempt in (1, 2)]
    for event in events:
        observer(event)

    assert first == second == events


def test_only_some_kinds_of_events_are_heard() -> None:
    """Whoever listens so is called for no others."""
    heard: list[Event] = []
    observer = only(heard.append, Connected, PlatformFailed)

    for event in (lost := ConnectionLost("Slack", "reset"), came := Connected("Slack", "Footnote")):
        observer(event)

    assert heard == [came]
    assert lost not in heard
