"""What is logged: every event as one line, and no word that somebody wrote."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.telemetry import log_events
from core.events import (
    AnswerAssumed,
    Answered,
    CatchUpCutShort,
    Event,
    MemoryFailed,
    PlaceRefused,
    PlatformFailed,
    PossiblyDoubled,
    Retried,
    ServiceFailed,
    State,
    StateChanged,
    TokensUsed,
    ToolCalled,
    UrlsRemoved,
)
from core.model import Status, Usage
from tests.builders import question

REF = question().message
NAME = str(REF)


class Recorder:
    """A logger that keeps its lines."""

    def __init__(self) -> None:
        """Start empty."""
        self.lines: list[tuple[str, str, dict[str, Any]]] = []

    def info(self, event: str, **fields: Any) -> None:
        """Keep a line."""
        self.lines.append(("info", event, fields))

    def warning(self, event: str, **fields: Any) -> None:
        """Keep a line that somebody should look at."""
        self.lines.append(("warning", event, fields))


def logged(event: Event) -> tuple[str, str, dict[str, Any]]:
    """Give the one line that an event becomes."""
    recorder = Recorder()
    log_events(recorder)(event)
    (line,) = recorder.lines
    return line


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (StateChanged(REF, State.RETRIEVING), ("info", "state_changed", {"question": NAME, "state": "retrieving"})),
        (
            StateChanged(REF, State.ERROR, "no_context"),
            ("info", "state_changed", {"question": NAME, "state": "error", "error_type": "no_context"}),
        ),
        (
            StateChanged(REF, State.ERROR, "retrieval"),
            ("warning", "state_changed", {"question": NAME, "state": "error", "error_type": "retrieval"}),
        ),
        (
            TokensUsed(REF, "m", Usage(prompt_tokens=3, completion_tokens=2)),
            (
                "info",
                "tokens_used",
                {"question": NAME, "model": "m", "prompt_tokens": 3, "completion_tokens": 2, "cached_tokens": 0},
            ),
        ),
        (
            Answered(REF, Status.ANSWERED, "m", Usage(prompt_tokens=3, cached_tokens=1), 0.5, 1.0, 2.0, 3.0),
            (
                "info",
                "answered",
                {
                    "question": NAME,
                    "status": "answered",
                    "model": "m",
                    "prompt_tokens": 3,
                    "completion_tokens": 0,
                    "cached_tokens": 1,
                    "cost": 0.5,
                    "retrieval_time_ms": 1.0,
                    "generation_time_ms": 2.0,
                    "total_time_ms": 3.0,
                },
            ),
        ),
        (UrlsRemoved(REF, 2), ("info", "urls_removed", {"question": NAME, "count": 2})),
        (PlaceRefused(REF), ("warning", "place_refused", {"question": NAME})),
        (AnswerAssumed(REF), ("warning", "answer_assumed", {"question": NAME})),
        (PossiblyDoubled(REF), ("warning", "possibly_doubled", {"question": NAME})),
        (
            PlatformFailed("Slack", "A token is wrong."),
            ("warning", "platform_failed", {"platform": "Slack", "reason": "A token is wrong."}),
        ),
        (
            CatchUpCutShort("Slack", "rate limit"),
            ("warning", "catch_up_cut_short", {"platform": "Slack", "reason": "rate limit"}),
        ),
        (MemoryFailed(REF, "load"), ("warning", "memory_failed", {"question": NAME, "doing": "load"})),
        (
            ServiceFailed("index", "It is down."),
            ("warning", "service_failed", {"service": "index", "reason": "It is down."}),
        ),
        (
            Retried("chat model", 2, "429"),
            ("warning", "retried", {"service": "chat model", "attempt": 2, "reason": "429"}),
        ),
    ],
)
def test_an_event_becomes_one_line(event: Event, line: tuple[str, str, dict[str, Any]]) -> None:
    """Its name in small letters, its fields as plain values, and trouble as a warning."""
    assert logged(event) == line


@pytest.mark.parametrize(
    ("arguments", "masked"),
    [
        ('{"query": "my secret", "top_k": 5}', {"query": "9 characters", "top_k": 5}),
        ('["my secret"]', "13 characters, no object"),
        ("my secret {", "11 characters, not JSON"),
        ('{"query": {"nested": "my secret"}}', {"query": "1 items"}),
        ('{"query": ["my secret", "another secret"]}', {"query": "2 items"}),
        ('{"my secret": 1}', {"9 characters": 1}),
    ],
)
def test_arguments_of_a_tool_are_masked(arguments: str, masked: object) -> None:
    """Names and sizes are logged, never the words, however the model arranged them."""
    _, _, fields = logged(ToolCalled(REF, "search_documents", arguments, success=True, result_size=7, time_ms=1.5))

    assert "secret" not in str(fields)
    assert fields["arguments"] == masked
    assert fields["result_size"] == 7
