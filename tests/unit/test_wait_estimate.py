"""What people are told who ask while many wait."""

from __future__ import annotations

import pytest

from core.community.admission import WaitEstimate


@pytest.mark.parametrize(
    ("waiting", "running", "seconds"),
    [(65, 12, 40), (65, 6, 40), (65, 0, 40), (65, 24, 20), (25, 12, 20), (300, 48, 40), (99, 49, 20)],
)
def test_who_asks_while_many_wait_hears_a_round_number_of_seconds(waiting: int, running: int, seconds: int) -> None:
    """By how many are answered at once, which may be more than one process does, and is never taken for less."""
    assert (
        WaitEstimate(concurrency=12).sentence(waiting, running)
        == f"I'm busy; your answer comes in about {seconds} seconds."
    )


@pytest.mark.parametrize(("waiting", "running"), [(0, 0), (24, 12), (96, 48)])
def test_who_waits_for_a_moment_only_hears_nothing(waiting: int, running: int) -> None:
    """As many may wait as are answered in two rounds."""
    assert WaitEstimate(concurrency=12).sentence(waiting, running) is None
