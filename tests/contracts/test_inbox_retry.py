"""What every inbox does with questions that somebody wants to be tried again, and how it counts those that wait."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from core.errors import PeopleUnavailable, ShutOut
from core.model import MOST_ATTEMPTS, Asked, Claim, Interaction, Interruption, ReplyAddress, Signal, Withdrawal
from tests.builders import question, thread
from tests.inboxes import (
    POSTED,
    WRITTEN,
    Box,
    Boxes,
    asked,
    asks,
    deleted,
    doubted,
    edited,
    fail,
    fall_short,
    hand_back,
    heard,
    is_empty,
    quoting,
    retried,
    stopped,
    taken,
)


@pytest.mark.promise("retry")
async def test_a_question_that_was_kept_is_tried_again_as_it_was(boxes: Boxes) -> None:
    """With what was posted, to be edited, and as if it had not been answered."""
    await boxes.here.put(asked())
    async with boxes.here.claim() as task:
        await boxes.here.record(task, POSTED)
        assert await boxes.here.keep(task)
    assert await boxes.there.put(retried(asked()))

    assert await taken(boxes.there) == Claim(asked().question, attempt=1, fence=2, delivery=POSTED)
    assert await is_empty(boxes.here)


@pytest.mark.promise("crash-safe")
async def test_a_question_whose_answer_is_in_doubt_comes_again_as_a_further_attempt(boxes: Boxes) -> None:
    """With what was posted; not while it waits or is answered, when it was deleted, or when its words are older."""
    await boxes.here.put(asked())
    puts = [await boxes.there.put(doubted(asked()))]
    async with boxes.here.claim() as task:
        await boxes.here.record(task, POSTED)
        puts.append(await boxes.there.put(doubted(asked())))
    puts.append(await boxes.there.put(doubted(edited())))
    puts.append(await boxes.there.put(doubted(asked())))

    assert puts == [False, False, False, True]
    assert await taken(boxes.there) == Claim(asked().question, attempt=2, fence=2, delivery=POSTED)
    await boxes.here.put(deleted(asked()))
    await taken(boxes.here)
    assert not await boxes.here.put(doubted(asked()))
    assert await is_empty(boxes.here)


async def fail_at_the_end(box: Box, *, by_another: bool = False) -> None:
    """Fail with what is asked once its answer is written, perhaps by somebody else who had lost it."""
    await box.put(asked())
    with suppress(ValueError):
        async with box.claim() as task:
            await box.put(doubted(asked(), WRITTEN.answer if by_another else None))
            await box.record(task, POSTED if by_another else WRITTEN)
            raise ValueError


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("by_another", [False, True])
async def test_an_answer_that_was_written_is_there_for_whoever_takes_over(boxes: Boxes, *, by_another: bool) -> None:
    """Until it is shown, and no longer, unless one that had lost the question has it: it is remembered elsewhere."""
    await fail_at_the_end(boxes.here, by_another=by_another)
    async with boxes.there.claim() as again:
        pass
    await boxes.here.put(doubted(asked()))

    assert (again.delivery, (await taken(boxes.here)).delivery) == (WRITTEN, POSTED)
    await boxes.here.put(doubted(asked(), WRITTEN.answer))
    assert (await taken(boxes.there)).delivery == WRITTEN


@pytest.mark.promise("edits-count")
@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("change", [edited(), deleted(asked())])
async def test_an_answer_to_words_that_count_no_more_is_kept_no_more(
    boxes: Boxes, change: Signal, *, is_late: bool
) -> None:
    """Whether its worker notes it before it hears of that or after."""
    await boxes.here.put(asked())
    async with boxes.here.claim() as task:
        for record in (True, False) if is_late else (False, True):
            if record:
                await boxes.there.put(change)
            else:
                await boxes.here.record(task, WRITTEN)

    assert (await taken(boxes.there)).delivery == POSTED


@pytest.mark.promise("forget")
async def test_an_answer_that_was_written_with_words_that_are_forgotten_is_forgotten(boxes: Boxes) -> None:
    """It may say what stood in a thread before, or in what the question quotes."""
    await fail_at_the_end(boxes.here)
    await boxes.there.begin_anew([thread()])

    assert (await taken(boxes.here)).delivery == POSTED


@pytest.mark.promise("crash-safe")
async def test_a_question_that_was_given_up_and_is_in_doubt_is_not_tried_but_given_up_again(boxes: Boxes) -> None:
    """A late request may have taken away the mark of the apology, which is made once more."""
    await boxes.here.put(asked())
    for _ in range(MOST_ATTEMPTS):
        await fail(boxes.here, ValueError())

    assert await boxes.there.put(doubted(asked()))
    assert (await fail(boxes.there, ValueError())).attempt > MOST_ATTEMPTS
    assert await is_empty(boxes.here)
    assert await boxes.there.put(doubted(asked()))


@pytest.mark.promise("retry")
async def test_trying_again_twice_is_trying_again_once(inbox: Box) -> None:
    """While it waits, while it runs, and when it has been answered."""
    await inbox.put(asked())
    await fall_short(inbox)

    puts = [await inbox.put(retried(asked())) for _ in range(2)]
    async with inbox.claim():
        puts.append(await inbox.put(retried(asked())))
    puts.append(await inbox.put(retried(asked())))
    assert puts == [True, False, False, False]
    assert await is_empty(inbox)


@pytest.mark.promise("retry")
async def test_of_several_who_want_it_at_once_one_is_heard(boxes: Boxes) -> None:
    """It comes once."""
    await boxes.here.put(asked())
    await fall_short(boxes.here)
    puts = await asyncio.gather(*(box.put(retried(asked())) for box in (boxes.here, boxes.there) * 5))

    assert (puts.count(False), puts.count(True)) == (9, 1)
    assert asks(await taken(boxes.there)) == asked().question
    assert await is_empty(boxes.here)


@pytest.mark.promise("retry")
async def test_what_falls_short_again_can_be_tried_again(inbox: Box) -> None:
    """As often as somebody wants it."""
    await inbox.put(asked())
    fences = [(await fall_short(inbox)).fence]
    for _ in range(3):
        assert await inbox.put(retried(asked()))
        fences.append((await fall_short(inbox)).fence)

    assert fences == [1, 2, 3, 4]


@pytest.mark.promise("retry")
async def test_what_was_given_up_can_be_tried_again(inbox: Box) -> None:
    """With all its attempts, and kept by itself."""
    await inbox.put(asked())
    for _ in range(3):
        await fail(inbox, ValueError())
    assert await inbox.put(retried(asked()))
    attempts = [await fail(inbox, ValueError()) for _ in range(3)]

    assert attempts == [Claim(asked().question, attempt=each, fence=3 + each) for each in (1, 2, 3)]
    assert await inbox.put(retried(asked()))
    assert await taken(inbox) == Claim(asked().question, attempt=1, fence=7)


@pytest.mark.promise("nothing-of-bystanders")
async def test_what_others_wrote_is_not_kept(inbox: Box) -> None:
    """They come along until the question has ended, also to further attempts; what is tried again stands alone."""
    questions = [quoting(asked(name, in_thread=name)) for name in ("1", "2")]
    await inbox.put(questions[0])
    tasks = [await fall_short(inbox)]
    await inbox.put(questions[1])
    tasks += [await fail(inbox, ValueError()) for _ in range(3)]
    for each in questions:
        assert await inbox.put(retried(each))

    assert [asks(task) for task in tasks] == [each.question for each in (questions[0], *questions[1:] * 3)]
    assert [asks(await taken(inbox)) for _ in range(2)] == [asked(name, in_thread=name).question for name in ("1", "2")]


@pytest.mark.promise("retry")
async def test_what_was_not_kept_is_not_tried_again(inbox: Box) -> None:
    """Whether it is unknown, waits, or was answered."""
    assert not await inbox.put(retried(asked()))
    await inbox.put(asked())
    assert not await inbox.put(retried(asked()))
    await taken(inbox)

    assert not await inbox.put(retried(asked()))
    assert await is_empty(inbox)


@pytest.mark.promise("retry")
async def test_an_answer_that_came_after_all_ends_what_was_kept(inbox: Box) -> None:
    """An attempt that kept the words and then failed is followed by one that did not."""
    await inbox.put(asked())
    with suppress(ValueError):
        async with inbox.claim() as task:
            await inbox.keep(task)
            raise ValueError
    assert not await inbox.put(retried(asked()))
    await taken(inbox)

    assert not await inbox.put(retried(asked()))


@pytest.mark.promise("deletions-count")
async def test_a_deleted_question_is_not_tried_again(inbox: Box) -> None:
    """Nor is one that is deleted while it waits for it: what was shown is taken back."""
    for each in ("1", "2"):
        await inbox.put(asked(each))
        await fall_short(inbox)
    await inbox.put(deleted(asked("1")))
    assert not await inbox.put(retried(asked("1")))
    assert await taken(inbox) == Withdrawal(asked("1").message, fence=2)
    assert not await inbox.put(retried(asked("1")))

    assert await inbox.put(retried(asked("2")))
    assert await inbox.put(deleted(asked("2")))
    assert await taken(inbox) == Withdrawal(asked("2").message, fence=2, was_released=True)
    assert await is_empty(inbox)


@pytest.mark.promise("edits-count")
async def test_newer_words_are_tried_in_the_place_of_those_that_were_kept(inbox: Box) -> None:
    """An edit is an update of what the reader saw, and leaves nothing to try again."""
    await inbox.put(asked())
    await fall_short(inbox)
    assert await inbox.put(edited())
    assert not await inbox.put(retried(asked()))
    assert await taken(inbox) == Claim(edited().question, fence=2, is_update=True)

    assert not await inbox.put(retried(asked()))
    assert await is_empty(inbox)


@pytest.mark.promise("edits-count")
async def test_words_that_have_been_replaced_are_not_kept(inbox: Box) -> None:
    """Whether the edit came before they were kept, or after."""
    for each in ("1", "2"):
        await inbox.put(asked(each))
    async with inbox.claim() as task:
        await inbox.put(edited("1"))
        assert await inbox.keep(task)
    assert asks(await taken(inbox)).revision == 1
    async with inbox.claim() as task:
        assert await inbox.keep(task)
        await inbox.put(edited("2"))
    assert asks(await taken(inbox)).revision == 1

    assert not any([await inbox.put(retried(asked(each))) for each in ("1", "2")])
    assert await is_empty(inbox)


@pytest.mark.promise("in-order")
async def test_what_is_tried_again_comes_after_what_was_asked_since(inbox: Box) -> None:
    """One at a time, as always."""
    for each in ("1", "2", "3"):
        await inbox.put(asked(each))
    await fall_short(inbox)
    await inbox.put(retried(asked("1")))

    assert [asks(await taken(inbox)).message.id for _ in range(3)] == ["2", "3", "1"]
    assert await is_empty(inbox)


@pytest.mark.promise("stops-count")
async def test_what_is_tried_again_can_be_stopped(inbox: Box) -> None:
    """A stop before that counts no longer."""
    await inbox.put(asked())
    async with inbox.claim() as task:
        await inbox.keep(task)
        await inbox.put(stopped(asked()))
    await inbox.put(retried(asked()))

    async with inbox.claim() as task:
        assert task.cancelled.reason is None
        assert await inbox.put(stopped(asked()))
        assert await heard(task.cancelled) is Interruption.STOPPED


async def test_only_who_holds_a_task_keeps_it(inbox: Box) -> None:
    """Afterwards it is too late."""
    await inbox.put(asked())
    task = await taken(inbox)

    assert not await inbox.keep(task)
    assert not await inbox.put(retried(asked()))


async def test_a_token_that_is_still_good_comes_along(inbox: Box) -> None:
    """A private answer has no other way to its reader."""
    interaction = Interaction(id="i", token="token", expires_at=datetime(2100, 1, 1, tzinfo=UTC))
    address = ReplyAddress(thread=thread(), interaction=interaction)
    await inbox.put(Asked(question=question(), address=address))
    await fall_short(inbox)
    await inbox.put(retried(asked()))

    assert await taken(inbox) == Claim(question(), fence=2, address=address)


@pytest.mark.promise("queue-is-known")
async def test_the_questions_that_wait_are_counted(boxes: Boxes) -> None:
    """Over all threads and for all processes; the one that is worked on waits no longer."""
    counts = [await boxes.here.waiting()]
    for name, within in (("1", "a"), ("2", "a"), ("3", "b")):
        await boxes.here.put(asked(name, in_thread=within))
    counts.append(await boxes.there.waiting())
    async with boxes.here.claim():
        counts.append(await boxes.there.waiting())
    await fail(boxes.here, ValueError())
    counts.append(await boxes.there.waiting())
    await boxes.there.put(deleted(asked("2", in_thread="a")))
    await boxes.there.put(deleted(asked("3", in_thread="b")))
    counts.append(await boxes.there.waiting())

    assert counts == [0, 3, 2, 2, 1]


async def test_a_worker_that_is_cancelled_hands_its_task_back(boxes: Boxes) -> None:
    """At once, and it does not count as an attempt."""
    await boxes.here.put(asked())
    await hand_back(boxes.here)

    assert await taken(boxes.there) == Claim(asked().question, attempt=1, fence=2, was_released=True)


async def test_who_stops_again_and_again_gives_a_model_no_question_a_fourth_time(boxes: Boxes) -> None:
    """What was begun is an attempt, also where its worker hands it back."""
    await boxes.here.put(asked())
    for _ in range(MOST_ATTEMPTS):
        with suppress(asyncio.CancelledError):
            async with boxes.here.claim() as task:
                task.begun.set()
                raise asyncio.CancelledError

    assert (await taken(boxes.there)).attempt == MOST_ATTEMPTS + 1


@pytest.mark.promise("bans-are-waited-out")
@pytest.mark.promise("guests-apart")
@pytest.mark.parametrize("error", [ShutOut(600.0), PeopleUnavailable("Nobody says who reads.", wait=0.001)])
async def test_a_platform_that_refuses_the_bot_costs_no_attempt(boxes: Boxes, error: Exception) -> None:
    """However often that is found out; nor does one that says later who reads along."""
    await boxes.here.put(asked())
    for _ in range(MOST_ATTEMPTS + 1):
        await fail(boxes.here, error)

    again = await taken(boxes.there)
    assert (again.attempt, again.was_released) == (1, isinstance(error, ShutOut))


@pytest.mark.promise("deletions-count")
@pytest.mark.parametrize("has_failed", [True, False])
async def test_a_question_that_waits_again_and_is_deleted_is_taken_back(boxes: Boxes, has_failed: bool) -> None:
    """Whoever had it may have left a sign of work there."""
    await boxes.here.put(asked())
    await (fail(boxes.here, ValueError()) if has_failed else hand_back(boxes.here))
    assert await boxes.here.put(deleted(asked()))

    assert await taken(boxes.there) == Withdrawal(asked().message, attempt=1, fence=2, was_released=True)


async def test_a_question_that_was_given_up_begins_anew_with_its_edit(inbox: Box) -> None:
    """Whoever handed it back before that has nothing to do with it any more."""
    await inbox.put(asked())
    await hand_back(inbox)
    for _ in range(MOST_ATTEMPTS):
        await fail(inbox, ValueError())
    await inbox.put(edited())

    again = await taken(inbox)
    assert isinstance(again, Claim)
    assert (again.attempt, again.was_released) == (1, False)
