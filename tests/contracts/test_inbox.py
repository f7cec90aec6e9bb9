"""What every inbox does: in order, once, and never deaf."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from core.model import (
    Asked,
    Claim,
    Delivery,
    Interaction,
    Interruption,
    ReplyAddress,
    Withdrawal,
)
from tests.builders import NOON, question, thread
from tests.inboxes import (
    POSTED,
    Box,
    Boxes,
    asked,
    asks,
    deleted,
    edited,
    fail,
    hand_back,
    heard,
    is_empty,
    stopped,
    taken,
)


async def test_a_question_comes_out_as_it_went_in(inbox: Box) -> None:
    """With where its answer goes."""
    interaction = Interaction(id="i", token="token", expires_at=datetime(2100, 1, 1, tzinfo=UTC))
    address = ReplyAddress(thread=thread(), message=question().message, interaction=interaction)

    assert await inbox.put(Asked(question=question(), address=address))
    assert await taken(inbox) == Claim(question(), attempt=1, fence=1, address=address)


@pytest.mark.promise("asked-once")
async def test_a_question_that_comes_again_changes_nothing(inbox: Box) -> None:
    """Whether the first is waiting, worked on, or answered."""
    assert await inbox.put(asked())
    assert not await inbox.put(asked())
    async with inbox.claim():
        assert not await inbox.put(asked())
    assert not await inbox.put(asked())
    assert await is_empty(inbox)


async def test_a_question_is_known_as_long_as_it_is_kept(boxes: Boxes) -> None:
    """By every process, also after it was answered; what was only heard of before it came is none."""
    early, known = edited("early"), asked()
    await boxes.here.put(early)
    await boxes.here.put(known)
    waiting = await boxes.there.knows(known.message)
    await taken(boxes.here)

    assert (waiting, await boxes.there.knows(known.message)) == (True, True)
    assert not await boxes.there.knows(early.message)
    assert not await boxes.there.knows(asked("never").message)


async def test_the_question_that_a_thread_waits_for_is_known(boxes: Boxes) -> None:
    """To every process, while it waits and while it is answered; what is gone or done is none."""
    first, second = asked("1"), asked("2")
    before = await boxes.there.running(first.message.thread)
    await boxes.here.put(first)
    await boxes.here.put(second)
    waiting = await boxes.there.running(first.message.thread)
    async with boxes.here.claim():
        answering = await boxes.there.running(first.message.thread)
    after = await boxes.there.running(first.message.thread)
    await boxes.here.put(deleted(second))

    assert (before, waiting, answering, after) == (None, first.question, first.question, second.question)
    assert await boxes.there.running(first.message.thread) is None


@pytest.mark.promise("asked-once")
async def test_a_question_that_two_put_at_once_is_taken_from_one(boxes: Boxes) -> None:
    """One of them hears that it was new."""
    puts = await asyncio.gather(*(box.put(asked()) for box in (boxes.here, boxes.there) * 5))

    assert (puts.count(False), puts.count(True)) == (9, 1)
    assert asks(await taken(boxes.there)) == asked().question
    assert await is_empty(boxes.here)


@pytest.mark.promise("in-order")
async def test_a_thread_is_worked_on_by_one_at_a_time_in_order(boxes: Boxes) -> None:
    """Other threads go on meanwhile."""
    for signal in (asked("1"), asked("2"), asked("3", in_thread="2")):
        await boxes.here.put(signal)

    async with boxes.here.claim() as first, boxes.there.claim() as other:
        assert (asks(first).message.id, asks(other).message.id) == ("1", "3")
        assert await is_empty(boxes.there)
    assert asks(await taken(boxes.there)).message.id == "2"


@pytest.mark.promise("in-order")
async def test_many_questions_of_a_thread_come_in_order(boxes: Boxes) -> None:
    """Whoever works on them."""
    names = [str(number) for number in range(20)]
    for name in names:
        await boxes.here.put(asked(name))
    boxes_in_turn = [boxes.here, boxes.there] * 10

    assert [asks(await taken(box)).message.id for box in boxes_in_turn] == names


@pytest.mark.promise("in-order")
@pytest.mark.parametrize("how", ["fails", "is handed back", "waits"])
async def test_what_comes_late_goes_before_what_was_asked_after_it(inbox: Box, how: str) -> None:
    """Unless somebody has begun with that: two connections, or a second delivery, may have changed the order."""
    for number in (1, 3, 2, 0):
        late = asked(f"m{number}")
        later = late.question.model_copy(update={"asked_at": NOON + timedelta(milliseconds=number)})
        await inbox.put(late.model_copy(update={"question": later}))
        if number == 1 and how != "waits":
            await (fail(inbox, ValueError()) if how == "fails" else hand_back(inbox))
    first = ["m0", "m1"] if how == "waits" else ["m1", "m0"]

    assert [(await taken(inbox)).message.id for _ in range(4)] == [*first, "m2", "m3"]


@pytest.mark.promise("tried-again")
async def test_what_fails_comes_again_before_what_follows(inbox: Box) -> None:
    """Counted, and with a higher fence."""
    await inbox.put(asked("1"))
    await inbox.put(asked("2"))
    await fail(inbox, ValueError())

    again = await taken(inbox)
    assert again == Claim(asked("1").question, attempt=2, fence=2)
    assert asks(await taken(inbox)).message.id == "2"


@pytest.mark.promise("tried-again")
async def test_what_fails_three_times_is_given_up(inbox: Box) -> None:
    """It does not come back by itself, and the thread goes on."""
    await inbox.put(asked("1"))
    await inbox.put(asked("2"))
    attempts = [(await fail(inbox, ValueError())).attempt for _ in range(3)]

    assert attempts == [1, 2, 3]
    assert not await inbox.put(asked("1"))
    assert asks(await taken(inbox)).message.id == "2"
    assert await is_empty(inbox)


async def test_one_who_gives_up_waiting_takes_nothing_along(boxes: Boxes) -> None:
    """Whatever is on its way to them at that moment."""
    for number in range(10):
        waiting = asyncio.create_task(taken(boxes.here))
        await asyncio.sleep(0)
        await boxes.there.put(asked(str(number)))
        waiting.cancel()
        done = (await asyncio.gather(waiting, return_exceptions=True))[0]
        task = done if isinstance(done, Claim) else await taken(boxes.here)
        assert asks(task).message.id == str(number)


async def test_those_who_wait_are_woken_each_by_one(boxes: Boxes) -> None:
    """As many questions of different threads as there are workers."""
    waiting = [asyncio.create_task(taken(box)) for box in (boxes.here, boxes.there) * 3]
    await asyncio.sleep(0)
    for number in range(6):
        await boxes.here.put(asked(str(number), in_thread=str(number)))

    assert sorted(asks(task).message.id for task in await asyncio.gather(*waiting)) == list("012345")


@pytest.mark.promise("edits-count")
async def test_the_edit_of_a_question_that_waits_takes_its_place(inbox: Box) -> None:
    """It stays in line where it was, and the older text is never given out."""
    await inbox.put(asked("1"))
    await inbox.put(asked("2"))
    assert await inbox.put(edited("1", revision=7))

    assert await taken(inbox) == Claim(edited("1", revision=7).question, fence=1)
    assert asks(await taken(inbox)).message.id == "2"
    assert await is_empty(inbox)


@pytest.mark.promise("edits-count")
async def test_an_edit_reaches_the_run_and_comes_next(boxes: Boxes) -> None:
    """With what was posted so far; the answer starts again and is no update of an answer."""
    await boxes.here.put(asked("1"))
    await boxes.here.put(asked("2"))
    async with boxes.here.claim() as task:
        assert await boxes.here.record(task, POSTED)
        assert await boxes.there.put(edited("1"))
        assert await heard(task.cancelled) is Interruption.EDITED

    assert await taken(boxes.there) == Claim(edited("1").question, fence=2, delivery=POSTED)
    assert asks(await taken(boxes.here)).message.id == "2"
    assert await is_empty(boxes.here)


@pytest.mark.promise("edits-count")
async def test_an_edit_counts_even_if_the_run_fails_or_is_cancelled(inbox: Box) -> None:
    """It begins anew with all its attempts."""
    await inbox.put(asked())
    await fail(inbox, ValueError())
    with suppress(ValueError):
        async with inbox.claim():
            await inbox.put(edited())
            raise ValueError

    assert await taken(inbox) == Claim(edited().question, attempt=1, fence=3)
    assert await is_empty(inbox)


@pytest.mark.promise("edits-count")
async def test_an_older_or_repeated_edit_changes_nothing(inbox: Box) -> None:
    """Revisions only grow."""
    await inbox.put(asked())
    assert await inbox.put(edited(revision=2))
    assert not await inbox.put(edited(revision=2))
    assert not await inbox.put(edited(revision=1))
    assert not await inbox.put(asked(revision=0))

    assert asks(await taken(inbox)).revision == 2
    assert not await inbox.put(edited(revision=2))
    assert await is_empty(inbox)


@pytest.mark.promise("edits-count")
async def test_the_edit_of_an_answered_question_is_an_update(inbox: Box) -> None:
    """It comes after what has been asked since, with what was posted."""
    await inbox.put(asked("1"))
    async with inbox.claim() as task:
        await inbox.record(task, POSTED)
    await inbox.put(asked("2"))
    assert await inbox.put(edited("1"))

    assert asks(await taken(inbox)).message.id == "2"
    assert await taken(inbox) == Claim(edited("1").question, fence=2, delivery=POSTED, is_update=True)
    assert await is_empty(inbox)


async def test_the_edit_of_a_question_that_was_given_up_is_tried(inbox: Box) -> None:
    """The reader was told of the failure, so it is an update."""
    await inbox.put(asked())
    for _ in range(3):
        await fail(inbox, ValueError())
    assert await inbox.put(edited())

    assert await taken(inbox) == Claim(edited().question, fence=4, is_update=True)


@pytest.mark.promise("edits-count")
async def test_an_edit_that_overtakes_its_question_counts(inbox: Box) -> None:
    """By itself it starts nothing."""
    assert not await inbox.put(edited(revision=3))
    assert await is_empty(inbox)
    assert await inbox.put(asked())

    assert await taken(inbox) == Claim(edited(revision=3).question, fence=1)


@pytest.mark.promise("deletions-count")
async def test_a_deleted_question_that_waits_is_gone(inbox: Box) -> None:
    """Nothing of it was shown, so nothing has to be taken back; the thread goes on, and it cannot come again."""
    await inbox.put(asked("1"))
    await inbox.put(asked("2"))
    assert await inbox.put(deleted(asked("1")))
    assert not await inbox.put(deleted(asked("1")))

    assert asks(await taken(inbox)).message.id == "2"
    assert not await inbox.put(asked("1"))
    assert not await inbox.put(edited("1"))
    assert await is_empty(inbox)


@pytest.mark.promise("deletions-count")
async def test_the_last_question_of_a_thread_can_be_deleted(inbox: Box) -> None:
    """The next one is given out once."""
    await inbox.put(asked("1"))
    await inbox.put(deleted(asked("1")))
    await inbox.put(asked("2"))

    assert asks(await taken(inbox)).message.id == "2"
    assert await is_empty(inbox)


@pytest.mark.promise("deletions-count")
async def test_a_deletion_reaches_the_run_and_what_was_posted_is_taken_back(boxes: Boxes) -> None:
    """Before the thread goes on."""
    await boxes.here.put(asked("1"))
    await boxes.here.put(asked("2"))
    async with boxes.here.claim() as task:
        await boxes.here.record(task, POSTED)
        assert await boxes.there.put(deleted(asked("1")))
        assert await heard(task.cancelled) is Interruption.DELETED

    assert await taken(boxes.there) == Withdrawal(asked("1").message, fence=2, delivery=POSTED)
    assert asks(await taken(boxes.there)).message.id == "2"
    assert await is_empty(boxes.here)


@pytest.mark.promise("deletions-count")
async def test_whoever_is_at_a_question_that_is_deleted_can_take_its_answer_back_at_once(boxes: Boxes) -> None:
    """Then nothing is left to do for anybody."""
    await boxes.here.put(asked("1"))
    async with boxes.here.claim() as task:
        assert isinstance(task, Claim)
        await boxes.here.record(task, POSTED)
        await boxes.there.put(deleted(asked("1")))
        await heard(task.cancelled)
        withdrawal = boxes.here.withdrawal(task)
        holds = await boxes.here.holds(withdrawal), await boxes.here.record(withdrawal, Delivery())

    assert withdrawal == Withdrawal(asked("1").message, fence=1, delivery=POSTED, was_released=True)
    assert (holds, await is_empty(boxes.there)) == ((True, True), True)


@pytest.mark.promise("deletions-count")
async def test_the_answer_to_a_deleted_question_is_taken_back(inbox: Box) -> None:
    """Whether it was given or is to be tried again; and taking it back is tried as often as answering."""
    for each in ("1", "2"):
        await inbox.put(asked(each, in_thread=each))
    async with inbox.claim() as task:
        await inbox.record(task, POSTED)
    await fail(inbox, ValueError())
    for each in ("1", "2"):
        assert await inbox.put(deleted(asked(each, in_thread=each)))

    tasks = [await fail(inbox, ValueError()) for _ in range(2)]
    assert {type(each) for each in tasks} == {Withdrawal}
    again = {each.message.id: each for each in [await taken(inbox), await taken(inbox)]}
    assert again == {
        "1": Withdrawal(asked("1", in_thread="1").message, attempt=2, fence=3, delivery=POSTED),
        "2": Withdrawal(asked("2", in_thread="2").message, attempt=2, fence=3, was_released=True),
    }
    assert await is_empty(inbox)


@pytest.mark.promise("deletions-count")
async def test_a_deletion_that_overtakes_its_question_counts(inbox: Box) -> None:
    """The question comes to nothing."""
    assert not await inbox.put(edited())
    assert not await inbox.put(deleted(asked()))
    assert not await inbox.put(asked())
    assert not await inbox.put(edited(revision=2))
    assert await is_empty(inbox)


@pytest.mark.promise("stops-count")
async def test_a_stop_reaches_the_run(boxes: Boxes) -> None:
    """Wherever it runs; afterwards the question is answered like any other."""
    await boxes.here.put(asked())
    async with boxes.here.claim() as task:
        assert await boxes.there.put(stopped(asked()))
        assert not await boxes.there.put(stopped(asked()))
        assert await heard(task.cancelled) is Interruption.STOPPED

    assert not await boxes.here.put(stopped(asked()))
    assert await is_empty(boxes.here)


@pytest.mark.promise("stops-count")
async def test_a_question_that_is_stopped_before_its_turn_is_given_out_as_stopped(inbox: Box) -> None:
    """So that whoever waits for it is told; an edit after that asks anew."""
    for each in ("1", "2"):
        await inbox.put(asked(each, in_thread=each))
        assert await inbox.put(stopped(asked(each, in_thread=each)))
    await inbox.put(edited("2", in_thread="2"))

    assert [(await taken(inbox)).cancelled.reason for _ in range(2)] == [Interruption.STOPPED, None]


async def test_an_edit_after_a_stop_is_the_stronger_reason(inbox: Box) -> None:
    """The new question is not stopped."""
    await inbox.put(asked())
    async with inbox.claim() as task:
        await inbox.put(stopped(asked()))
        await heard(task.cancelled)
        await inbox.put(edited())

    task = await taken(inbox)
    assert (asks(task).revision, task.cancelled.reason) == (1, None)


async def test_nothing_is_known_of_what_was_never_asked(inbox: Box) -> None:
    """A stop for it changes nothing, and the question can still come."""
    assert not await inbox.put(stopped(asked()))
    assert await inbox.put(asked())
    assert (await taken(inbox)).cancelled.reason is None


async def test_only_who_holds_a_task_records_what_was_posted(inbox: Box) -> None:
    """Afterwards it is too late."""
    await inbox.put(asked())
    async with inbox.claim() as first:
        assert await inbox.record(first, Delivery())
        await inbox.put(edited())
    async with inbox.claim() as second:
        assert not await inbox.record(first, POSTED)
        assert await inbox.record(second, POSTED)
    assert not await inbox.record(second, Delivery())


async def test_ids_of_any_characters_are_kept_apart(inbox: Box) -> None:
    """Braces, colons, blanks and other scripts."""
    names = ["{1}", "1", "a:b", "a b", "\n", "نص 🤖"]
    for name in names:
        assert await inbox.put(asked(name, in_thread=name))

    assert [asks(await taken(inbox)).message.id for _ in names] == names
