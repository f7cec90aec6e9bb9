"""What the bot may not do: nothing is put where it may not answer, and moderators are told once what to allow."""

from __future__ import annotations

import pytest

from core.messages import permissions_lacking
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.ears import answers, listening, notes_of
from tests.fakes.box import Box
from tests.fakes.dedup import MemoryDedup
from tests.servers.discord import Channel, DiscordServer, Message
from tests.servers.discord.payloads import channel_payload
from tests.servers.discord.permissions import Permission
from tests.servers.faults import EVERY
from tests.servers.service import Reply
from tests.waiting import at_once, wait_until

REACTION = "PUT /channels/{channel}/messages/{message}/reactions/{emoji}/@me"
IN_THREADS = Permission.SEND_MESSAGES_IN_THREADS
OPENING = Permission.CREATE_PUBLIC_THREADS


def ask(server: DiscordServer, place: Place, channel: Channel, text: str = "A?") -> Message:
    """Ada mentions the bot."""
    return server.post_as(place.ada, channel, text, mentions=[server.bot])


@pytest.mark.promise("lacking-permissions")
async def test_where_the_bot_may_not_write_the_question_is_marked_and_moderators_are_told(
    server: DiscordServer, place: Place
) -> None:
    """Nothing is put; they are told once, where they talk, whoever asks how often."""
    place.guild.updates_channel_id = server.add_channel(place.guild, "moderators").id
    server.deny(place.channel, Permission.SEND_MESSAGES | OPENING)
    box = Box()
    async with listening(server, box, dedup=MemoryDedup()):
        asked = [ask(server, place, place.channel) for _ in range(3)]
        await server.until(lambda: answers(server) and all(one.reactions for one in asked), what="marks and a hint")
        ask(server, place, server.add_channel(place.guild, "other"))
        first = await box.question()

    missing = ("Create Public Threads", "Send Messages")
    assert [(one.channel_id, one.content) for one in answers(server)] == [
        (place.guild.updates_channel_id, permissions_lacking(f"<#{place.channel.id}>", missing))
    ]
    assert [set(one.reactions) for one in asked] == [{"⚠️"}] * 3
    assert first.message.thread.channel != str(place.channel.id)


@pytest.mark.promise("lacking-permissions")
async def test_without_a_place_for_moderators_the_owner_is_told(server: DiscordServer, place: Place) -> None:
    """Also where the bot may not write in the place for moderators. A thread has its channel's permissions."""
    updates = server.add_channel(place.guild, "moderators")
    place.guild.updates_channel_id = updates.id
    server.deny(updates, Permission.SEND_MESSAGES)
    server.deny(place.channel, IN_THREADS)
    thread = server.thread_as(place.ada, server.post_as(place.ada, place.channel, "Arms"), "Arms")
    box = Box()
    async with listening(server, box, dedup=MemoryDedup()):
        asked = ask(server, place, thread)
        await server.until(lambda: answers(server) and asked.reactions, what="a hint and a mark")

    told = answers(server)[0]
    assert told.channel_id == server.dm(server.platform.owner).id
    assert told.content == permissions_lacking(f"<#{place.channel.id}>", ("Send Messages in Threads",))
    assert (told.pings.users, told.previews) == (set(), [])


async def test_the_hint_names_channel_and_permissions() -> None:
    """In Discord's own words, which moderators look for."""
    assert permissions_lacking("<#7>", ("View Channel", "Send Messages")) == (
        "I can't answer questions in <#7>: I'm missing **View Channel**, **Send Messages**. "
        "Please allow this for my role, in that channel or in the whole server."
    )


@pytest.mark.promise("lacking-permissions")
async def test_a_hint_that_cannot_be_given_is_not_given_again(server: DiscordServer, place: Place) -> None:
    """An owner who takes no messages is left alone; other missing permissions are worth another try."""
    server.platform.owner.refuses_dms = True
    server.deny(place.channel, OPENING)
    dedup, box = MemoryDedup(), Box()
    async with listening(server, box, dedup=dedup):
        for _ in range(3):
            ask(server, place, place.channel)
            await box.question()
        opened = "POST /channels/{channel}/messages"
        await server.until(lambda: server.requests_to(opened), what="a try")
        server.deny(place.channel, IN_THREADS)
        ask(server, place, place.channel)
        await box.question()
        await server.until(lambda: len(server.requests_to(opened)) == 2, what="another try")

    assert [one.status for one in server.requests_to(opened)] == [403, 403]
    assert list(notes_of(dedup)) == [f"discord:permissions:{place.guild.id}:{place.channel.id}"]


@pytest.mark.promise("lacking-permissions")
async def test_a_hint_that_never_arrived_does_not_count(server: DiscordServer, place: Place) -> None:
    """It is given when somebody asks the next time."""
    server.deny(place.channel, OPENING)
    busy = Reply(429, {"retry_after": 600.0, "global": False, "message": "Too many"}, {"Via": "1.1 google"})
    dedup, box = MemoryDedup(), Box()
    async with listening(server, box, dedup=dedup):
        server.faults.add("POST /users/@me/channels", busy)
        ask(server, place, place.channel)
        await server.until(lambda: server.faults.met, what="a try")
        await wait_until(lambda: not notes_of(dedup), what="the note taken back")

    assert answers(server) == []


@pytest.mark.parametrize("denied", [OPENING, IN_THREADS])
async def test_where_no_thread_can_be_opened_the_answer_stays_in_the_channel(
    server: DiscordServer, place: Place, denied: Permission
) -> None:
    """As a reply to the question."""
    server.deny(place.channel, denied)
    box = Box()
    async with listening(server, box):
        message = ask(server, place, place.channel)
        asked = await box.question()

    assert asked.address is not None
    assert asked.address.thread == asked.message.thread.model_copy(update={"thread": str(place.channel.id)})
    assert (asked.address.message, asked.message.id) == (asked.message, str(message.id))


async def test_who_may_open_threads_needs_no_right_to_write_in_the_channel(server: DiscordServer, place: Place) -> None:
    """It answers in the thread."""
    server.deny(place.channel, Permission.SEND_MESSAGES)
    dedup, box = MemoryDedup(), Box()
    async with listening(server, box, dedup=dedup):
        ask(server, place, place.channel)
        asked = await box.question()

    assert asked.address is not None
    assert (asked.address.message, notes_of(dedup)) == (asked.message, {})


async def test_a_thread_that_moderators_have_locked_is_theirs(server: DiscordServer, place: Place) -> None:
    """The question is marked, and nobody is told anything: it was meant so."""
    thread = server.thread_as(place.ada, server.post_as(place.ada, place.channel, "Arms"), "Arms")
    server.change_thread(thread, locked=True)
    dedup, box = MemoryDedup(), Box()
    async with listening(server, box, dedup=dedup):
        asked = ask(server, place, thread)
        await server.until(lambda: asked.reactions, what="a mark")

    assert (box.signals, notes_of(dedup)) == ([], {})


async def test_an_administrator_lacks_nothing(server: DiscordServer) -> None:
    """Whatever a channel says."""
    guild = server.add_guild("Ours", permissions=Permission.ADMINISTRATOR)
    channel = server.add_channel(guild)
    server.deny(channel, Permission.SEND_MESSAGES | OPENING)
    dedup, box = MemoryDedup(), Box()
    async with listening(server, box, dedup=dedup):
        ask(server, Place(guild, channel, server.add_member(guild)), channel)
        await box.question()

    assert notes_of(dedup) == {}


async def test_where_it_may_not_even_react_nothing_is_asked_of_the_platform(
    server: DiscordServer, place: Place
) -> None:
    """What is refused too often ends in a ban; a store that is away costs the hint."""
    server.deny(place.channel, Permission.SEND_MESSAGES | OPENING | Permission.ADD_REACTIONS)
    dedup = MemoryDedup()
    dedup.fails = True
    box = Box()
    async with listening(server, box, dedup=dedup):
        before = len(server.requests)
        ask(server, place, place.channel)
        server.post_as(place.ada, server.dm(place.ada), "the last")
        last = await box.question()

    assert (last.question.text, len(server.requests)) == ("the last", before)


async def test_a_mark_or_a_reply_that_is_refused_breaks_nothing(server: DiscordServer, place: Place) -> None:
    """The bot's rights may have changed a moment ago."""
    box = Box(fails=True)
    async with listening(server, box, sleep=at_once):
        server.faults.break_(EVERY, Reply(403, {"code": 50013, "message": "Missing Permissions"}))
        ask(server, place, place.channel)
        await server.until(lambda: len(server.faults.met) == 2, what="a mark and a reply that were refused")
        box.fails = False
        ask(server, place, place.channel, "And now?")
        asked = await box.question()

    assert asked.question.text == "And now?"


async def test_what_nobody_knows_yet_is_not_missing(server: DiscordServer, place: Place) -> None:
    """Neither in a guild that an outage keeps away, nor in a thread whose channel is not known; both are asked for."""
    thread = server.thread_as(place.ada, server.post_as(place.ada, place.channel, "Arms"), "Arms")
    said = ask(server, place, thread)
    server.change_thread(thread, archived=True)
    hidden = {**channel_payload(server.platform, thread), "parent_id": "1"}
    other = server.add_guild("Others")
    server.gateway.away.add(other.id)
    elsewhere = server.add_channel(other)
    dedup, box = MemoryDedup(), Box()
    async with listening(server, box, dedup=dedup):
        server.faults.add("GET /channels/{channel}", Reply(200, hidden))
        server.repeat(said)
        first = await box.question()
        server.post_as(server.add_member(other), elsewhere, "B?", mentions=[server.bot])
        second = await box.question()

    assert second.address is not None
    assert (first.message.thread.channel, second.address.message, notes_of(dedup)) == ("1", second.message, {})
