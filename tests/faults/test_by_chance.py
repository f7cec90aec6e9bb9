"""A share of all kinds of faults by chance, while people do all that they can; `make soak` plays thousands of them."""

from __future__ import annotations

import pytest

from tests.faults.report import is_clean, lines
from tests.faults.schedule import play
from tests.faults.store import FSYNCS

SEED, FAULTS, PIECES = 17, 3, (1, 2)  # those whose Redis writes to its disk each second, and as the system likes


@pytest.mark.timeout(300)
@pytest.mark.promise("crash-safe")
@pytest.mark.promise("asked-once")
async def test_whatever_breaks_people_see_what_they_should_and_nothing_is_readable() -> None:
    """Nothing is lost, doubled, removed again, remembered twice or readable, and no model is asked too often."""
    said: list[str] = []
    pieces = [await play(SEED, number, FAULTS, doubled=False, say=said.append) for number in PIECES]

    assert [piece.wrongs for piece in pieces] == [{}, {}]
    assert is_clean(pieces, is_short=True), "\n".join(lines(pieces))
    assert [piece.fsync for piece in pieces] == [FSYNCS[number] for number in PIECES]
    assert sum(piece.faults.total() + piece.unmet for piece in pieces) == FAULTS * len(PIECES)
