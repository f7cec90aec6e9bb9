"""What was said while the bot was away is heard late, once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from adapters.chat.services import StoreMark
from adapters.discord.history import PAGE, PAGES, TOO_MANY
from core.community.routing import Company
from core.events import CatchUpCutShort, Event
from core.model import Attendance, Edited, ThreadRef
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.ears import answers, listening, notes_of
from tests.builders import NOON
from tests.fakes.box import Box
from tests.fakes.dedup import MemoryDedup
from tests.fakes.naps import Naps
from tests.servers.discord import DiscordServer
from tests.servers.discord.permissions import Permission
from tests.servers.faults import Hold
from tests.servers.service import Reply

HISTORY = "GET /channels/{channel}/messages"
MINUTE = 60.0
LIMIT = Reply(429, {"retry_after": 1_000.0, "global": False, "message": "Too many"}, {"Via": "1.1 google"})


async def heard(server: DiscordServer, place: Place, box: Box) -> Sequence[str]:
    """Give the texts of the questions up to one that is asked now."""
    server.post_as(place.ada, server.dm(place.ada), "the last")
    texts: list[str] = []
    while "the last" not in texts:
        texts.append((await box.question()).question.text)
    return sorted(texts[:-1])


async def cut_short(told: asyncio.Queue[Event]) -> CatchUpCutShort:
    """Wait until it is told that not all was read."""
    while not isinstance(event := await told.get(), CatchUpCutShort):
        pass
    return event


@pytest.mark.promise("catches-up")
async def test_mentions_that_were_missed_are_heard_at_the_next_start(server: DiscordServer, place: Place) -> None:
    """In channels, threads and posts, with who asked and where; what was heard before is not put again."""
    box = Box()
    async with listening(server, box):
        server.post_as(place.ada, place.channel, "Before?", mentions=[server.bot])
        await box.question()
    missed = server.post_as(place.ada, place.channel, "In a channel?", mentions=[server.bot])
    thread = server.thread_as(place.ada, server.post_as(place.ada, place.channel, "Arms"), "Arms")
    server.post_as(place.ada, thread, "In a thread?", mentions=[server.bot])
    forum = server.add_channel(place.guild, "help", forum=True)
    server.post_in_forum_as(place.ada, forum, "Stuck", f"{server.bot.mention} In a post?")
    async with listening(server, box):
        asked = [await box.question() for _ in range(3)]
        server.post_as(place.ada, server.dm(place.ada), "the last")
        last = await box.question()

    by_text = {one.question.text: one for one in asked}
    assert set(by_text) == {"In a channel?", "In a thread?", "Stuck\nIn a post?"}
    assert (
        str(by_text["In a channel?"].message) == f"discord:{place.guild.id}:{place.channel.id}:{missed.id}:{missed.id}"
    )
    assert by_text["In a thread?"].message.thread.thread == str(thread.id)
    assert by_text["In a channel?"].question.author.name == "Ada"
    assert last.question.text == "the last"


@pytest.mark.promise("catches-up")
async def test_a_session_that_cannot_be_resumed_is_caught_up_and_one_that_can_is_not(
    server: DiscordServer, place: Place
) -> None:
    """The gateway itself sends again what a resumed session has missed."""
    box = Box()
    async with listening(server, box):
        server.gateway.drop()
        server.post_as(place.ada, place.channel, "While it was dropped?", mentions=[server.bot])
        first = await box.question()
        looked = len(server.requests_to(HISTORY))
        server.gateway.invalidate()
        server.post_as(place.ada, place.channel, "While it was invalid?", mentions=[server.bot])
        second = await box.question()

    assert (first.question.text, second.question.text) == ("While it was dropped?", "While it was invalid?")
    assert (looked, len(server.requests_to(HISTORY))) == (0, 1)


@pytest.mark.promise("catches-up")
async def test_what_is_too_old_or_hidden_or_quiet_costs_no_request(server: DiscordServer, place: Place) -> None:
    """Nobody waits for an answer after half an hour; the clock decides."""
    hidden, dumb = server.add_channel(place.guild, "hidden"), server.add_channel(place.guild, "dumb")
    server.add_channel(place.guild, "quiet")
    server.post_as(place.ada, place.channel, "Too old?", mentions=[server.bot])
    server.clock.advance(31 * MINUTE)
    server.post_as(place.ada, hidden, "Hidden?", mentions=[server.bot])
    server.post_as(place.ada, dumb, "Dumb?", mentions=[server.bot])
    server.deny(hidden, Permission.VIEW_CHANNEL)
    server.deny(dumb, Permission.READ_MESSAGE_HISTORY)
    box = Box()
    async with listening(server, box, now=server.clock.now):
        assert await heard(server, place, box) == []

    assert server.requests_to(HISTORY) == []


async def test_where_something_was_said_last_is_read_first(server: DiscordServer, place: Place) -> None:
    """What was missed is among the newest, and a large guild has many places where something was said."""
    places = [place.channel, *(server.add_channel(place.guild, f"channel-{number}") for number in range(9))]
    for channel in places:
        server.post_as(place.ada, channel, "Here?", mentions=[server.bot])
    box = Box()
    async with listening(server, box):
        asked = [(await box.question()).message.thread.channel for _ in places]

    assert set(asked[: len(places) // 2]) <= {str(channel.id) for channel in places[3:]}


async def test_only_what_is_young_enough_is_heard(server: DiscordServer, place: Place) -> None:
    """Of one and the same channel."""
    server.post_as(place.ada, place.channel, "Too old?", mentions=[server.bot])
    server.clock.advance(31 * MINUTE)
    server.post_as(place.ada, place.channel, "Young?", mentions=[server.bot])
    box = Box()
    async with listening(server, box, now=server.clock.now):
        asked = await box.question()
        assert await heard(server, place, box) == []

    assert asked.question.text == "Young?"


async def test_of_a_busy_channel_the_newest_are_read_oldest_first(server: DiscordServer, place: Place) -> None:
    """Page after page, up to a bound; that there were more is told."""
    server.post_as(place.ada, place.channel, "Beyond?", mentions=[server.bot])
    server.post_as(place.ada, place.channel, "First?", mentions=[server.bot])
    for number in range(PAGE * PAGES - 2):
        server.post_as(place.ada, place.channel, f"line {number}")
    server.post_as(place.ada, place.channel, "Last?", mentions=[server.bot])
    box, told = Box(), asyncio.Queue[Event]()
    async with listening(server, box, observer=told.put_nowait):
        asked = [await box.question(), await box.question()]
        assert await heard(server, place, box) == []
        reason = await cut_short(told)

    assert [one.question.text for one in asked] == ["First?", "Last?"]
    assert (len(server.requests_to(HISTORY)), reason) == (PAGES, CatchUpCutShort("Discord", TOO_MANY))


async def test_a_message_that_was_edited_meanwhile_is_heard_in_its_newest_words(
    server: DiscordServer, place: Place
) -> None:
    """As a question if it was missed, and as an edit if it was heard before."""
    box = Box()
    async with listening(server, box):
        known = server.post_as(place.ada, place.channel, "What is a robt?", mentions=[server.bot])
        asked = await box.question()
    missed = server.post_as(place.ada, place.channel, "What is an am?", mentions=[server.bot])
    for message, text in ((known, "What is a robot?"), (missed, "What is an arm?")):
        server.edit_as(place.ada, message, f"{server.bot.mention} {text}")
    async with listening(server, box):
        edited, late = await box.next(), await box.question()
        assert await heard(server, place, box) == []

    assert isinstance(edited, Edited)
    assert (edited.question.text, edited.message) == ("What is a robot?", asked.message)
    assert late.question.text == "What is an arm?"
    assert min(edited.question.revision, late.question.revision) > 0


@pytest.mark.promise("asked-once")
async def test_whoever_was_told_to_try_again_is_not_answered_late_as_well(server: DiscordServer, place: Place) -> None:
    """The bot has put its mark there; other words, or a mark of somebody else, make it a question."""
    texts = ("Refused?", "Refused at first?", "Marked by Ada?")
    asked = [server.post_as(place.ada, place.channel, text, mentions=[server.bot]) for text in texts]
    for message, by in zip(asked, (server.bot, server.bot, place.ada), strict=True):
        server.react_as(by, message, "⚠️")
    server.edit_as(place.ada, asked[1], f"{server.bot.mention} In other words?")
    box = Box()

    async with listening(server, box):
        assert await heard(server, place, box) == ["In other words?", "Marked by Ada?"]


async def test_catching_up_says_nothing_to_anybody_and_waits_for_the_store(server: DiscordServer, place: Place) -> None:
    """A mention without words and missing permissions are old by then."""
    dumb = server.add_channel(place.guild, "dumb")
    server.deny(dumb, Permission.SEND_MESSAGES | Permission.CREATE_PUBLIC_THREADS)
    said = [server.post_as(place.ada, one, "", mentions=[server.bot]) for one in (place.channel, dumb)]
    said.append(server.post_as(place.ada, place.channel, "A?", mentions=[server.bot]))
    box, dedup = Box(fails=True), MemoryDedup()

    async def sleep(_: float) -> None:
        box.fails = False

    async with listening(server, box, dedup=dedup, sleep=sleep):
        asked = await box.question()
        assert await heard(server, place, box) == []

    assert (asked.question.text, answers(server)) == ("A?", [])
    assert ([one.reactions for one in said], notes_of(dedup)) == ([{}, {}, {}], {})


async def test_a_place_that_cannot_be_read_keeps_no_other_from_being_read(server: DiscordServer, place: Place) -> None:
    """What fails is tried again for some time, and the client lives on; that it was in vain is told once."""
    other = server.add_channel(place.guild, "other")
    server.post_as(place.ada, place.channel, "Here?", mentions=[server.bot])
    server.post_as(place.ada, other, "There?", mentions=[server.bot])
    told: asyncio.Queue[Event] = asyncio.Queue()
    server.faults.break_(HISTORY, Reply(503, {"message": "overloaded", "code": 0}))
    box, naps = Box(), Naps(server.platform.changes.tell)
    async with listening(server, box, sleep=naps.sleep, observer=told.put_nowait):
        await server.until(lambda: naps.asleep == 2, what="two failures")
        server.faults.mend()
        naps.wake()
        asked = {(await box.question()).question.text for _ in range(2)}
        assert await heard(server, place, box) == []
    server.faults.break_(HISTORY, LIMIT)
    async with listening(server, box, observer=told.put_nowait):
        reason = await cut_short(told)

    assert (asked, reason) == ({"Here?", "There?"}, CatchUpCutShort("Discord", "rate limit"))
    assert not any(isinstance(told.get_nowait(), CatchUpCutShort) for _ in range(told.qsize()))


async def test_live_events_are_heard_while_the_bot_catches_up(server: DiscordServer, place: Place) -> None:
    """Few places are read at a time, and a second new session meanwhile only makes it look once more."""
    held = Hold(asyncio.Event())
    for number in range(4):
        channel = server.add_channel(place.guild, f"channel {number}")
        server.post_as(place.ada, channel, f"Missed {number}?", mentions=[server.bot])
    server.faults.break_(HISTORY, held)
    box = Box()
    async with listening(server, box) as client:
        await server.until(lambda: len(server.faults.met) == 3, what="three readers")
        assert await heard(server, place, box) == []
        guild = client.get_guild(place.guild.id)
        assert guild is not None
        client.dispatch("guild_available", guild)
        server.faults.mend()
        held.until.set()
        await server.until(lambda: len(server.requests_to(HISTORY)) == 8, what="every channel, twice")
        missed = {(await box.question()).question.text for _ in range(4)}
        assert await heard(server, place, box) == []

    assert missed == {f"Missed {number}?" for number in range(4)}


@pytest.mark.promise("catches-up")
async def test_a_question_that_waited_for_a_new_store_is_looked_for(server: DiscordServer, place: Place) -> None:
    """Its age is the one that it has by then: the store before may have had it, and somebody may have answered."""
    box, waited = Box(), [timedelta()]

    async def back(_seconds: float) -> None:
        box.fails, box.age, waited[0] = False, timedelta(seconds=5), timedelta(seconds=10)

    mark = StoreMark()
    async with listening(server, box, sleep=back, now=lambda: datetime.now(UTC) + waited[0], store_mark=mark):
        await server.until(lambda: mark.known, what="the first look at the store")
        box.fails = True
        asked = server.post_as(place.ada, place.channel, "What is a robot?", mentions=[server.bot])
        question = await box.question()

    looked = [one for one in server.requests if one.route.endswith("/messages") and str(asked.id) in one.received.path]
    assert (question.message.id, len(looked)) == (str(asked.id), 1)


@pytest.mark.promise("muted-threads")
@pytest.mark.parametrize("was_muted", [True, False])
async def test_what_was_left_to_people_is_left_to_them_at_the_next_start_too(
    server: DiscordServer, place: Place, *, was_muted: bool
) -> None:
    """Somebody may have unmuted the thread since, or the bot may have been the last who spoke; what is new is heard."""
    box, dedup, bob = Box(), MemoryDedup(), str(server.add_member(place.guild, "Bob").id)
    thread = server.thread_as(server.bot, server.post_as(place.ada, place.channel, "What is a robot?"), "A robot")
    there = Company({str(place.ada.id)}, Attendance(spoke={bob: NOON}, is_muted=was_muted), NOON - timedelta(minutes=1))

    async def company(_: ThreadRef) -> Company:
        return there

    async with listening(server, box, company=company, dedup=dedup):
        server.post_as(place.ada, thread, "Does it move?")
        at_first = await heard(server, place, box)
    server.post_as(place.ada, thread, "How does it move?")
    there = Company({str(place.ada.id)}, Attendance(spoke={bob: NOON}), NOON + timedelta(minutes=1))
    async with listening(server, box, company=company, dedup=dedup):
        assert (at_first, await heard(server, place, box)) == ([], ["How does it move?"])
