"""A store that loses everything: nothing is answered twice, and what was begun is finished in its place."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import pytest
from redis.asyncio import Redis

from adapters.chat.background import LOOK
from adapters.chat.platform import Controls
from adapters.redis.connection import connect
from adapters.redis.inbox_store import QUESTION
from bot.roles import Role
from core.events import Answered, Event, LostByStore, Passed, State, StateChanged, Step
from core.messages import BUSY, NO_CONTEXT, UNAVAILABLE
from core.model import Status
from tests.end_to_end.community import ANSWER, Room, Town, go_on, half_written, pause
from tests.fixtures.redis import say
from tests.servers.valkey import Node, alone
from tests.waiting import wait_until

AWAY = 0.5  # seconds


def beside(room: Room) -> str:
    """Return who asks in a room as well."""
    return "Ada" if room is Room.DIRECT else "Bob"


async def lose(town: Town) -> None:
    """Lose everything, as a server without persistence does when it starts again."""
    async with connect(town.redis_url) as client:
        await say(client, "FLUSHALL")


@pytest.mark.promise("catches-up")
async def test_what_was_answered_is_not_answered_again(town: Town) -> None:
    """The platform shows that it was, in the channel and in a thread; what nobody has answered is answered."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        town.community.follow_up(asked, "And an arm?")
        await town.sees(asked, ANSWER, times=2)
        town.community.follow_up(asked, "Thank you so much!", by="Bob")
    await lose(town)
    requests = len(town.chat.received)
    missed = town.community.ask("What is a robot for?", by="Bob")
    async with town.bot():
        await town.sees(missed, ANSWER)

    assert len(town.community.said(asked)) == 2
    questions = [str(request.body["messages"][-1]) for request in town.chat.received[requests:]]
    assert not any("arm" in text or "Thank" in text for text in questions)


@pytest.mark.promise("catches-up")
async def test_what_nothing_was_found_about_is_not_answered_again(town: Town) -> None:
    """Nothing can be pressed below that, and it stands between answers to what the same person asked."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        for text, words, times in (("What is the best pizza?", NO_CONTEXT, 1), ("And now an arm", ANSWER, 2)):
            town.community.follow_up(asked, text)
            await town.sees(asked, words, times=times)
    before = town.community.said(asked)
    await lose(town)
    requests = len(town.chat.received)
    async with town.bot():
        await town.sees(town.community.ask("What is a robot for?", by="Bob"), ANSWER)

    assert town.community.said(asked) == before
    assert len(town.chat.received) == requests + 1


@pytest.mark.promise("catches-up")
async def test_what_nothing_was_found_about_is_no_answer_to_the_next_question(town: Town) -> None:
    """Somebody has asked two, and only the first was answered, below both: that is known, and the other is not lost."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
    first = town.community.follow_up(asked, "What is the best pizza?")
    town.community.address(asked, "How does a robot move its arm?")
    town.chat.pauses_before = b'"A "'  # with which it begins to quote
    async with town.bot(FOOTNOTE_GRACE_SECONDS="0"):
        await town.sees(asked, NO_CONTEXT)
        await town.remembers(first)
        await wait_until(lambda: len(begun(town)) > 2, what="work on the second")
    before = town.community.said(asked)
    go_on(town)
    await lose(town)
    async with town.bot():
        await town.sees(asked, ANSWER, times=2)

    assert town.community.said(asked)[:2] == before
    assert (len(town.community.said(asked)), begun(town).count(first)) == (3, 1)


@pytest.mark.promise("catches-up")
async def test_two_questions_about_which_nothing_was_found_are_not_answered_again(town: Town) -> None:
    """Both were asked before the first was answered, so that its answer stands below the second."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
    for _ in range(2):
        town.community.address(asked, "What is the best pizza?")
    async with town.bot():
        await town.sees(asked, NO_CONTEXT, times=2)
    before, requests = town.community.said(asked), len(town.chat.received)
    await lose(town)
    async with town.bot():
        await town.sees(town.community.ask("What is a robot for?", by="Bob"), ANSWER)

    assert town.community.said(asked) == before
    assert len(town.chat.received) == requests + 1


@pytest.mark.promise("catches-up")
@pytest.mark.parametrize("room", [room for room in Room if room is not Room.CHANNEL])
async def test_wherever_it_was_answered_it_is_not_answered_again(town: Town, room: Room) -> None:
    """Also where several people ask in one place."""
    async with town.bot():
        asked = [town.community.ask(room=room), town.community.ask("What is an arm?", by=beside(room), room=room)]
        for each in asked:
            await town.remembers(each)
    before = [town.community.said(each) for each in asked]
    await lose(town)
    requests = len(town.chat.received)
    missed = town.community.ask("What is a robot for?", by=beside(room), room=room)
    seen = town.community.ask("And what not?")
    async with town.bot():
        await town.sees(seen, ANSWER)
        if room is not Room.DIRECT:
            await town.remembers(missed)

    questions = [str(request.body["messages"][-1]) for request in town.chat.received[requests:]]
    assert not any("Question: What is an arm?" in text or "Question: What is a robot?" in text for text in questions)
    assert [town.community.said(each)[: len(said)] for each, said in zip(asked, before, strict=True)] == before


@pytest.mark.promise("catches-up")
@pytest.mark.parametrize("room", Room)
async def test_what_is_told_again_is_not_answered_again(town: Town, room: Room) -> None:
    """Nothing in what the platform tells shows that it has told it before, and the store knows of nothing."""
    async with town.bot():
        asked = town.community.ask(room=room)
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        before = town.community.said(asked)
        await lose(town)
        town.community.tell_again(asked)
        await town.sees(town.community.ask("And what not?"), ANSWER)

    assert len(town.community.said(asked)) == len(before) == 1
    assert begun(town).count(asked) == 1


@pytest.mark.promise("catches-up")
@pytest.mark.parametrize("room", Room)
async def test_half_an_answer_is_finished_in_its_place(town: Town, room: Room) -> None:
    """Whoever was at it is gone, and only the platform knows; where that is not read late, an edit comes upon it."""
    async with town.bot(FOOTNOTE_GRACE_SECONDS="0"), half_written(town, room) as asked:
        pass
    town.chat.script.clear()
    before = town.community.said(asked)
    await lose(town)
    async with town.bot():
        if room is Room.DIRECT and not town.community.reads_direct:
            town.community.edit(asked, "What are robots?")
        await town.community.until(lambda: town.community.controls(asked) is Controls.VOTE, what="the whole answer")

    assert (len(before), len(town.community.said(asked))) == (1, 1)


@pytest.mark.promise("signs-go")
async def test_words_about_waiting_and_signs_of_work_end_after_the_loss(town: Town) -> None:
    """Nothing is known of them any more, and whoever answers looks for them."""
    community = town.community
    async with town.bot(FOOTNOTE_ANSWERS_AT_ONCE="1", FOOTNOTE_GRACE_SECONDS="0") as bot, half_written(town) as asked:
        others = [community.ask("What is an arm?") for _ in range(4)]
        await community.until(lambda: any(BUSY in sign for sign in community.signs()), what="words about waiting")
        bot.stop()
    before = community.signs()
    town.chat.script.clear()
    await lose(town)
    async with town.bot():
        for each in (asked, *others):
            await town.sees(each, ANSWER)
            await town.remembers(each)

    assert any(BUSY in sign for sign in before)
    assert community.signs() == []
    assert [len(community.said(each)) for each in (asked, *others)] == [1] * 5


@pytest.mark.promise("signs-go")
async def test_half_an_answer_goes_with_a_question_that_is_deleted_after_the_loss(town: Town) -> None:
    """Whoever was at it is gone, and nothing is stored of it."""
    community = town.community
    async with town.bot(FOOTNOTE_GRACE_SECONDS="0"), half_written(town) as asked:
        pass
    town.chat.script.clear()
    before = community.said(asked)
    await lose(town)
    async with town.bot():
        community.delete(asked)
        await community.until(lambda: not community.said(asked), what="the end of what was begun")

    assert len(before) == 1


@pytest.mark.promise("signs-go")
@pytest.mark.parametrize("how", ["deleted", "forgotten"])
async def test_half_an_answer_goes_with_a_question_that_was_deleted_before_the_loss(town: Town, how: str) -> None:
    """Whoever was at it is gone before it was told, no platform lists what was deleted, and whoever heard it knows."""
    community, listens = town.community, listener_of(town)
    settings = {"QDRANT_URL": "http://index.example", "FOOTNOTE_GRACE_SECONDS": "0", "FOOTNOTE_LEASE_SECONDS": "2"}
    async with town.bot(listens, **settings):
        async with town.bot(Role.WORKER, **settings), half_written(town, by="Bob") as asked:
            await asyncio.sleep(LOOK * 1.5)
        before = community.said(asked)
        town.chat.script.clear()
        if how == "deleted":
            community.delete(asked)
        else:
            await community.forget_bob()
        async with connect(town.redis_url) as client:
            while not await knows_deletion(client):  # noqa: ASYNC110 - another process tells of nothing
                await asyncio.sleep(LOOK / 100)
        await lose(town)
        async with town.bot(Role.WORKER, **settings):
            await community.until(lambda: not (community.said(asked) or community.signs()), what="the end of it")

    assert len(before) == 1


@pytest.mark.promise("signs-go")
async def test_words_about_waiting_go_with_a_question_that_is_deleted_after_the_loss(town: Town) -> None:
    """Nothing is stored of either, and no answer comes that would take them away."""
    community = town.community
    async with town.bot(FOOTNOTE_ANSWERS_AT_ONCE="1"), half_written(town):
        others = [community.ask("What is an arm?") for _ in range(4)]
        await community.until(lambda: any(BUSY in sign for sign in community.signs()), what="words about waiting")
        await lose(town)
        for each in others:
            community.delete(each)
        await community.until(lambda: not any(BUSY in sign for sign in community.signs()), what="the end of them")


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("comes_again", [False, True])
async def test_an_answer_goes_on_when_the_store_is_emptied(town: Town, comes_again: bool) -> None:
    """Also if the platform tells of the question again at the same moment; what is done is known as done."""
    async with town.bot(FOOTNOTE_LEASE_SECONDS="5"):
        async with half_written(town) as asked:
            await lose(town)
            if comes_again:
                town.community.repeat(asked)
        await town.sees(asked, ANSWER)
        await wait_until(lambda: any(isinstance(each, LostByStore) for each in town.events), what="that it is noticed")
        town.community.repeat(asked)
        follow_up = town.community.follow_up(asked, "And an arm?")
        await town.sees(asked, ANSWER, times=2)
        await town.remembers(follow_up)
        await town.community.until(lambda: len(town.community.said(asked)) == 2, what="one answer to each")


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("private", [False, True])
async def test_a_question_by_a_command_that_waits_outlives_an_emptied_store(town: Town, *, private: bool) -> None:
    """Nothing on the platform tells of it but that an answer is on its way; the process that took it knows it."""
    async with town.bot(FOOTNOTE_ANSWERS_AT_ONCE="1"):
        async with half_written(town):
            using = asyncio.create_task(town.community.command("ask", question="What is an arm?", private=private))
            await wait_until(lambda: bool(moved(town)), what="that it waits")
            await lose(town)
        if private:
            assert ANSWER in await using
        await town.remembers(moved(town)[0].question.id)
        using.cancel()

    answered = [event.status for event in town.events if isinstance(event, Answered)]
    assert answered == [Status.ANSWERED, Status.ANSWERED]


@pytest.mark.promise("crash-safe")
async def test_whoever_heard_a_question_puts_it_back_where_its_worker_and_the_store_are_gone(town: Town) -> None:
    """By a command, or alone with the bot, where nothing is read late; the one was begun, and the other waits."""
    shared = {"QDRANT_URL": "http://index.example", "FOOTNOTE_ANSWERS_AT_ONCE": "1", "FOOTNOTE_GRACE_SECONDS": "0"}
    async with town.bot(listener_of(town), **shared):
        async with town.bot(Role.WORKER, **shared):
            pause(town)
            using = asyncio.create_task(town.community.command("ask", question="What is an arm?"))
            await wait_until(lambda: bool(begun(town)), what="that it is begun")
            direct = town.community.ask(room=Room.DIRECT)
            await asyncio.sleep(LOOK * 1.5)
        town.chat.script.clear()
        go_on(town)
        await asyncio.sleep(LOOK * 1.5)
        await lose(town)
        async with town.bot(Role.WORKER, **shared):
            await town.sees(direct, ANSWER)
            await wait_until(lambda: len(answered(town)) > 1, what="both answers")
        using.cancel()

    assert [event.status for event in answered(town)] == [Status.ANSWERED, Status.ANSWERED]


def listener_of(town: Town) -> Role:
    """Give who hears what is written."""
    return Role.DISCORD if "DISCORD_TOKEN" in town.community.settings() else Role.SLACK


async def knows_deletion(client: Redis) -> bool:
    """Say whether the store knows that a question was deleted."""
    names = cast("list[bytes]", await client.keys(f"{QUESTION}*"))  # pyright: ignore[reportUnknownMemberType] - it has no types
    return any([await client.hexists(str(name, "ascii"), "deleted") for name in names])


def moved(town: Town) -> list[Passed]:
    """Give the questions of commands that wait for a worker, or were given one."""
    return [event for event in town.events if isinstance(event, Passed) and event.step is Step.MOVED]


class Doomed(list[Event]):
    """What happens; the store dies at the moment that an answer is shown."""

    def __init__(self, store: Node) -> None:
        super().__init__()
        self._store = store
        self.is_over = False

    def append(self, event: Event) -> None:
        """End it before anything else can run."""
        super().append(event)
        if isinstance(event, Passed) and event.step is Step.SHOWN and not self.is_over:
            self.is_over = True
            self._store.kill()


@pytest.mark.promise("crash-safe")
async def test_an_answer_is_remembered_though_the_store_is_away_at_its_end(town: Town, tmp_path: Path) -> None:
    """It waits for the store to come back, and the model is not asked again."""
    with alone(tmp_path / "store") as store:
        doomed = Doomed(store)
        town.redis_url, town.events = f"redis://{store.host}/0", doomed
        async with town.bot():
            asked = town.community.ask()
            await wait_until(lambda: doomed.is_over, what="the end of the store")
            await asyncio.sleep(AWAY)
            store.start()
            await town.remembers(asked)
            remembered = store.say("KEYS", "footnote:conversation:*")

    assert len(remembered) == 1
    assert len(begun(town)) == 1


@pytest.mark.promise("failed-search-warns")
async def test_an_apology_gets_its_mark_although_the_store_was_lost_before(town: Town) -> None:
    """It is seen when missed questions are looked for; whoever wrote it has not come to that."""
    town.shelf.fails = True
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, UNAVAILABLE)
        await town.community.until(lambda: town.community.warned(asked), what="a warning")
    town.community.unmark(asked)
    await lose(town)
    async with town.bot():
        await town.community.until(lambda: town.community.warned(asked), what="another one")

    assert (len(town.community.said(asked)), len(begun(town))) == (1, 1)


@pytest.mark.promise("asked-once")
@pytest.mark.parametrize("room", Room)
async def test_an_edit_after_the_loss_changes_the_answer_in_its_place(town: Town, room: Room) -> None:
    """The store knows nothing of the question any more, and the platform shows what was answered."""
    async with town.bot():
        asked = town.community.ask(room=room)
        await town.remembers(asked)
        await lose(town)
        town.community.edit(asked, "What is an arm?")
        await wait_until(lambda: len(answered(town)) > 1, what="the next answer")

    assert len(town.community.said(asked)) == 1


def begun(town: Town) -> list[str]:
    """Name the question of each answer that was begun."""
    return [each.question.id for each in town.events if isinstance(each, StateChanged) and each.state is State.RECEIVED]


def answered(town: Town) -> list[Answered]:
    """Give the ends of answers."""
    return [event for event in town.events if isinstance(event, Answered)]
