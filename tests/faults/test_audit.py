"""The eyes of the rig: what it would call wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from adapters.redis.connection import connect
from adapters.redis.quota import RedisQuota
from core.community.admission import WaitEstimate
from core.messages import FAILED, LEXICAL_ONLY, STOPPED
from core.model import Budget, Cost, Holder, Reservation
from tests.builders import NOON, question
from tests.faults.audit import Behind, Ending, Kind, Scene, Shown, endings, wrongs, wrongs_behind
from tests.faults.model import word, words
from tests.faults.scan import leaks
from tests.faults.spending import Hold, Spending, spending_of, wrongs_of
from tests.faults.store import Lone
from tests.servers.valkey import alone

WHOLE = Shown(" ".join(words(1)), is_whole=True)
NEXT = Shown(" ".join(words(2)), is_whole=True)
HALF = Shown(" ".join(words(1)[:3]))
EXCUSE = Shown(f"⚠️ {FAILED}")
LONG = words(9)
BUSY = Shown("", is_open=True)
GOOD = (
    Scene((1,), (WHOLE,)),
    Scene((1, 2), (WHOLE, NEXT)),
    Scene((1, 2), (EXCUSE, NEXT), frozenset({1})),
    Scene((1,), (), unheard=frozenset({1})),
    Scene((1,), (WHOLE,), unheard=frozenset({1})),
    Scene((1,), (EXCUSE,), frozenset({1}), unheard=frozenset({1})),
    Scene((1,), removed=(WHOLE,), withdrawn=frozenset({1})),
    Scene((1,), (WHOLE,), withdrawn=frozenset({1}), kept=frozenset({1})),
    Scene((1,), (replace(HALF, text=f"{HALF.text} {STOPPED}"),), stopped=frozenset({1})),
    Scene((1,), (Shown(STOPPED),), stopped=frozenset({1})),
    Scene((1,), (replace(HALF, text=f"{HALF.text} {STOPPED}", is_whole=True),), stopped=frozenset({1})),
    Scene((1,), (WHOLE,), removed=(HALF,), former={1: 2}),
    Scene((2,), (WHOLE,), former={2: 1}, kept=frozenset({2})),
    Scene((1,), (BUSY,), gone=frozenset({1})),
    Scene((1,), (replace(HALF, is_open=True),), gone=frozenset({1})),
    Scene((1,), (), gone=frozenset({1}), is_working=True),
    Scene((1,), (WHOLE,), gone=frozenset({1})),
    Scene((1,), (WHOLE,), removed=(Shown(str(WaitEstimate(1).sentence(99, 1))),)),
    Scene((1,), (replace(WHOLE, text=f"{WHOLE.text} {LEXICAL_ONLY}"),), frozenset({1})),
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
    "an answer to what was taken back": (Scene((1,), (WHOLE,), withdrawn=frozenset({1})), Kind.STRAY),
    "an answer to what was edited": (Scene((2,), (WHOLE,), former={2: 1}), Kind.LOST),
    "both answers to what was edited": (Scene((2,), (NEXT, WHOLE), former={2: 1}, kept=frozenset({2})), Kind.STRAY),
    "something else than what was stopped": (
        Scene((1,), (Shown(f"{word(1, 2)} {STOPPED}"),), stopped=frozenset({1})),
        Kind.DISORDERED,
    ),
    "two halves of what the store lost": (
        Scene((1,), (replace(HALF, is_open=True), HALF), gone=frozenset({1})),
        Kind.DISORDERED,
    ),
    "words of another answer to what the store lost": (Scene((1,), (BUSY, NEXT), gone=frozenset({1})), Kind.STRAY),
    "a message that was taken away from what the store lost": (
        Scene((1,), (BUSY,), removed=(HALF,), gone=frozenset({1})),
        Kind.REMOVED,
    ),
    "two answers to what the store lost": (Scene((1,), (WHOLE, WHOLE), gone=frozenset({1})), Kind.DOUBLED),
    "a sign of work": (Scene((1,), (WHOLE,), is_working=True), Kind.UNFINISHED),
    "half an answer to what was not heard": (Scene((1,), (HALF,), unheard=frozenset({1})), Kind.DOUBLED),
    "a sign of work for what was not heard": (Scene((1,), (), unheard=frozenset({1}), is_working=True), Kind.LOST),
    "words that many wait": (Scene((1,), (WHOLE, Shown(str(WaitEstimate(1).sentence(99, 1))))), Kind.UNFINISHED),
    "a message that was taken away": (Scene((1,), (WHOLE,), removed=(HALF,)), Kind.REMOVED),
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


GOOD_BEHIND = (
    Behind(Ending.ANSWERED, given=3),
    Behind(Ending.ANSWERED, given=6, losses=1, begun=1),
    Behind(Ending.ANSWERED, turns=0, losses=1),
    Behind(Ending.EXCUSED, turns=0),
    Behind(Ending.UNHEARD, given=0, turns=0),
    Behind(Ending.GONE, turns=0),
    Behind(Ending.WITHDRAWN, turns=0),
    Behind(Ending.ANSWERED, turns=0, memory=frozenset({0})),
    Behind(Ending.ANSWERED, counted=1),
    Behind(Ending.ANSWERED, losses=1, counted=0, is_held=True),
    Behind(Ending.EXCUSED, turns=0, counted=0),
    Behind(Ending.ANSWERED, was_changed=True, counted=2, is_held=True),
)
BAD_BEHIND = (
    (Behind(Ending.ANSWERED, given=4), Kind.GIVEN),
    (Behind(Ending.ANSWERED, given=4, losses=1), Kind.GIVEN),
    (Behind(Ending.ANSWERED, turns=0), Kind.REMEMBERED),
    (Behind(Ending.ANSWERED, counted=0), Kind.COUNTED),
    (Behind(Ending.ANSWERED, counted=2), Kind.COUNTED),
    (Behind(Ending.ANSWERED, losses=1, counted=2), Kind.COUNTED),
    (Behind(Ending.ANSWERED, was_changed=True, counted=3), Kind.COUNTED),
    (Behind(Ending.EXCUSED, turns=0, counted=1), Kind.COUNTED),
    (Behind(Ending.ANSWERED, counted=1, is_held=True), Kind.COUNTED),
    (Behind(Ending.ANSWERED, turns=2), Kind.REMEMBERED),
    (Behind(Ending.ANSWERED, turns=2, losses=1), Kind.REMEMBERED),
    (Behind(Ending.EXCUSED, turns=1), Kind.REMEMBERED),
    (Behind(Ending.WITHDRAWN, turns=1), Kind.REMEMBERED),
    (Behind(Ending.ANSWERED, turns=1, memory=frozenset({0})), Kind.REMEMBERED),
)


@pytest.mark.parametrize("behind", GOOD_BEHIND)
def test_what_is_remembered_once_is_called_right(behind: Behind) -> None:
    """Nothing is, where the store has lost it or there was no answer."""
    assert list(wrongs_behind(1, behind)) == []


@pytest.mark.parametrize(("behind", "kind"), BAD_BEHIND)
def test_what_nobody_sees_is_called_wrong_too(behind: Behind, kind: Kind) -> None:
    """The model's work, and the memory."""
    assert [wrong.kind for wrong in wrongs_behind(1, behind)] == [kind]


HELD, FREE = (("c", "day", "person"), ("c", "day", "community")), (0, 0, 0)
ASKED = Hold("1", counted=1, holders=HELD)
NUMBERS = dict.fromkeys(HELD, (1, 300, 0, *FREE, 0))


def test_what_is_counted_of_each_has_to_be_what_the_questions_count_as() -> None:
    """And what is set aside, what is set aside for those; of tokens nobody else knows."""
    begun = Hold("2", most=(1, 500, 0), holders=HELD[1:])
    both = NUMBERS | {HELD[1]: (1, 300, 0, 1, 500, 0, 1)}

    assert list(wrongs_of(Spending([ASKED], NUMBERS))) == []
    assert list(wrongs_of(Spending([ASKED, begun], both))) == []
    for wrong in (
        Spending([ASKED, begun], NUMBERS),
        Spending([ASKED], both),
        Spending([], {HELD[0]: NUMBERS[HELD[0]]}),
    ):
        assert [each.kind for each in wrongs_of(wrong)] == [Kind.COUNTED]


async def test_the_count_is_read_as_the_bot_has_stored_it(tmp_path: Path) -> None:
    """Of what was answered, and of what somebody is at."""
    budgets = tuple(Budget(holder=holder, most=9) for holder in (Holder.PERSON, Holder.CHANNEL, Holder.COMMUNITY))
    asked = [question(id=name, revision=number) for number, name in enumerate("ab")]
    with alone(tmp_path) as node:
        async with connect(f"redis://127.0.0.1:{node.port}/0") as client:
            quota = RedisQuota(client, pseudonym=lambda name: name[::-1])
            runs = [
                Reservation(question=each, run="1", most=Cost(questions=1, tokens=50), budgets=budgets, at=NOON)
                for each in asked
            ]
            assert [await quota.reserve(run) for run in runs] == [None, None]
            await quota.settle(runs[0], Cost(questions=1, tokens=20))
        spending = await spending_of(Lone(node))

    assert [spending.counted(each.message.id) for each in asked] == [1, 0]
    assert [spending.is_held(each.message.id) for each in asked] == [False, True]
    assert len(spending.spent or {}) == 6  # the community, the channel and the person, of a day and of a month
    assert list(wrongs_of(spending)) == []


def test_the_scan_finds_what_can_be_read_and_not_what_is_sealed(tmp_path: Path) -> None:
    """In any file, at any depth; one word of an answer may be chance."""
    (tmp_path / "log").write_text("it was asked by Zerlina Quoss")
    (tmp_path / "redis").mkdir()
    (tmp_path / "redis" / "aof").write_bytes(b"\x00\xffqbwb qbwc\xff a token \x00")
    (tmp_path / "sealed").write_bytes(b"\x00qbwb\xff")

    assert [(wrong.kind, wrong.what) for wrong in leaks(tmp_path, ["Zerlina Quoss", "a token"])] == [
        (Kind.LEAKED, "log: 'Zerlina Quoss'"),
        (Kind.LEAKED, "redis/aof: 'a token'"),
        (Kind.LEAKED, "redis/aof: 'qbwb qbwc'"),
    ]
