"""What the rig would call a clean run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.faults.record import Record
from tests.faults.report import Piece, is_clean, lines

GOOD = Piece(
    1,
    0,
    questions=100,
    given={"1": 80, "2": 19, "3": 1},
    given_kept={"1": 80, "3": 1},
    given_lost={"2": 18, "5": 1},
    untouched=100,
    apologies=1,
    recoveries=[1.0] * 99 + [20.0],
    after_loss=[30.0],
)
BAD: dict[str, dict[str, Any]] = {
    "anything wrong": {"wrongs": {"lost": ["q1"]}},
    "a question given too often": {"given_kept": {"1": 80, "4": 1}},
    "too much given in the mean": {"given": {"1": 60, "2": 40}},
    "too many apologies": {"apologies": 2},
    "too slow to recover": {"recoveries": [1.0] * 90 + [8.0] * 10},
}


def test_a_run_within_all_bounds_is_clean() -> None:
    """One recovery in a hundred may take long, and what the store has lost is given as often as it has to be."""
    assert is_clean([GOOD])


@pytest.mark.parametrize("changed", BAD.values(), ids=BAD)
def test_a_run_beyond_one_bound_is_not(changed: dict[str, Any]) -> None:
    """Each is looked at by itself; what says little of a short run is left out there."""
    piece = replace(GOOD, **changed)

    is_mean = not {"recoveries", "given"}.isdisjoint(changed)
    assert (is_clean([piece]), is_clean([piece], is_short=True)) == (False, is_mean)


def test_the_report_tells_what_is_kept_from_what_was_lost() -> None:
    """How often the model was given a question is told for both."""
    told = [line for line in lines([GOOD]) if "at most, where" in line]

    assert [line.split("|")[2].strip() for line in told] == ["3 times", "5 times"]


def test_what_was_over_did_not_have_to_recover_until_it_was_tried_again() -> None:
    """Its worker may die long before somebody presses the button, also over something else by then."""
    record = Record()
    for pid, is_at_it in ((1, False), (2, True)):
        record.take({"kind": "taken", "pid": pid, "question": "m1"})
        if not is_at_it:
            record.take({"kind": "failed", "pid": pid, "question": "m1", "attempt": 4, "is_last": True})
        record.take({"kind": "ended", "of": pid, "name": "worker"})
        hurt = dict(record.hurt_at)
        record.begin_again("q1", "m1")
        assert (bool(hurt), record.hurt_at) == (is_at_it, {})
