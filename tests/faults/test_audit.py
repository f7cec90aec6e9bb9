"""The eyes of the rig: what it would call wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.community.admission import WaitEstimate
from core.messages import FAILED
from tests.faults.audit import Ending, Kind, Scene, Shown, endings, wrongs
from tests.faults.model import words

WHOLE = Shown(" ".join(words(1)), is_whole=True)
NEXT = Shown(" ".join(words(2)), is_whole=True)
HALF = Shown(" ".join(words(1)[:3]))
EXCUSE = Shown(f"⚠️ {FAILED}")
LONG = words(9)
GOOD = (
    Scene((1,), (WHOLE,)),
    Scene((1, 2), (WHOLE, NEXT)),
    Scene((1, 2), (EXCUSE, NEXT), frozenset({1})),
    Scene((1,), (), unheard=frozenset({1})),
    Scene((1,), (WHOLE,), unheard=frozenset({1})),
    Scene((1,), (EXCUSE,), frozenset({1}), unheard=frozenset({1})),
    Scene((9,), (Shown(" ".join(LONG[:200])), Shown(" ".join(LONG[200:]), is_whole=True))),
)
BAD = {
    "nothing": (Scene((1,)), Kind.LOST),
    "half an answer": (Scene((1,), (HALF,)), Kind.LOST),
    "half an answer that looks whole": (Scene((1,), (replace(HALF, is_whole=True),)), Kind.LOST),
    "an excuse without a mark on the question": (Scene((1,), (EXCUSE,)), Kind.LOST),
    "one of two answers": (Scene((1, 2), (NEXT,)), Kind.LOST),
    "the same answer twice": (Scene((1,), (WHOLE, WHOLE)), Kind.DOUBLED),
    "half an answer below a whole one": (Scene((1,), (WHOLE, HALF)), Kind.DOUBLED),
    "an excuse below an answer": (Scene((1,), (WHOLE, EXCUSE)), Kind.DOUBLED),
    "a mark on a question that was answered": (Scene((1,), (WHOLE,), frozenset({1})), Kind.DOUBLED),
    "answers in another order": (Scene((1, 2), (NEXT, WHOLE)), Kind.DISORDERED),
    "words in another order": (
        Scene((1,), (Shown(" ".join(reversed(words(1))), is_whole=True),)),
        Kind.DISORDERED,
    ),
    "a message that goes on": (Scene((1,), (replace(WHOLE, is_open=True),)), Kind.UNFINISHED),
    "a sign of work": (Scene((1,), (WHOLE,), is_working=True), Kind.UNFINISHED),
    "half an answer to what was not heard": (Scene((1,), (HALF,), unheard=frozenset({1})), Kind.DOUBLED),
    "a sign of work for what was not heard": (Scene((1,), (), unheard=frozenset({1}), is_working=True), Kind.LOST),
    "words that many wait": (Scene((1,), (WHOLE, Shown(str(WaitEstimate(1).sentence(99, 1))))), Kind.UNFINISHED),
    "an answer to somebody else": (Scene((1,), (WHOLE, NEXT)), Kind.STRAY),
    "a message about nothing": (Scene((1,), (WHOLE, Shown("…"))), Kind.STRAY),
}


@pytest.mark.parametrize("scene", GOOD)
def test_what_is_as_it_should_be_is_called_right(scene: Scene) -> None:
    """One answer each, whole and in order, or one excuse with a mark on the question."""
    assert list(wrongs(scene)) == []
    assert Ending.PENDING not in endings(scene).values()


@pytest.mark.parametrize(("scene", "kind"), BAD.values(), ids=BAD)
def test_what_should_not_be_is_called_wrong(scene: Scene, kind: Kind) -> None:
    """Each in its kind."""
    assert kind in {wrong.kind for wrong in wrongs(scene)}
