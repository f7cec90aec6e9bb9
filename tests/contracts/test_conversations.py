"""What every conversation store promises. A new one joins by one more entry in `_store`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

import pytest
from redis.asyncio import Redis

from adapters.redis.conversations import RedisConversations
from adapters.redis.secrets import Seal
from core.model import NOT_KEPT, Attendance, ChannelRef, Citation, Conversation, MessageRef, ThreadRef, ToolRecord, Turn
from core.ports import ConversationStore
from tests.builders import NOON, thread
from tests.fakes.conversations import MemoryConversations
from tests.fixtures.redis import all_keys, clean, place
from tests.portion import examples

HOUR = timedelta(hours=1)
MOST_OF_IT = timedelta(minutes=40)
SECRET = "a secret that is long enough for a test"


class MemoryClock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.time = NOON

    def now(self) -> datetime:
        """Give the time."""
        return self.time

    async def advance(self, by: timedelta) -> None:
        """Let *by* go past."""
        self.time += by


@dataclass
class RedisClock:
    """Lets time pass for a server by taking it from every key's expiry."""

    client: Redis

    async def advance(self, by: timedelta) -> None:
        """Let *by* go past for all keys."""
        for key in await all_keys(self.client):
            await self.client.pexpire(key, await self.client.pttl(key) - by // timedelta(milliseconds=1))


Clock = MemoryClock | RedisClock


@pytest.fixture(name="clock", params=["memory", "redis", "tls", "sentinel", "cluster"])
async def _clock(request: pytest.FixtureRequest) -> AsyncIterator[Clock]:
    if request.param == "memory":
        yield MemoryClock()
        return
    async with clean(place(request.param, request).url) as client:
        yield RedisClock(client)


@pytest.fixture(name="store")
async def _store(clock: Clock) -> ConversationStore:
    match clock:
        case MemoryClock():
            return MemoryConversations(ttl=HOUR, now=clock.now)
        case RedisClock():
            return RedisConversations(clock.client, ttl=HOUR, seal=Seal([SECRET]))


def turn(id: str, *, in_thread: ThreadRef | None = None, answer: str = "It acts.", by: str = "p1") -> Turn:  # noqa: A002 - the field's name
    """One exchange with everything that a turn can hold."""
    return Turn(
        question_ref=MessageRef(thread=in_thread or thread(), id=id),
        question=f"What is robot {id}?",
        answer=f"{answer} [1]",
        citations=(Citation(number=1, chapter="one", section="What", title="Robots", url="/r", relevance_score=0.9),),
        tool_calls=(ToolRecord(name="search_documents", arguments="{}", success=True, result_size=3, time_ms=1.5),),
        at=NOON,
        author_id=by,
        quoted=(),
    )


async def test_an_unknown_thread_has_no_conversation(store: ConversationStore) -> None:
    """Loading what was never written gives nothing."""
    assert not (await store.load(thread())).turns


async def test_turns_come_back_whole_and_in_order(store: ConversationStore) -> None:
    """What was appended is loaded again, oldest first."""
    turns = tuple(turn(id) for id in ("10", "9", "b", "a"))  # noqa: A001 - the field's name
    for each in turns:
        await store.append(thread(), each)

    assert await store.load(thread()) == Conversation(thread=thread(), turns=turns)


async def test_text_and_ids_of_any_characters_come_back(store: ConversationStore) -> None:
    """Blanks, braces, line breaks, zero bytes and other scripts are stored as they are."""
    place = ThreadRef(platform="plat form", workspace="{w}", channel="c:\n", thread="نص 🤖")
    awkward = turn(" {} : % \x00 ", in_thread=place, answer="\x00\r\n\u2028 }{ روبوت 🤖")
    await store.append(place, awkward)

    assert await store.load(place) == Conversation(thread=place, turns=(awkward,))


@pytest.mark.promise("expiry")
async def test_each_append_restarts_the_clock(store: ConversationStore, clock: Clock) -> None:
    """A conversation that goes on lives on, with its first turn."""
    await store.append(thread(), turn("1"))
    await clock.advance(MOST_OF_IT)
    await store.append(thread(), turn("2"))
    await clock.advance(MOST_OF_IT)

    assert await store.load(thread()) == Conversation(thread=thread(), turns=(turn("1"), turn("2")))


@pytest.mark.promise("expiry")
async def test_a_conversation_ends_with_its_time(store: ConversationStore, clock: Clock) -> None:
    """After the TTL there is none, there is nothing to forget, and the next turn stands alone."""
    await store.append(thread(), turn("1"))
    await clock.advance(HOUR)

    assert not (await store.load(thread())).turns
    assert not await store.forget(thread())
    assert not await store.remove(turn("1").question_ref)
    await store.append(thread(), turn("2"))
    assert await store.load(thread()) == Conversation(thread=thread(), turns=(turn("2"),))


async def test_reading_and_removing_do_not_restart_the_clock(store: ConversationStore, clock: Clock) -> None:
    """Only an append keeps a conversation alive."""
    await store.append(thread(), turn("1"))
    await store.append(thread(), turn("2"))
    await clock.advance(MOST_OF_IT)
    await store.load(thread())
    await store.remove(turn("1").question_ref)
    await clock.advance(MOST_OF_IT)

    assert not (await store.load(thread())).turns


@pytest.mark.promise("written-once")
async def test_a_turn_that_is_appended_again_is_kept_once_where_it_stood(store: ConversationStore) -> None:
    """The second append with the same question replaces the text and keeps the order."""
    for each in (turn("1"), turn("2"), turn("1", answer="It moves.")):
        await store.append(thread(), each)

    assert await store.load(thread()) == Conversation(thread=thread(), turns=(turn("1", answer="It moves."), turn("2")))


@pytest.mark.promise("nothing-lost")
async def test_concurrent_appends_lose_nothing(store: ConversationStore) -> None:
    """Twenty writers at once, each with two turns of which one is the same for all, leave twenty-one."""
    start = asyncio.Barrier(20)

    async def write(number: int) -> None:
        await start.wait()
        await store.append(thread(), turn(str(number)))
        await store.append(thread(), turn("shared"))

    await asyncio.gather(*(write(number) for number in range(20)))

    ids = [each.question_ref.id for each in (await store.load(thread())).turns]
    assert sorted(ids) == sorted(["shared", *map(str, range(20))])


async def test_a_removed_turn_is_gone_and_the_others_stay_in_order(store: ConversationStore) -> None:
    """Removing says whether the turn was there."""
    for each in (turn("1"), turn("2"), turn("3")):
        await store.append(thread(), each)

    assert await store.remove(turn("2").question_ref)
    assert not await store.remove(turn("2").question_ref)
    assert await store.load(thread()) == Conversation(thread=thread(), turns=(turn("1"), turn("3")))


async def test_a_conversation_whose_last_turn_is_removed_is_none(store: ConversationStore) -> None:
    """Nothing is left to load or to forget."""
    await store.append(thread(), turn("1"))

    assert await store.remove(turn("1").question_ref)
    assert not (await store.load(thread())).turns
    assert not await store.forget(thread())


@pytest.mark.promise("forget")
async def test_forgetting_says_whether_there_was_something(store: ConversationStore) -> None:
    """A thread is forgotten once."""
    await store.append(thread(), turn("1"))

    assert await store.forget(thread())
    assert not await store.forget(thread())
    assert not (await store.load(thread())).turns


async def test_threads_do_not_mix(store: ConversationStore) -> None:
    """The same message id in two threads makes two conversations, and forgetting one leaves the other."""
    here, there = turn("1", in_thread=thread("here")), turn("1", in_thread=thread("there"))
    await store.append(thread("here"), here)
    await store.append(thread("there"), there)
    await store.forget(thread("here"))

    assert not (await store.load(thread("here"))).turns
    assert await store.load(thread("there")) == Conversation(thread=thread("there"), turns=(there,))


@pytest.mark.promise("forget")
async def test_a_person_is_forgotten_in_every_thread_of_a_workspace(store: ConversationStore) -> None:
    """Their turns go, what others asked stays, and so does what they asked elsewhere."""
    elsewhere = thread("here").model_copy(update={"workspace": "other"})
    mine, theirs = turn("1", in_thread=thread("here")), turn("2", in_thread=thread("here"), by="p2")
    for each in (mine, theirs, turn("3", in_thread=thread("there")), turn("4", in_thread=elsewhere)):
        await store.append(each.question_ref.thread, each)

    assert [await store.count_person(thread().home, person) for person in ("p1", "p2", "p3")] == [2, 1, 0]
    gone = await store.forget_turns(thread().home, "p1")
    assert sorted((each.thread.thread, each.id) for each in gone) == [("here", "1"), ("there", "3")]
    assert await store.forget_turns(thread().home, "p1") == []
    assert await store.count_person(thread().home, "p1") == 0
    assert await store.load(thread("here")) == Conversation(thread=thread("here"), turns=(theirs,))
    assert not (await store.load(thread("there"))).turns
    assert [await store.forget_turns(elsewhere, None, before=NOON - timedelta(days=days)) for days in (1, 0)] == [
        [],
        [turn("4", in_thread=elsewhere).question_ref],
    ]


@pytest.mark.promise("forget-person")
async def test_an_answer_that_may_hold_quoted_words_of_a_person_is_not_kept(store: ConversationStore) -> None:
    """What others asked stays, where it stood, with who they are and which messages answer it; so do other answers.

    An older version has not kept whose words these are.
    """
    older = Turn.model_validate_json(turn("0").model_dump_json(exclude={"quoted"})).quoted
    names: list[tuple[str, ...]] = [("p1",), ("p3",), older, ()]
    turns = [turn(f"{number}", by="p2").model_copy(update={"quoted": each}) for number, each in enumerate(names)]
    for each in turns:
        await store.append(thread(), each)

    changed = [turns[0].question_ref, turns[2].question_ref]
    assert [await store.unquote(thread().home, "p1") for _ in range(2)] == [changed, []]
    now = tuple(each.alone if each.question_ref in changed else each for each in turns)
    assert await store.load(thread()) == Conversation(thread=thread(), turns=now)
    assert now[0] == turn("0", by="p2").model_copy(update={"answer": NOT_KEPT, "citations": (), "tool_calls": ()})


@pytest.mark.promise("forget")
async def test_a_workspace_is_forgotten_whole(store: ConversationStore) -> None:
    """Every thread of it goes, and no other."""
    elsewhere = thread("here").model_copy(update={"workspace": "other"})
    for each in (thread("here"), thread("there"), elsewhere):
        await store.append(each, turn("1", in_thread=each))

    assert await store.forget(thread().home) == 2
    assert await store.forget(thread().home) == 0
    assert not (await store.load(thread("here"))).turns
    assert (await store.load(elsewhere)).turns


@pytest.mark.promise("forget")
@pytest.mark.parametrize("seed", range(examples(16)))
async def test_whoever_is_forgotten_is_forgotten_in_every_thread_that_lives(
    store: ConversationStore, clock: Clock, seed: int
) -> None:
    """However long ago they wrote: a thread lives on as long as others write there. Nobody else's words go."""
    chance = Random(seed)
    for number in range(30):
        place = thread(str(chance.randint(1, 2)))
        await store.append(place, turn(str(number), in_thread=place, by=f"p{chance.randint(1, 6)}"))
        await clock.advance(chance.choice([timedelta(), timedelta(minutes=30)]))
    before = [await store.load(thread(str(name))) for name in (1, 2)]
    left = [[each for each in found.turns if each.author_id != "p1"] for found in before]
    mine = sum(each.author_id == "p1" for found in before for each in found.turns)

    assert len(await store.forget_turns(thread().home, "p1")) == mine
    after = [await store.load(thread(str(name))) for name in (1, 2)]
    assert [list(found.turns) for found in after] == left


async def test_who_was_forgotten_may_begin_anew(store: ConversationStore) -> None:
    """What is asked afterwards is remembered, and can be forgotten again."""
    await store.append(thread(), turn("1"))
    await store.forget_turns(thread().home, "p1")
    await store.append(thread(), turn("2"))

    assert await store.load(thread()) == Conversation(thread=thread(), turns=(turn("2"),))
    assert await store.forget_turns(thread().home, "p1") == [turn("2").question_ref]


def in_channel(*ids: str) -> tuple[MessageRef, ...]:
    """Messages that stand in the channel itself, and not in a thread of it."""
    place = thread().model_copy(update={"thread": thread().channel})
    return tuple(MessageRef(thread=place, id=id_) for id_ in ids)


@pytest.mark.promise("forget")
async def test_the_conversation_around_a_message_is_found_wherever_its_answer_stands(
    store: ConversationStore, clock: Clock
) -> None:
    """In its thread, or in the channel: also once a thread was begun below it, and as long as all is remembered."""
    parts = in_channel("7:7", "8")
    await store.append(thread(), turn("1").model_copy(update={"messages": parts}))
    await store.append(thread("8"), turn("9", in_thread=thread("8")))
    found = [await store.around(name) for part in parts for name in part.names]
    below = await store.around(MessageRef(thread=thread("8"), id="10"))
    await clock.advance(MOST_OF_IT)
    await store.append(thread(), turn("2"))
    await clock.advance(MOST_OF_IT)

    found += [await store.around(name) for part in parts for name in part.names]
    assert [each.thread for each in (*found, below)] == [*[thread()] * 8, thread("8")]
    assert not (await store.around(in_channel("77")[0])).turns
    await store.forget(ChannelRef(platform="test", workspace="w", channel="c"))
    assert [(await store.around(part)).turns for part in parts] == [(), ()]


async def test_all_threads_are_named(store: ConversationStore) -> None:
    """Those that are remembered."""
    other = ThreadRef(platform="tes", workspace="w", channel="c", thread="1")
    for where in (thread("1"), thread("2"), other):
        await store.append(where, turn("1", in_thread=where))

    assert sorted(map(str, await store.threads())) == ["tes:w:c:1", "test:w:c:1", "test:w:c:2"]


async def test_who_has_spoken_in_a_thread_is_known_as_long_as_people_speak_there(
    store: ConversationStore, clock: Clock
) -> None:
    """Each with the time of their last words, beside the conversation."""
    later = NOON + timedelta(minutes=1)
    assert await store.attendance(thread()) == Attendance()
    await store.hear(thread(), "p1", NOON)
    await store.hear(thread(), "p1", later)
    await clock.advance(MOST_OF_IT)
    await store.hear(thread(), "p 2", NOON)
    await clock.advance(MOST_OF_IT)

    assert await store.attendance(thread()) == Attendance(spoke={"p1": later, "p 2": NOON})
    assert await store.attendance(thread("2")) == Attendance()
    assert not (await store.load(thread())).turns
    await clock.advance(HOUR)
    assert await store.attendance(thread()) == Attendance()


async def test_a_thread_is_muted_until_somebody_takes_that_back(store: ConversationStore) -> None:
    """Doing it twice is no news."""
    await store.hear(thread(), "p1", NOON)
    changes = [await store.mute(thread(), on=on) for on in (False, True, True)]
    muted = await store.attendance(thread())
    changes += [await store.mute(thread(), on=False)]

    assert changes == [False, True, False, True]
    assert muted == Attendance(spoke={"p1": NOON}, is_muted=True)
    assert await store.attendance(thread()) == Attendance(spoke={"p1": NOON})


@pytest.mark.promise("forget")
async def test_what_is_noted_of_a_thread_goes_with_its_memory(store: ConversationStore) -> None:
    """With the thread, its channel or its workspace, and of a person with all of theirs."""
    places = [thread(), ChannelRef(platform="test", workspace="w", channel="c"), thread().home]
    left: list[Attendance] = []
    for each in places:
        await store.hear(thread(), "p1", NOON)
        await store.mute(thread(), on=True)
        await store.forget(each)
        left.append(await store.attendance(thread()))
    await store.hear(thread(), "p1", NOON)
    await store.hear(thread(), "p2", NOON)
    await store.forget_turns(thread().home, "p1")

    assert left == [Attendance()] * 3
    assert await store.attendance(thread()) == Attendance(spoke={"p2": NOON})
