"""What every inbox does when a person wants to be forgotten."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.model import Claim, Delivery, Interruption, MessageRef, Person, Withdrawal
from tests.builders import NOON, thread
from tests.inboxes import (
    BOBS,
    POSTED,
    Box,
    Boxes,
    Signals,
    asked,
    asks,
    edited,
    fail,
    fall_short,
    heard,
    is_empty,
    quoting,
    retried,
    taken,
)

HOME = thread().home
EVE = Person(id="{eve}: ", name="Eve")


def by_eve(signal: Signals) -> Signals:
    """Somebody else asks."""
    return signal.model_copy(update={"question": signal.question.model_copy(update={"author": EVE})})


@pytest.mark.promise("forget-person")
async def test_what_a_forgotten_person_waits_for_does_not_come(boxes: Boxes) -> None:
    """What others wait for does, in its order."""
    for signal in (by_eve(asked("1")), asked("2"), by_eve(asked("3")), by_eve(asked("4", in_thread="2"))):
        await boxes.here.put(signal)

    assert await boxes.here.count_person(HOME, EVE.id) == 3
    assert [await boxes.there.forget(HOME, EVE.id) for _ in range(2)] == [3, 0]
    assert await boxes.here.count_person(HOME, EVE.id) == 0
    assert asks(await taken(boxes.here)).message.id == "2"
    assert await is_empty(boxes.here)


@pytest.mark.promise("forget-person")
async def test_the_answer_that_a_forgotten_person_is_given_ends(boxes: Boxes) -> None:
    """What was shown of it is taken back, as nothing of it may be remembered."""
    await boxes.here.put(by_eve(asked()))
    async with boxes.here.claim() as task:
        await boxes.here.record(task, POSTED)
        assert await boxes.there.forget(HOME, EVE.id) == 1
        assert await heard(task.cancelled) is Interruption.DELETED

    assert await taken(boxes.here) == Withdrawal(asked().message, fence=2, delivery=POSTED)
    assert await is_empty(boxes.here)


@pytest.mark.promise("forget-person")
async def test_of_what_failed_no_words_are_kept_of_a_forgotten_person(inbox: Box) -> None:
    """Whether somebody kept them, or they were given up; what was answered has left none."""
    for name in ("1", "2", "3"):
        await inbox.put(by_eve(asked(name)))
    await taken(inbox)
    await fall_short(inbox)
    for _ in range(3):
        await fail(inbox, ValueError())

    assert await inbox.count_person(HOME, EVE.id) == 2
    assert [await inbox.forget(HOME, EVE.id) for _ in range(2)] == [2, 0]
    assert not any([await inbox.put(retried(asked(name))) for name in ("1", "2", "3")])
    assert await is_empty(inbox)


@pytest.mark.promise("forget-person")
async def test_nobody_else_is_forgotten(inbox: Box) -> None:
    """Neither others, nor those of the same id elsewhere."""
    await inbox.put(asked())

    assert await inbox.forget(HOME, EVE.id) == 0
    assert await inbox.forget(HOME.model_copy(update={"workspace": "w2"}), "p1") == 0
    assert await taken(inbox) == Claim(asked().question, fence=1)


@pytest.mark.promise("forget-person")
async def test_whoever_was_forgotten_can_ask_again_and_be_forgotten_again(inbox: Box) -> None:
    """Also by an edit of what was answered before."""
    await inbox.put(by_eve(asked("1")))
    await taken(inbox)
    assert await inbox.forget(HOME, EVE.id) == 0
    assert await inbox.put(by_eve(edited("1")))
    assert await inbox.put(by_eve(asked("2")))

    assert await inbox.forget(HOME, EVE.id) == 2
    assert await taken(inbox) == Withdrawal(asked("1").message, fence=2, was_released=True)
    assert await is_empty(inbox)


async def test_an_edit_that_came_before_its_question_is_forgotten_too(inbox: Box) -> None:
    """With it the question, which is only on its way."""
    await inbox.put(by_eve(edited()))
    await inbox.forget(HOME, EVE.id)

    assert not await inbox.put(by_eve(asked()))
    assert await is_empty(inbox)


def elsewhere(signal: Signals) -> Signals:
    """It is asked in another workspace."""
    place = thread("far").model_copy(update={"workspace": "{w2}: "})
    message = MessageRef(thread=place, id=signal.message.id)
    return signal.model_copy(update={"question": signal.question.model_copy(update={"message": message})})


@pytest.mark.promise("forget-workspace")
async def test_what_a_forgotten_workspace_waits_for_does_not_come(boxes: Boxes) -> None:
    """Whoever asked; what others wait for elsewhere does."""
    for signal in (by_eve(asked("1")), asked("2"), elsewhere(asked("3")), asked("4", in_thread="2")):
        await boxes.here.put(signal)

    assert await boxes.there.forget(HOME, before=NOON - timedelta(seconds=1)) == 0
    assert [await boxes.there.forget(HOME, before=NOON) for _ in range(2)] == [3, 0]
    assert asks(await taken(boxes.here)) == elsewhere(asked("3")).question
    assert await is_empty(boxes.here)


@pytest.mark.promise("forget-workspace")
async def test_the_answers_that_a_forgotten_workspace_is_given_end(boxes: Boxes) -> None:
    """What they remembered meanwhile, and what was shown of them, is taken back by what comes next."""
    for name in ("1", "2"):
        await boxes.here.put(by_eve(asked(name, in_thread=name)))
    async with boxes.here.claim() as one, boxes.there.claim() as other:
        await boxes.here.record(one, POSTED)
        assert await boxes.there.forget(HOME) == 2
        assert {await heard(task.cancelled) for task in (one, other)} == {Interruption.DELETED}

    withdrawn = {task.message.id: task for task in [await taken(boxes.here), await taken(boxes.here)]}
    assert {name: (type(task), task.delivery) for name, task in withdrawn.items()} == {
        one.message.id: (Withdrawal, POSTED),
        other.message.id: (Withdrawal, Delivery()),
    }
    assert await is_empty(boxes.here)


@pytest.mark.promise("forget-workspace")
async def test_of_what_failed_no_words_are_kept_of_a_forgotten_workspace(inbox: Box) -> None:
    """Nor of what was given up; elsewhere they are."""
    signals = (asked("1"), by_eve(asked("2")), elsewhere(asked("3")))
    for signal in signals:
        await inbox.put(signal)
        await fall_short(inbox)
    await inbox.put(asked("4"))
    for _ in range(3):
        await fail(inbox, ValueError())

    assert [await inbox.forget(HOME) for _ in range(2)] == [3, 0]
    assert [await inbox.put(retried(each)) for each in (*signals, asked("4"))] == [False, False, True, False]
    assert await taken(inbox) == Claim(elsewhere(asked("3")).question, fence=2)


@pytest.mark.promise("forget-workspace")
async def test_a_workspace_that_was_forgotten_can_ask_again_and_be_forgotten_again(inbox: Box) -> None:
    """The bot was invited again, and has the same people."""
    for name in ("1", "2"):
        await inbox.put(asked(name))
        assert await inbox.forget(HOME) == 1
    await inbox.put(asked("3"))

    assert asks(await taken(inbox)).message.id == "3"
    assert await inbox.forget(HOME) == 0


BOB, NEW_QUOTES = "p2", quoting(edited())


@pytest.mark.promise("forget-person")
async def test_what_somebody_wrote_is_not_quoted_to_others_any_more(boxes: Boxes) -> None:
    """Their question goes on without anything that is quoted, wherever it is; words of others stay where those were."""
    for signal in (quoting(asked("1")), quoting(elsewhere(asked("2"))), quoting(asked("3", in_thread="3"))):
        await boxes.here.put(signal)
    await boxes.here.put(quoting(edited("4", in_thread="4")))
    assert [await boxes.there.forget(HOME, who) for who in ("p3", BOB)] == [0, 0]
    await boxes.here.put(asked("4", in_thread="4"))

    found = {asks(task).message.id: asks(task).context for task in [await taken(boxes.here) for _ in range(4)]}
    assert found == {"1": (), "2": (BOBS,), "3": (), "4": ()}
    assert await is_empty(boxes.here)


@pytest.mark.promise("forget-person")
async def test_an_answer_under_way_begins_anew_without_the_words_of_who_is_forgotten(boxes: Boxes) -> None:
    """A model has them; what was shown stays to be changed, and it is no attempt. Words of nobody knows whom go too."""
    await boxes.here.put(quoting(asked("1")))
    unknown = BOBS.model_copy(update={"author_id": ""})
    old = asked("2", in_thread="2")
    await boxes.here.put(old.model_copy(update={"question": old.question.model_copy(update={"context": (unknown,)})}))
    async with boxes.here.claim() as one, boxes.there.claim() as other:
        await boxes.here.record(one, POSTED)
        assert await boxes.there.forget(HOME, BOB) == 0
        assert {await heard(task.cancelled) for task in (one, other)} == {Interruption.EDITED}

    again = sorted([await taken(boxes.here), await taken(boxes.here)], key=lambda task: task.message.id)
    posted = {one.message.id: POSTED}
    assert again == [
        Claim(each.question.alone, fence=2, delivery=posted.get(each.message.id, Delivery()))
        for each in (asked("1"), old)
    ]
    assert await is_empty(boxes.here)


@pytest.mark.promise("forget-person")
async def test_an_edit_that_comes_meanwhile_quotes_nobody_who_is_forgotten(inbox: Box) -> None:
    """Nor what is tried again."""
    await inbox.put(quoting(asked()))
    await inbox.put(NEW_QUOTES)
    await fall_short(inbox)
    assert await inbox.forget(HOME, BOB) == 0
    assert await inbox.put(retried(asked()))

    assert asks(await taken(inbox)) == NEW_QUOTES.question.alone


@pytest.mark.promise("forget-person")
async def test_an_answer_begins_anew_where_what_is_remembered_has_changed(boxes: Boxes) -> None:
    """Once; what waits has not been given it, and nothing happens where nobody asks."""
    for signal in (asked("1"), asked("2"), asked("3", in_thread="3")):
        await boxes.here.put(signal)
    async with boxes.here.claim() as here, boxes.there.claim() as there:
        await boxes.there.begin_anew([thread(), thread("9")])
        held = {task.message.id: task for task in (here, there)}
        assert await heard(held["1"].cancelled) is Interruption.EDITED
        assert held["3"].cancelled.reason is None

    again = [await taken(boxes.here) for _ in range(2)]
    assert again == [Claim(asked("1").question, fence=2), Claim(asked("2").question, fence=1)]
    assert await is_empty(boxes.here)
