"""What was said on Slack while nobody heard it is heard late, once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.chat.catch_up import THREADS
from adapters.retry import PATIENT
from adapters.slack.api import PAGE, PAGES, open_session
from adapters.slack.workspaces import NotInstalled, OneWorkspace, Workspace
from core.events import CatchUpCutShort, Event
from core.model import Asked, ChannelRef, Edited
from tests.adapters.slack.ears import Place, listening, place_fixture
from tests.fakes.box import Box
from tests.fakes.channel_cursor import MemoryChannelCursor
from tests.fakes.waiting_room import waits
from tests.servers.slack import Channel, Hold, SlackServer
from tests.waiting import wait_until

__all__ = ["place_fixture"]

pytestmark = pytest.mark.promise("catches-up")

HISTORY, REPLIES = "conversations.history", "conversations.replies"
MINUTE = 60.0
LACKING = "Slack says missing_scope"


@dataclass
class Watch:
    """Lets the platform's time pass where somebody would sleep; what it does first is up to a test."""

    server: SlackServer
    slept: list[float] = field(default_factory=list[float])
    reasons: list[str] = field(default_factory=list[str])
    told: asyncio.Event = field(default_factory=asyncio.Event)

    async def sleep(self, seconds: float) -> None:
        """Let time pass at once."""
        self.slept.append(seconds)
        self.server.clock.advance(seconds)
        await asyncio.sleep(0)

    def observe(self, event: Event) -> None:
        """Hear why not all could be read."""
        assert isinstance(event, CatchUpCutShort)
        self.reasons.append(event.reason)
        self.told.set()


def ref(team_id: str, channel: Channel) -> ChannelRef:
    """Name a channel."""
    return ChannelRef(platform="slack", workspace=team_id, channel=channel.id)


async def heard(place: Place, box: Box) -> Sequence[str]:
    """Give the texts of the questions up to one that is asked now."""
    place.direct("the last")
    texts: list[str] = []
    while "the last" not in texts:
        texts.append((await box.question()).question.text)
    return sorted(texts[:-1])


async def read(place: Place, calls: int) -> None:
    """Wait until so many channels have been read."""
    await place.server.until(lambda: len(place.server.requests_to(HISTORY)) >= calls, what="the history")


async def test_what_was_missed_is_heard_at_the_next_start(place: Place) -> None:
    """Mentions, direct messages and follow-ups, by two processes that start at once and from Slack itself: once."""
    server, box = place.server, Box()
    async with listening(place, box):
        old = place.ask("Before?")
        direct = place.direct("Before, directly?")
        before = [(await box.question()).message.id for _ in range(2)]
        talk = server.post_as(place.ada, place.channel, "Let us talk.")
        await server.settled()
    secret = server.add_channel(place.workspace, "secret", private=True)
    bob = server.add_member(place.workspace, "bob")
    missed = [
        place.ask("In a channel?"),
        place.ask("In their thread?", thread=talk),
        server.post_as(place.ada, place.channel, "And in my thread?", old),
        server.post_as(place.ada, secret, f"{place.bot.mention} In private?"),
        place.direct("Directly?"),
        server.post_as(place.ada, server.direct(place.workspace, place.ada), "And further?", direct),
    ]
    server.post_as(place.ada, place.channel, "Nobody asks you.")
    server.post_as(place.ada, place.channel, f"{server.mention(bob)} what do you say?", old)
    server.post_as(place.ada, place.channel, f"{place.bot.mention} What is it?", bot_id="B0OTHER")
    place.bot_says("A tip?")
    deleted = place.ask("Never mind?")
    server.delete_as(place.ada, deleted)
    async with listening(place, box, catches_up=True), listening(place, box, catches_up=True):
        found = [(await box.question()).message for _ in missed]
        for again in await server.redeliver(*missed[0].deliveries):
            await again.acknowledged()
        await read(place, 6)

    assert len(before) == len({old.ts, direct.ts})
    assert {(one.thread.channel, one.thread.thread, one.id) for one in found} == {
        (one.channel_id, one.root_ts, one.ts) for one in missed
    }
    assert {one.thread.workspace for one in found} == {place.workspace.team_id}
    assert (box.signals, place.said()) == ([], ["A tip?"])


async def test_only_what_came_after_the_last_that_was_heard_is_heard(place: Place) -> None:
    """A bit before it too, as that may have been lost, and nothing that is older than half an hour."""
    server, channel_cursor = place.server, MemoryChannelCursor()
    place.ask("Long ago?")
    server.clock.advance(7 * MINUTE)
    place.ask("Lost?")
    async with listening(place, Box(), channel_cursor=channel_cursor):
        tip = place.bot_says("A tip.")
        await tip.deliveries[0].acknowledged()
    place.ask("Missed?")
    nothing_known = Box()
    async with listening(place, nothing_known, catches_up=True, channel_cursor=channel_cursor):
        first = {(await nothing_known.question()).question.text for _ in range(2)}
        assert await heard(place, nothing_known) == []
    server.clock.advance(31 * MINUTE)
    place.ask("Young?")
    async with listening(place, box := Box(), catches_up=True):
        second = {(await box.question()).question.text}
        assert await heard(place, box) == []

    assert (first, second) == ({"Lost?", "Missed?"}, {"Young?"})
    assert ref(place.workspace.team_id, place.channel) in channel_cursor.notes


async def test_of_a_busy_channel_a_bounded_number_is_read(place: Place) -> None:
    """The newest, page after page; a channel in which little is said costs one request. That there was more is told."""
    place.ask("Beyond?")
    place.ask("First?")
    for number in range(PAGE * PAGES - 2):
        place.server.post_as(place.ada, place.channel, f"line {number}")
    place.ask("Last?")
    box, told = Box(), asyncio.Queue[Event]()
    async with listening(place, box, catches_up=True, observer=told.put_nowait):
        asked = [(await box.question()).question.text for _ in range(2)]
        assert await heard(place, box) == []
        reason = await told.get()

    assert (asked, reason) == (
        ["First?", "Last?"],
        CatchUpCutShort("Slack", f"more than {PAGE * PAGES} messages in one channel"),
    )
    assert len(place.server.requests_to(HISTORY)) == PAGES


async def test_whoever_was_told_to_try_again_is_not_answered_late_as_well(place: Place) -> None:
    """The bot has put its mark there; other words, or a mark of somebody else, make it a question."""
    server, box = place.server, Box()
    asked = [place.ask(text) for text in ("Refused?", "Refused at first?", "Marked by Ada?")]
    for message, by in zip(asked, (place.workspace.bot, place.workspace.bot, place.ada), strict=True):
        server.react_as(by, message, "warning")
    server.edit_as(place.ada, asked[1], f"<@{place.workspace.bot.id}> In other words?")

    async with listening(place, box, catches_up=True):
        found = {(await box.question()).question.text for _ in range(2)}
        assert await heard(place, box) == []

    assert found == {"In other words?", "Marked by Ada?"}


async def test_threads_of_the_bot_are_read_before_those_of_others(place: Place) -> None:
    """After all channels, as there may not be the time to read them all; quiet threads are not read."""
    server, box = place.server, Box()
    async with listening(place, box):
        ours = place.ask("A robot?")
        await box.question()
    quiet, theirs = (server.post_as(place.ada, place.channel, text) for text in ("Well.", "Let us talk."))
    server.post_as(place.ada, place.channel, "Yes.", quiet)
    server.clock.advance(31 * MINUTE)
    place.bot_says("An arm with a computer.", ours)
    server.post_as(place.ada, place.channel, "And a drone?", ours)
    server.post_as(place.ada, place.channel, "About lunch.", theirs)
    later = server.add_channel(place.workspace, "later")
    async with listening(place, box, catches_up=True):
        asked = await box.question()
        await server.until(lambda: len(server.requests_to(REPLIES)) == 2, what="both threads")

    calls = [one for one in server.requests if one.method in {HISTORY, REPLIES}]
    assert (asked.question.text, asked.message.thread.thread) == ("And a drone?", ours.ts)
    assert [one.body.get("ts", one.body["channel"]) for one in calls] == [
        place.channel.id,
        later.id,
        ours.ts,
        theirs.ts,
    ]


async def test_of_many_threads_the_latest_are_read_and_that_there_are_more_is_told(place: Place) -> None:
    """The bot's own first, however old; each is one request."""
    server, box, watch = place.server, Box(), Watch(place.server)
    ours = place.bot_says("Ada asks: What is it?")
    server.post_as(place.ada, place.channel, f"{place.bot.mention} Ours?", ours)
    for room in (place.channel, server.add_channel(place.workspace, "other")):
        for number in range(THREADS // 2):
            root = server.post_as(place.ada, room, "Let us talk.")
            server.post_as(place.ada, room, f"{place.bot.mention} Number {number}?", root)
    async with listening(place, box, catches_up=True, observer=watch.observe):
        asked = [(await box.question()).question.text for _ in range(THREADS)]
        async with asyncio.timeout(5):
            await watch.told.wait()

    numbers = [f"Number {number}?" for number in reversed(range(THREADS // 2))]
    assert asked == ["Ours?", *numbers, *numbers[:-1]]
    assert watch.reasons == [f"more than {THREADS} threads in one workspace"]


async def test_a_message_that_was_edited_meanwhile_is_heard_in_its_newest_words(place: Place) -> None:
    """As a question if it was missed, and as an edit if it was heard before."""
    server, box = place.server, Box()
    async with listening(place, box):
        known = place.ask("What is a robt?")
        asked = await box.question()
        await server.settled()
    missed = place.ask("What is an am?")
    for message, text in ((known, "What is a robot?"), (missed, "What is an arm?")):
        server.edit_as(place.ada, message, f"{place.bot.mention} {text}")
    async with listening(place, box, catches_up=True):
        found = [await box.next() for _ in range(2)]

    edited, late = found
    assert isinstance(edited, Edited)
    assert isinstance(late, Asked)
    assert (edited.question.text, edited.message) == ("What is a robot?", asked.message)
    assert (late.question.text, late.message.id) == ("What is an arm?", missed.ts)


async def test_catching_up_only_tells_who_waits_and_waits_for_the_store(place: Place) -> None:
    """A mention without words is old by then."""
    watch, box = Watch(place.server), Box(fails=True, crowd=99)

    async def sleep(seconds: float) -> None:
        box.fails = False
        await watch.sleep(seconds)

    place.ask("")
    place.ask("Late?")
    async with listening(place, box, catches_up=True, waits=waits(box), sleep=sleep):
        asked = await box.question()
        await wait_until(lambda: len(box.notices) == 2, what="the words, and the notes of them")

    assert (asked.question.text, len(place.said()), len(watch.slept)) == ("Late?", 1, 1)


async def test_where_one_channel_a_minute_may_be_read_the_rest_is_given_up(place: Place) -> None:
    """Those come first in which something was heard lately; what is said meanwhile is heard, and one line tells."""
    server, box, watch, channel_cursor = place.server, Box(), Watch(place.server), MemoryChannelCursor()
    server.limits.set(HISTORY, 1, MINUTE)
    quiet = [server.add_channel(place.workspace, f"quiet {number}") for number in range(12)]
    await channel_cursor.note(ref(place.workspace.team_id, quiet[-1]), datetime.now(UTC))
    server.post_as(place.ada, quiet[-1], f"{place.bot.mention} Lively?")
    held = Hold(asyncio.Event())
    server.faults.add(HISTORY, held)
    async with listening(
        place, box, catches_up=True, channel_cursor=channel_cursor, sleep=watch.sleep, observer=watch.observe
    ):
        assert await heard(place, box) == []
        held.until.set()
        first = await box.question()
        await watch.told.wait()

    read_there = [one.body["channel"] for one in server.requests_to(HISTORY) if one.status == 200]
    assert (first.question.text, read_there[0]) == ("Lively?", quiet[-1].id)
    assert len(read_there) == len(set(read_there)) == PATIENT.budget // MINUTE + 1
    assert watch.reasons == ["rate limit"]


async def test_without_the_right_to_list_channels_those_are_read_that_were_heard(place: Place) -> None:
    """A channel that the bot was removed from is nobody's trouble; what Slack does not let it read is told once."""
    server, box, watch, channel_cursor = place.server, Box(), Watch(place.server), MemoryChannelCursor()
    left = server.add_channel(place.workspace, "left", bot=False)
    for channel in (left, place.channel):
        await channel_cursor.note(ref(place.workspace.team_id, channel), datetime.now(UTC))
    place.workspace.scopes.discard("im:read")
    place.ask("Missed?")
    async with listening(place, box, catches_up=True, channel_cursor=channel_cursor, observer=watch.observe):
        asked = await box.question()
        await watch.told.wait()

    assert (asked.question.text, watch.reasons) == ("Missed?", [LACKING])
    assert [one.error for one in server.requests_to(HISTORY)].count("not_in_channel") == 1


class Installed:
    """Several workspaces that the bot was installed in, by their names."""

    def __init__(self, *found: OneWorkspace) -> None:
        self._found = found

    async def find(self, workspace: str) -> Workspace:
        """Look through all of them."""
        for one in self._found:
            if (await one.only()).name == workspace:
                return await one.find(workspace)
        raise NotInstalled("nobody has installed the bot there")


async def test_every_workspace_that_was_heard_is_read(place: Place) -> None:
    """Each by its own bot; one that has thrown the bot out is nobody's trouble."""
    server, box, watch, channel_cursor = place.server, Box(), Watch(place.server), MemoryChannelCursor()
    other = server.add_workspace("Elsewhere")
    there, eve = server.add_channel(other), server.add_member(other, "eve")
    for team_id in ("T0GONE", other.team_id):
        await channel_cursor.note(ref(team_id, there), datetime.now(UTC))
    place.ask("Here?")
    server.post_as(eve, there, f"{other.bot.mention} There?")
    async with open_session() as session:
        tokens = (place.workspace.token, other.token)
        installed = Installed(*(OneWorkspace(session, token, server.api_url) for token in tokens))
        options: dict[str, Any] = {"channel_cursor": channel_cursor, "observer": watch.observe}
        async with listening(place, box, catches_up=True, workspaces=installed, **options):
            asked = [(await box.question()).question for _ in range(2)]
            assert await heard(place, box) == []

    assert {(one.message.thread.workspace, one.text) for one in asked} == {
        (place.workspace.team_id, "Here?"),
        (other.team_id, "There?"),
    }
    assert watch.reasons == []


async def test_what_was_said_while_no_connection_stood_is_heard_at_the_next(place: Place) -> None:
    """A connection that is replaced in good order leaves no gap, so nothing is read again."""
    server, box = place.server, Box()
    async with listening(place, box, catches_up=True):
        await read(place, 1)
        server.refresh(everybody=True)
        await server.until(lambda: len(server.sockets.arrivals) == 4, what="new connections")
        looked = len(server.requests_to(HISTORY))
        server.sockets.drop()
        place.ask("Unheard?")
        asked = await box.question()

    assert (asked.question.text, looked) == ("Unheard?", 1)
    assert len(server.requests_to(HISTORY)) > looked


async def test_after_a_loss_every_workspace_is_read_that_this_process_has_heard(place: Place) -> None:
    """For half an hour, whatever was heard since the loss; the store knows of none of them any more."""
    server, box, channel_cursor = place.server, Box(), MemoryChannelCursor()
    other = server.add_workspace("Elsewhere")
    there, eve = server.add_channel(other), server.add_member(other, "eve")
    async with open_session() as session:
        tokens = (place.workspace.token, other.token)
        installed = Installed(*(OneWorkspace(session, token, server.api_url) for token in tokens))
        async with listening(place, box, workspaces=installed, channel_cursor=channel_cursor) as listener:
            asked = [place.ask("Here?"), server.post_as(eve, there, f"{other.bot.mention} There?")]
            before = {(await box.question()).question.text for _ in asked}
            server.clock.advance(20 * MINUTE)
            box.lose()
            channel_cursor.notes.clear()
            await place.bot_says("A tip.").deliveries[0].acknowledged()
            listener.regain()
            after = {(await box.question()).question.text for _ in asked}

    assert (before, after) == ({"Here?", "There?"}, {"Here?", "There?"})
