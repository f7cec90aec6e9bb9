"""What people are told while many wait."""

from __future__ import annotations

import pytest

from core.crowd import Crowd


@pytest.mark.parametrize(("waiting", "seconds"), [(65, 40), (68, 40), (69, 40), (300, 150)])
def test_who_waits_behind_many_is_told_how_long(waiting: int, seconds: int) -> None:
    """In tens of seconds, since nobody can say it more exactly."""
    assert Crowd(0.5).sentence(waiting) == f"I'm busy; your answer comes in about {seconds} seconds."


def test_who_waits_behind_few_is_told_nothing() -> None:
    """Their answer comes soon; and at least some seconds are named to the others."""
    assert Crowd(0.5).sentence(64) is None
    assert Crowd(0.1, bound=1).sentence(2) == "I'm busy; your answer comes in about 10 seconds."
