"""What every inbox keeps of the words below a question that waits."""

from __future__ import annotations

from contextlib import suppress

import pytest

from core.model import AskedAgain, Claim, Delivery, Edited, MessageRef, WaitNotice, Withdrawal
from tests.builders import thread
from tests.inboxes import (
    ADA,
    Box,
    Boxes,
    asked,
    deleted,
    edited,
    fall_short,
    hand_back,
    is_empty,
    retried,
    taken,
)

UNKNOWN = WaitNotice(thread=thread("elsewhere"), nonce="n")
KNOWN = UNKNOWN.model_copy(update={"id": "7"})
STANDING = Delivery(messages=(MessageRef(thread=thread("elsewhere"), id="5"),))


@pytest.mark.promise("full-house")
async def test_what_is_said_while_a_question_waits_comes_with_it(boxes: Boxes) -> None:
    """As it was noted last, and whoever said it; each question has words of its own."""
    for name in ("1", "2"):
        await boxes.here.put(asked(name, in_thread=name))
    notices = [await boxes.here.announce(asked("1", in_thread="1").message, each) for each in (UNKNOWN, KNOWN)]
    tasks = [await taken(boxes.there) for _ in range(2)]

    assert notices == [True, True]
    assert {task.message.id: task.delivery for task in tasks} == {"1": Delivery(notice=KNOWN), "2": Delivery()}


@pytest.mark.promise("never-silent")
@pytest.mark.parametrize("again", [edited(), retried(asked())])
async def test_it_stands_beside_the_answer_that_is_to_be_replaced(boxes: Boxes, again: Edited | AskedAgain) -> None:
    """Once."""
    await boxes.here.put(asked())
    async with boxes.here.claim() as task:
        await boxes.here.record(task, STANDING)
        assert await boxes.here.keep(task)
    await boxes.there.put(again)
    noted = [await boxes.there.announce(again.message, each) for each in (UNKNOWN, UNKNOWN, KNOWN, UNKNOWN, KNOWN)]
    task = await taken(boxes.here)

    assert noted == [True, True, True, False, False]
    assert task.delivery == STANDING.model_copy(update={"notice": KNOWN})


async def test_it_is_noted_only_while_nobody_has_begun_with_the_question(boxes: Boxes) -> None:
    """Not of what is unknown, worked on, handed back, done or deleted."""
    about, noted = asked(), list[bool]()

    async def announce() -> None:
        noted.append(await boxes.there.announce(about.message, KNOWN))

    await announce()
    await boxes.here.put(about)
    await hand_back(boxes.here)
    await announce()
    async with boxes.here.claim():
        await announce()
    await announce()
    await boxes.here.put(edited())
    await hand_back(boxes.here)
    await announce()
    await fall_short(boxes.here)
    await boxes.here.put(retried(about))
    await boxes.here.put(deleted(about))
    await announce()
    task = await taken(boxes.here)

    assert noted == [False] * 6
    assert task.delivery == Delivery()


async def test_an_edit_keeps_it(inbox: Box) -> None:
    """The answer to other words takes it away as well."""
    await inbox.put(asked())
    await inbox.announce(asked().message, KNOWN)
    await inbox.put(edited())
    task = await taken(inbox)

    assert (isinstance(task, Claim), task.delivery) == (True, Delivery(notice=KNOWN))


@pytest.mark.promise("deletions-count")
@pytest.mark.parametrize("how", ["deleted", "forgotten", "deleted after a loss"])
async def test_it_goes_with_its_question(boxes: Boxes, how: str) -> None:
    """Whether that is deleted, or whoever asked is forgotten, or nobody knows of it: somebody takes it away."""
    if how == "deleted after a loss":
        gone = deleted(asked(), Delivery(notice=KNOWN))
        assert [await boxes.there.put(gone) for _ in range(2)] == [True, False]
    else:
        await boxes.here.put(asked())
        await boxes.here.announce(asked().message, KNOWN)
    if how == "forgotten":
        await boxes.there.forget(asked().message.thread.home, ADA.id)
    elif how == "deleted":
        await boxes.there.put(deleted(asked()))
    assert not await boxes.there.announce(asked().message, UNKNOWN)
    task = await taken(boxes.here)

    assert (isinstance(task, Withdrawal), task.delivery, task.is_redelivered) == (True, Delivery(notice=KNOWN), True)
    assert await is_empty(boxes.here)


async def test_what_a_worker_notes_takes_its_place(inbox: Box) -> None:
    """With it, as long as it stands there."""
    await inbox.put(asked())
    await inbox.announce(asked().message, KNOWN)
    with suppress(ValueError):
        async with inbox.claim() as task:
            await inbox.record(task, task.delivery.model_copy(update={"notice": None}))
            raise ValueError
    again = await taken(inbox)

    assert again.delivery == Delivery()
