"""What every inbox does with questions that are asked by commands, before it is known where they belong."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import cast

import pytest

from adapters.redis.inbox_store import InboxStore
from adapters.redis.secrets import Seal
from core.model import Asked, Delivery, Interaction, MessageRef, ReplyAddress, Stage
from tests.builders import question, thread
from tests.fixtures.redis import clean, say
from tests.inboxes import (
    ADA,
    SECRET,
    Box,
    Boxes,
    asked,
    asks,
    deleted,
    edited,
    fall_short,
    is_empty,
    redis_boxes,
    retried,
    stopped,
    taken,
)

SOON, AWHILE, SHORT = 5.0, 0.5, 0.05  # seconds
MANY = 600
LONGEST_LIFE = 90 * 60 * 1000  # milliseconds
PREFIX = "footnote:inbox:{inbox}:"
WAY = Interaction(id="i", token="token", expires_at=datetime(2100, 1, 1, tzinfo=UTC))


def used(id: str = "i1", *, platform: str = "test", private: bool = False) -> Asked:  # noqa: A002 - the field's name
    """Somebody asks by a command, which has an id of its own."""
    place = thread(id).model_copy(update={"platform": platform})
    about = question(f"What is {id}?", visibility="private" if private else "thread")
    about = about.model_copy(update={"message": MessageRef(thread=place, id=id)})
    return Asked(question=about, address=ReplyAddress(thread=place, interaction=WAY))


def below(accepted: Asked, id: str = "m9", *, in_thread: str = "9") -> Asked:  # noqa: A002 - the field's name
    """Give the same as the message that stands for it."""
    message = MessageRef(thread=thread(in_thread), id=id)
    about = accepted.question.model_copy(update={"message": message})
    return Asked(question=about, address=ReplyAddress(thread=message.thread, interaction=WAY))


async def left(inbox: Box, *, accepted: Asked) -> None:
    """Accept a question, and die over it."""
    lasting, inbox.accepted_for = inbox.accepted_for, SHORT
    assert await inbox.accept(accepted, within=SOON)
    inbox.accepted_for = lasting
    await asyncio.sleep(SHORT * 2)


@pytest.mark.promise("crash-safe")
async def test_what_is_accepted_waits_until_it_is_moved(boxes: Boxes) -> None:
    """It counts as waiting, and nobody works on it; then it is answered under its own message, as it was asked."""
    accepted = used()
    assert await boxes.here.accept(accepted, within=SOON)
    waiting = await boxes.there.waiting()
    empty = await is_empty(boxes.there)
    moved = await boxes.here.move(accepted.message, below(accepted))
    after = await boxes.there.waiting()
    task = await taken(boxes.there)

    assert (waiting, empty, moved, after) == (1, True, True, 1)
    assert (asks(task), getattr(task, "address", None)) == (below(accepted).question, below(accepted).address)
    assert (await boxes.here.waiting(), await boxes.here.overdue("test")) == (0, None)


@pytest.mark.promise("crash-safe")
async def test_what_one_person_sees_is_moved_as_it_is(inbox: Box) -> None:
    """It stays where the command was used."""
    accepted = used(private=True)
    await inbox.accept(accepted, within=SOON)

    assert await inbox.move(accepted.message, accepted)
    assert not await inbox.move(accepted.message, accepted)
    assert asks(await taken(inbox)) == accepted.question
    assert await is_empty(inbox)


@pytest.mark.promise("asked-once")
@pytest.mark.parametrize("is_again", [False, True])
async def test_who_takes_what_is_moved_again_is_told_that_it_may_have_been_begun(inbox: Box, *, is_again: bool) -> None:
    """A store that lost it forgot who had it before, and what that worker has posted."""
    accepted = used()
    await inbox.accept(accepted, within=SOON)
    place = below(accepted).model_copy(update={"delivery": Delivery() if is_again else None})
    await inbox.move(accepted.message, place)

    assert (await taken(inbox)).is_redelivered == is_again


@pytest.mark.promise("asked-once")
@pytest.mark.parametrize("private", [False, True])
async def test_a_use_that_is_told_twice_is_accepted_once(boxes: Boxes, private: bool) -> None:
    """Whether it is accepted, moved or answered; both its names are known from then on."""
    accepted = used(private=private)
    place = accepted if private else below(accepted)
    tried = [await boxes.here.accept(accepted, within=SOON), await boxes.there.accept(accepted, within=SOON)]
    moved = [await each.move(accepted.message, place) for each in (boxes.here, boxes.there)]
    tried.append(await boxes.there.accept(accepted, within=SOON))
    await taken(boxes.here)
    tried.append(await boxes.there.accept(accepted, within=SOON))

    assert (tried, moved) == ([True, False, False, False], [True, False])
    assert [await boxes.there.knows(each.message) for each in (accepted, place)] == [True, True]
    assert await is_empty(boxes.here)


async def test_it_comes_after_what_was_asked_in_its_thread_before(inbox: Box) -> None:
    """As any question that is put."""
    accepted, before, after = used(), asked("m1", in_thread="9"), asked("m3", in_thread="9")
    await inbox.put(before)
    await inbox.accept(accepted, within=SOON)
    await inbox.move(accepted.message, below(accepted, "m2"))
    await inbox.put(after)

    assert [asks(await taken(inbox)).message.id for _ in range(3)] == ["m1", "m2", "m3"]


@pytest.mark.promise("never-silent")
async def test_of_what_no_platform_tells_again_whoever_starts_hears(boxes: Boxes) -> None:
    """What was used, asked outside of all communities, or is tried again; it waits, or somebody is at it."""
    alone, plain = asked("m3", in_thread="3"), asked("m4", in_thread="4")
    place = alone.message.thread.model_copy(update={"workspace": "@me"})
    alone = Asked(question=alone.question.model_copy(update={"message": MessageRef(thread=place, id="m3")}))
    again, moved = asked("m5", in_thread="5"), below(used())
    for each in (again, plain, moved, alone):
        await boxes.here.put(each)
        if each is again:
            await fall_short(boxes.here)
            await boxes.here.put(retried(again))
    async with boxes.there.claim() as task:
        found = [await boxes.here.untold(each) for each in ("test", "tes", "elsewhere")]

    assert task.message == again.message
    assert {each.message: each.question for each in found[0]} == {
        each.message: each.question for each in (again, moved, alone)
    }
    assert found[1:] == [[], []]


@pytest.mark.promise("asked-once")
async def test_of_several_processes_one_is_at_it(boxes: Boxes) -> None:
    """Whoever has accepted it is, for some time, and then whoever takes it over."""
    accepted, other = used(), used("i2", platform="slack")
    await left(boxes.here, accepted=accepted)
    await boxes.here.accept(other, within=SOON)
    found = [await each.overdue("test") for each in (boxes.there, boxes.here)]

    assert found == [accepted, None]
    assert [await boxes.there.overdue(each) for each in ("slack", "elsewhere")] == [None, None]


@pytest.mark.promise("crash-safe")
async def test_what_is_taken_over_is_moved_once(boxes: Boxes) -> None:
    """Whoever comes first moves it: the one that took it over, or the one before that has been frozen meanwhile."""
    accepted = used()
    await left(boxes.here, accepted=accepted)
    assert await boxes.there.overdue("test") == accepted
    moved = [await each.move(accepted.message, below(accepted)) for each in (boxes.there, boxes.here)]

    assert moved == [True, False]
    assert asks(await taken(boxes.here)) == below(accepted).question
    assert await is_empty(boxes.here)


@pytest.mark.promise("crash-safe")
async def test_whoever_takes_it_over_may_die_too(boxes: Boxes) -> None:
    """Then it is taken over again, each one for itself."""
    accepted = [used("i1"), used("i2")]
    for each in accepted:
        await left(boxes.here, accepted=each)
    boxes.there.accepted_for = AWHILE
    first = [await boxes.there.overdue("test") for _ in range(3)]
    await asyncio.sleep(AWHILE * 2)
    boxes.here.accepted_for = SOON
    again = [await boxes.here.overdue("test") for _ in range(3)]

    assert [first, again] == [[*accepted, None]] * 2


async def test_what_is_withdrawn_is_not_moved(inbox: Box) -> None:
    """Nor accepted again, also where the withdrawal comes before it."""
    accepted, early = used("i1"), used("i2")
    await inbox.accept(accepted, within=SOON)
    gone = [await inbox.put(deleted(each)) for each in (accepted, accepted, early)]

    assert gone == [True, False, False]
    assert not await inbox.move(accepted.message, below(accepted))
    assert not any([await inbox.accept(each, within=SOON) for each in (accepted, early)])
    assert (await inbox.waiting(), await is_empty(inbox)) == (0, True)


@pytest.mark.promise("forget-me")
async def test_a_forgotten_person_is_asked_nothing_more(boxes: Boxes) -> None:
    """What they have asked by a command goes with the rest."""
    accepted = used()
    await boxes.here.accept(accepted, within=SOON)

    assert await boxes.there.forget(accepted.message.thread.home, ADA.id) == 1
    assert not await boxes.here.move(accepted.message, below(accepted))
    assert (await boxes.here.waiting(), await is_empty(boxes.here)) == (0, True)


@pytest.mark.promise("forget-me")
async def test_what_was_moved_is_forgotten_once(boxes: Boxes) -> None:
    """Under its own message."""
    accepted = used()
    await boxes.here.accept(accepted, within=SOON)
    await boxes.here.move(accepted.message, below(accepted))

    assert await boxes.there.forget(accepted.message.thread.home, ADA.id) == 1
    assert await is_empty(boxes.here)


async def test_nothing_else_can_happen_to_what_is_accepted(inbox: Box) -> None:
    """It has no answer that could be stopped or tried again, and nobody writes what a command asks anew."""
    accepted = used()
    await inbox.accept(accepted, within=SOON)
    changed = edited().model_copy(update={"question": accepted.question.model_copy(update={"revision": 1})})

    assert [await inbox.put(each) for each in (accepted, changed, stopped(accepted), retried(accepted))] == [False] * 4
    assert await inbox.move(accepted.message, below(accepted))


async def test_what_was_deleted_before_it_is_moved_is_not_answered(inbox: Box) -> None:
    """The message that stands for it was there already, for whoever wanted to delete it."""
    accepted = used()
    await inbox.accept(accepted, within=SOON)
    await inbox.put(deleted(below(accepted)))

    assert not await inbox.move(accepted.message, below(accepted))
    assert (await inbox.waiting(), await is_empty(inbox)) == (0, True)


@pytest.mark.promise("crash-safe")
async def test_what_the_store_has_lost_is_moved_all_the_same(boxes: Boxes) -> None:
    """A server that failed over may not have it, and whoever moves it in time knows it."""
    lost = used()

    assert await boxes.here.move(lost.message, below(lost))
    assert not await boxes.there.move(lost.message, below(lost, "m8"))
    assert asks(await taken(boxes.there)) == below(lost).question


@pytest.mark.promise("crash-safe")
async def test_how_far_a_question_has_come_is_known_until_its_end(boxes: Boxes) -> None:
    """So whoever moved it need not remember it any longer; what is unknown may be lost."""
    accepted = used()
    moved = below(accepted)
    both = accepted.message, moved.message
    unknown = await boxes.there.stages(both)
    await boxes.here.accept(accepted, within=SOON)
    kept = await boxes.there.stages(both)
    await boxes.here.move(accepted.message, moved)
    before = await boxes.there.stages(both)
    async with boxes.there.claim():
        during = await boxes.here.stages(both)

    assert (unknown, kept) == ([Stage.UNKNOWN, Stage.UNKNOWN], [Stage.WAITING, Stage.UNKNOWN])
    assert (before, during) == ([Stage.OVER, Stage.WAITING], [Stage.OVER, Stage.RUNNING])
    assert await boxes.here.stages(both) == [Stage.OVER, Stage.OVER]


async def test_what_is_deleted_is_over_also_while_its_answer_is_taken_back(boxes: Boxes) -> None:
    """What was heard of a question before itself does not make it known, unless it was deleted."""
    moved = below(used())
    await boxes.here.put(moved)
    async with boxes.there.claim():
        await boxes.here.put(deleted(moved))
        during = await boxes.here.stages([moved.message])
    await boxes.here.put(edited("m2"))
    await boxes.here.put(deleted(asked("m3")))

    assert during == [Stage.OVER]
    assert await boxes.here.stages([asked("m2").message, asked("m3").message]) == [Stage.UNKNOWN, Stage.OVER]


@pytest.mark.promise("encrypted")
async def test_in_redis_it_is_sealed_and_expires(redis_url: str) -> None:
    """It holds what somebody wrote, and a way to answer in their name; what has another key is let go."""
    async with redis_boxes(redis_url) as boxes, clean(redis_url) as client:
        accepted = used()
        await left(boxes.here, accepted=accepted)
        key = f"{PREFIX}question:{accepted.message}"
        written = str(
            [await say(client, "HGETALL", key), await say(client, "GET", key.replace("question", "interaction"))]
        )
        lives = await client.pttl(key)
        other = InboxStore(client, seal=Seal([SECRET[::-1]]))

        assert "robot" not in written
        assert "token" not in written
        assert 0 < lives <= LONGEST_LIFE
        assert await other.overdue("test") is None
        assert await boxes.here.waiting() == 0


async def test_in_redis_what_nobody_has_moved_for_long_goes(redis_url: str) -> None:
    """No way back to whoever asked is open by then; what waits beside it stays."""
    async with redis_boxes(redis_url) as boxes, clean(redis_url) as client:
        old, new = used("i1"), used("i2")
        for each in (old, new):
            await left(boxes.here, accepted=each)
        await say(client, "PEXPIRE", f"{PREFIX}question:{old.message}", "1")
        await asyncio.sleep(SHORT)
        found = [await boxes.here.overdue("test") for _ in range(2)]

        assert found == [new, None]
        assert await boxes.here.waiting() == 1
        assert cast("list[bytes]", await say(client, "ZRANGE", f"{PREFIX}waiting", "0", "-1")) == [
            str(new.message).encode()
        ]


@pytest.mark.promise("forget-person")
async def test_a_question_that_is_moved_while_a_person_is_forgotten_is_forgotten_too(boxes: Boxes) -> None:
    """It has another name then than when those that there are were listed."""
    others = [asked(f"o{number}", in_thread=f"o{number}") for number in range(MANY)]
    for each in others:
        await boxes.here.put(each)
    accepted = used("z1")
    await boxes.here.accept(accepted, within=SOON)
    home, person = accepted.message.thread.home, accepted.question.author.id
    forgetting = asyncio.create_task(boxes.there.forget(home, person))
    await asyncio.sleep(SHORT / 2)
    await boxes.here.move(accepted.message, below(accepted))
    await forgetting

    assert await boxes.here.count_person(home, person) == 0
