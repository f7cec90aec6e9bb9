"""A share of all kinds of faults by chance, while people do all that they can; `make soak` plays thousands of them."""

from __future__ import annotations

import pytest

from tests.faults.schedule import play

SEED, FAULTS = 17, 8


@pytest.mark.timeout(300)
@pytest.mark.promise("crash-safe")
@pytest.mark.promise("asked-once")
async def test_whatever_breaks_people_see_what_they_should_and_nothing_is_readable() -> None:
    """Nothing is lost, doubled, removed again or remembered twice, and no file holds what somebody wrote."""
    said: list[str] = []
    piece = await play(SEED, 0, FAULTS, doubled=False, say=said.append)

    assert piece.wrongs == {}
    assert piece.faults.total() + piece.unmet == FAULTS
