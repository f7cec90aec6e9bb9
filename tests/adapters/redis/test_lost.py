"""A store that loses everything while a worker is at a question: it is put back, or the one in the store counts."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.redis.connection import connect
from adapters.redis.inbox import READY
from adapters.redis.inbox_store import QUESTION
from core.events import Event, LostByStore
from core.model import Backlog, Claim, Delivery, Interruption, MessageRef, Stage, Withdrawal
from tests.adapters.redis.desk import Desk, key_of
from tests.builders import thread
from tests.fixtures.redis import say
from tests.inboxes import POSTED, WRITTEN, asked, asks, deleted, edited, heard, is_empty, perhaps_begun, stopped, taken
from tests.servers import valkey

THEIRS = Delivery(messages=(MessageRef(thread=thread(), id="another"),))


async def lose(desk: Desk) -> None:
    """Lose everything, as a server without persistence does when it starts again; then somebody looks for work."""
    await say(desk.client, "FLUSHALL")
    await say(desk.client, "XGROUP", "CREATE", READY, "workers", "0", "MKSTREAM")
    await say(desk.client, "PEXPIRE", READY, "60000")


async def kept(desk: Desk) -> dict[bytes, bytes]:
    """What the store holds now, as a replica has it that receives nothing any more."""
    return {key: await say(desk.client, "DUMP", key) for key in await say(desk.client, "KEYS", "*")}


async def go_back(desk: Desk, held: dict[bytes, bytes]) -> None:
    """Go back to what was held before, as a failover to such a replica does."""
    await say(desk.client, "FLUSHALL")
    for key, value in held.items():
        await say(desk.client, "RESTORE", key, "60000", value)


def losses(events: list[Event]) -> list[LostByStore]:
    """What was told of lost questions."""
    return [each for each in events if isinstance(each, LostByStore)]


@pytest.mark.promise("crash-safe")
async def test_a_question_that_the_store_lost_is_put_back_and_finished(desk: Desk) -> None:
    """Its worker holds it on, with what is posted; when it is done, a repetition is noticed."""
    events = list[Event]()
    async with desk.inbox(observer=events.append) as inbox:
        await inbox.put(asked())
        async with inbox.claim() as task:
            await inbox.record(task, POSTED)
            await lose(desk)
            assert await inbox.record(task, THEIRS)
            assert await inbox.backlog() == Backlog(running=1)
            assert await inbox.put(stopped(asked()))
            assert await heard(task.cancelled) is Interruption.STOPPED

        assert await is_empty(inbox)
        assert not await inbox.put(asked())
        assert losses(events) == [LostByStore(asked().message, is_put_back=True)]


@pytest.mark.promise("crash-safe")
async def test_what_is_worked_on_here_is_known_whatever_the_store_says(desk: Desk) -> None:
    """Nobody else has to put it back, or to ask about it."""
    async with desk.inbox() as here, desk.inbox() as there:
        await here.put(asked())
        async with here.claim():
            await lose(desk)
            during = [(await box.stages([asked("m2").message, asked().message]))[1] for box in (here, there)]
        after = await here.stages([asked().message])

        assert (during, after) == ([Stage.RUNNING, Stage.UNKNOWN], [Stage.OVER])


@pytest.mark.promise("crash-safe")
async def test_a_question_of_which_the_server_has_evicted_all_is_put_back(desk: Desk) -> None:
    """Alone, while its thread, its entry and the queue are still there."""
    events = list[Event]()
    async with desk.inbox(observer=events.append) as inbox:
        await inbox.put(asked())
        async with inbox.claim() as task:
            await inbox.record(task, POSTED)
            await say(desk.client, "DEL", f"{QUESTION}{asked().message}")
            assert await inbox.record(task, THEIRS)
            assert await inbox.backlog() == Backlog(running=1)

        assert (await inbox.knows(asked().message), await is_empty(inbox)) == (True, True)
        assert not await inbox.put(asked())
        assert losses(events) == [LostByStore(asked().message, is_put_back=True)]


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("had_worker", [False, True])
async def test_a_question_of_which_the_store_forgets_who_took_it_stays_with_that_worker(
    desk: Desk, *, had_worker: bool
) -> None:
    """The store fails over to what it was before; another worker may have had the question, and nobody has since."""
    events = list[Event]()
    async with desk.inbox(consumer="gone") as gone, desk.inbox(observer=events.append) as inbox:
        await inbox.put(asked())
        if had_worker:
            await gone.fetch()
            lease = await gone.take()
            assert lease is not None
            await gone.record(lease.task, POSTED)
            gone._leases.clear()  # pyright: ignore[reportPrivateUsage] - its process ends here
            entry = str(lease.hold["entry"])
            await say(desk.client, "XCLAIM", READY, "workers", "gone", "0", entry, "IDLE", "60000")
        held = await kept(desk)
        async with inbox.claim() as task:
            await inbox.record(task, POSTED)
            await go_back(desk, held)
            assert await inbox.record(task, THEIRS)
            assert task.cancelled.reason is None
            assert await inbox.backlog() == Backlog(running=1)

        assert (await inbox.knows(asked().message), await is_empty(inbox)) == (True, True)
        assert losses(events) == [LostByStore(asked().message, is_put_back=True)]


@pytest.mark.promise("crash-safe")
async def test_it_is_put_back_at_the_end_too_and_once(desk: Desk) -> None:
    """What was lost just before its end is known as done afterwards."""
    events = list[Event]()
    async with desk.inbox(observer=events.append) as inbox:
        await inbox.put(asked())
        async with inbox.claim():
            await lose(desk)

        assert (await inbox.knows(asked().message), await is_empty(inbox)) == (True, True)
        assert len(losses(events)) == 1


@pytest.mark.promise("crash-safe")
async def test_another_worker_goes_on_with_what_was_put_back(desk: Desk) -> None:
    """Whoever put it back hands it on, with its words and what is posted, and other threads are not forgotten."""
    async with desk.inbox() as here, desk.inbox(consumer="there") as there:
        await here.put(asked())
        async with desk.inbox(consumer="gone") as gone:
            await gone.fetch()
            lease = await gone.take()
            assert lease is not None
            await lose(desk)
            await here.put(asked("m2", in_thread="2"))
            assert await gone.record(lease.task, POSTED)
            gone._leases.clear()  # pyright: ignore[reportPrivateUsage] - its process ends here

        found = [await taken(there), await taken(there)]

    assert {asks(each).text for each in found} == {asked().question.text, asked("m2").question.text}
    [again] = [each for each in found if each.message == asked().message]
    assert (again.delivery, again.is_redelivered, again.fence) == (POSTED, True, 3)


@pytest.mark.promise("edits-count")
async def test_an_answer_to_other_words_is_not_put_back_with_an_edit(desk: Desk) -> None:
    """The platform tells of it after the loss, and whoever takes the question next would show the answer."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        async with inbox.claim() as task:
            await inbox.record(task, WRITTEN)
            await lose(desk)
            await inbox.put(edited())
        again = await taken(inbox)

    assert (asks(again).text, again.delivery) == (edited().question.text, POSTED)


@pytest.mark.promise("forget")
async def test_an_answer_is_not_put_back_with_words_that_are_forgotten(desk: Desk) -> None:
    """Its worker heard that it shall begin anew before the store lost the question."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        async with inbox.claim() as task:
            await inbox.record(task, WRITTEN)
            await inbox.begin_anew([asked().message.thread])
            await heard(task.cancelled)
            await lose(desk)
        again = await taken(inbox)

    assert again.delivery == POSTED


async def test_one_that_is_there_again_counts_and_has_what_was_posted(desk: Desk) -> None:
    """The platform had told of it once more; nobody had begun to answer that."""
    events = list[Event]()
    async with desk.inbox(observer=events.append) as inbox:
        await inbox.put(asked())
        async with inbox.claim() as task:
            await inbox.record(task, POSTED)
            await lose(desk)
            await inbox.put(asked())
            assert not await inbox.keep(task)
            assert task.cancelled.reason is Interruption.LOST

        again = await taken(inbox)
        assert (again.delivery, again.is_redelivered) == (POSTED, True)
        assert losses(events) == [LostByStore(asked().message, is_put_back=False)]
        assert await is_empty(inbox)


async def test_what_was_posted_beside_another_answer_is_taken_away(desk: Desk) -> None:
    """Also where the other worker is at it or is done with it; its own messages stay."""
    async with desk.inbox() as here, desk.inbox(consumer="there") as there:
        for ends_first in (False, True):
            await here.put(asked())
            async with here.claim() as old:
                await here.record(old, POSTED)
                await lose(desk)
                await there.put(asked())
                async with there.claim() as new:
                    await there.record(new, THEIRS)
                    if not ends_first:
                        assert not await here.keep(old)
                if ends_first:
                    assert not await here.keep(old)
            again = await taken(there)
            assert isinstance(again, Claim)
            assert (again.delivery.messages, again.delivery.leaving) == (THEIRS.messages, POSTED.messages)
            assert again.is_redelivered
            assert await is_empty(there)
            await lose(desk)


@pytest.mark.parametrize("is_deletion", [True, False])
async def test_a_change_that_only_the_worker_has_heard_of_counts(desk: Desk, *, is_deletion: bool) -> None:
    """It ends early for that, so somebody has to take back what is posted; the words of an edit are told again."""
    edit = edited(revision=9)
    change = deleted(asked()) if is_deletion else edit
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        async with inbox.claim() as task:
            await inbox.record(task, POSTED)
            await inbox.put(change)
            assert await heard(task.cancelled) is (Interruption.DELETED if is_deletion else Interruption.EDITED)
            await lose(desk)
        [key] = await say(desk.client, "KEYS", "*:question:*")
        words = await say(desk.client, "HGET", key, "text")
        if not is_deletion:
            assert await inbox.put(change)
        again = await taken(inbox)

    assert again.delivery == POSTED
    if is_deletion:
        assert (isinstance(again, Withdrawal), words) == (True, b"")
    else:
        assert asks(again) == edit.question


@pytest.mark.promise("posted-once")
async def test_what_was_posted_beside_no_other_answer_is_gone_on_with(desk: Desk) -> None:
    """The other worker died before it had posted anything."""
    async with desk.inbox() as here, desk.inbox(consumer="there") as there:
        await here.put(asked())
        async with here.claim() as old:
            await here.record(old, POSTED)
            await lose(desk)
            await there.put(asked())
            async with there.claim() as new:
                assert not await here.keep(old)
                new.cancelled.set(Interruption.LOST)
        again = await taken(there)

    assert (again.delivery, again.is_redelivered) == (POSTED, True)


@pytest.mark.promise("posted-once")
async def test_whoever_was_frozen_for_longer_than_the_lease_leaves_what_is_lost_to_others(desk: Desk) -> None:
    """Others may have changed what is posted: it is looked for, as words about waiting are, and nothing is trusted."""
    time = [0.0]
    async with desk.inbox(now=lambda: time[0]) as here, desk.inbox(consumer="there") as there:
        await here.put(perhaps_begun(asked()))
        async with here.claim() as task:
            await here.record(task, POSTED)
            time[0] += 1_000.0
            await lose(desk)
            assert not await here.record(task, THEIRS)
            assert task.cancelled.reason is Interruption.LOST
        again = await taken(there)

    assert (asks(again), again.is_redelivered) == (asked().question, True)
    assert again.delivery == perhaps_begun(asked()).delivery


@pytest.mark.promise("deletions-count")
async def test_what_is_taken_back_at_once_is_put_back_where_the_store_loses_it(desk: Desk) -> None:
    """Its worker alone knows then what stands there, and it is over when that is done."""
    async with desk.inbox() as here, desk.inbox(consumer="there") as there:
        await here.put(asked())
        async with here.claim() as task:
            assert isinstance(task, Claim)
            await here.record(task, POSTED)
            await here.put(deleted(asked()))
            assert await heard(task.cancelled) is Interruption.DELETED
            withdrawal = here.withdrawal(task)
            await lose(desk)
            assert await here.record(withdrawal, THEIRS)
            backlog = await there.backlog()

        assert (backlog, await is_empty(there), await here.put(asked())) == (Backlog(running=1), True, False)


@pytest.mark.promise("crash-safe")
async def test_what_is_lost_after_its_lease_was_over_is_left_to_others_too(desk: Desk) -> None:
    """The store was away for longer, and comes back empty; what somebody else has done by then is not begun again."""
    async with desk.inbox() as here, desk.inbox(consumer="there") as there:
        await here.put(asked())
        async with here.claim() as task:
            await here.record(task, POSTED)
            task.cancelled.set(Interruption.LOST)
            await lose(desk)
        again = await taken(there)
        await there.put(edited())
        async with here.claim() as task:
            task.cancelled.set(Interruption.LOST)
            await lose(desk)
            await there.put(asked())
            await taken(there)

        assert (asks(again), again.delivery, again.is_redelivered) == (asked().question, Delivery(), True)
        assert await is_empty(here)


async def test_a_change_that_came_first_counts(desk: Desk) -> None:
    """An edit or a deletion of the question that was lost is what comes next."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        async with inbox.claim() as task:
            await inbox.record(task, POSTED)
            await lose(desk)
            await inbox.put(edited())
            assert await inbox.keep(task)
            assert await heard(task.cancelled) is Interruption.EDITED
        assert asks(await taken(inbox)) == edited().question

        await inbox.put(asked("m2"))
        async with inbox.claim() as task:
            await inbox.record(task, THEIRS)
            await lose(desk)
            await inbox.put(deleted(asked("m2")))
            assert await inbox.keep(task)
        withdrawal = await taken(inbox)
        assert (isinstance(withdrawal, Withdrawal), withdrawal.delivery) == (True, THEIRS)


async def test_a_withdrawal_that_was_lost_is_put_back(desk: Desk) -> None:
    """What stands there is known after it."""
    async with desk.inbox() as here, desk.inbox(consumer="there") as there:
        await here.put(asked())
        async with here.claim() as task:
            await here.record(task, POSTED)
            await here.put(deleted(asked()))
        async with here.claim() as task:
            assert isinstance(task, Withdrawal)
            await lose(desk)
            assert await here.keep(task)
        assert await is_empty(there)
        assert await say(desk.client, "HGET", key_of("question", "m1"), "deleted") == b"1"


@pytest.mark.promise("asked-once")
async def test_what_was_asked_before_the_loss_is_taken_once_somebody_has_looked(desk: Desk) -> None:
    """It may have been answered; what was asked since, or what the store knows, is taken as ever."""
    old, new = (asked(name).model_copy(update={"age": timedelta(seconds=age)}) for name, age in (("m1", 60), ("m2", 0)))
    async with desk.inbox() as inbox:
        await lose(desk)
        refused, taken_, known = await inbox.put(old), await inbox.put(new), await inbox.put(new)
        looked = await inbox.put(asked().model_copy(update={"delivery": POSTED}))
        assert [refused, taken_, known, looked] == [None, True, False, True]
        assert await inbox.put(old) is False
        assert (await taken(inbox)).delivery.messages in (POSTED.messages, ())


async def test_a_server_that_started_again_may_have_lost_what_it_was_told_last(tmp_path: Path) -> None:
    """Such as what was posted: so the platforms are asked what they know, as after a loss of everything."""
    with valkey.alone(tmp_path) as node:
        async with connect(f"redis://{node.host}") as client:
            inbox = Desk(client, client).inbox()
            await inbox.put(asked())
            await inbox.put(asked("m2", in_thread="2"))
            first, before = await taken(inbox), [await inbox.kept_for(), await inbox.kept_for()]
            await asyncio.to_thread(node.kill)
            node.start()
            await asyncio.to_thread(valkey.wait_for, node)
            second, after = await taken(inbox), [await inbox.kept_for(), await inbox.kept_for()]

            assert before[0].mark == before[1].mark != after[0].mark == after[1].mark
            assert before[0].age <= before[1].age
            assert after[0].age <= after[1].age
            assert (first.is_redelivered, second.is_redelivered) == (False, True)
            assert await inbox.knows(asked().message)
