"""What is logged: every event as one line, and no word that somebody wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from bot.logs import log_events
from core.answering.tools import Tool, Toolbox
from core.events import (
    AnswerAssumed,
    Answered,
    CatchUpCutShort,
    Event,
    InventionsRemoved,
    MemoryFailed,
    PlaceRefused,
    PlatformFailed,
    PossiblyDoubled,
    Retried,
    ServiceFailed,
    State,
    StateChanged,
    TokensUsed,
)
from core.model import Status, Usage
from tests.builders import question
from tests.fakes.chat import call

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
            Answered(REF, Status.ANSWERED, "m", Usage(prompt_tokens=3, cached_tokens=1), 0.5, 1.0, 2.0, 3.0, 0.5, 0.25),
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
                    "first_token_time_ms": 0.5,
                    "posting_time_ms": 0.25,
                },
            ),
        ),
        (InventionsRemoved(REF, 2), ("warning", "inventions_removed", {"question": NAME, "urls": 2, "marks": 0})),
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


@pytest.mark.parametrize(("posting", "lines"), [(5_000.0, 1), (5_001.0, 2)])
def test_a_slow_answer_is_a_warning_with_the_share_of_each_stage(posting: float, lines: int) -> None:
    """So that whoever runs the bot sees where the time goes."""
    recorder = Recorder()
    log_events(recorder)(Answered(REF, Status.ANSWERED, "m", Usage(), None, 500.0, 9_000.0, 10_000.0, 3_000.0, posting))

    assert len(recorder.lines) == lines
    assert recorder.lines[1:] in (
        [],
        [
            (
                "warning",
                "slow_answer",
                {
                    "question": NAME,
                    "seconds": 15.0,
                    "search": "3%",
                    "first_token": "20%",
                    "writing": "40%",
                    "posting": "33%",
                },
            )
        ],
    )


async def look_up(query: str, top_k: int = 5) -> Mapping[str, Any]:
    """Look something up."""
    return {"query": query, "top_k": top_k}


async def test_nothing_that_a_model_made_up_is_logged_or_kept_as_a_name() -> None:
    """Neither the name of a tool, nor those of its arguments, nor their numbers: any may be somebody's words."""
    word, recorder = "xyzzy", Recorder()
    toolbox = Toolbox([Tool(look_up)], question=REF, clock=lambda: 0.0, observer=log_events(recorder))
    calls = (
        call("{}", name=f"{word} " * 2_600),
        call(f'{{"query": "{word}", "top_k": 4915112345}}', name="look_up"),
        call(f'{{"my_{word}_is": 1, "query": {{"{word}": 1}}}}', name="look_up"),
        call(f'["{word}"]', name="look_up"),
        call(f'{word} {{"', name=word),
    )
    await toolbox.call(calls)

    assert len(recorder.lines) == len(toolbox.records) == len(calls)
    assert not any(word in f"{line}" or "4915112345" in f"{line}" for line in recorder.lines)
    assert [record.name for record in toolbox.records] == ["unknown", *["look_up"] * 3, "unknown"]
