"""What is Discord's own in the commands of moderators: who sees them, forums, threads and missing permissions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from adapters.discord.registering import ADMIN as NAME
from core import messages
from core.model import Signal
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.office import Office, home, thread_ref
from tests.servers.discord import DiscordServer, Message, Permission, User
from tests.servers.discord.acting import Option

FORMS = messages.Forms()


@pytest.fixture(name="boss")
def _boss(server: DiscordServer, place: Place) -> User:
    return server.add_member(place.guild, "Bo*ss*", permissions=Permission.MANAGE_GUILD)


async def ordered(office: Office, by: User, place: Place, order: str, **options: Option) -> Message:
    """Give an order in the channel, and wait for what is said."""
    return await office.told(office.server.slash(by, place.channel, f"{NAME} {order}", **options))


async def test_the_commands_are_shown_to_moderators_only(office: Office) -> None:
    """In servers, to whoever may manage the server, unless its settings say otherwise."""
    async with office.open():
        pass
    command = next(one for one in office.server.platform.commands[None] if one["name"] == NAME)

    assert (command["default_member_permissions"], command["contexts"]) == (str(int(Permission.MANAGE_GUILD)), [0])
    assert [option["name"] for option in command["options"]] == [
        "status",
        "pause",
        "resume",
        "auto-answer",
        "moderators",
        "budget",
        "forget",
    ]


async def test_a_forum_is_opened_and_closed_to_the_bot(office: Office, place: Place, boss: User) -> None:
    """It is noted for the forum that was chosen, and shown by the status; that the bot may not read is said as well."""
    forum = office.server.add_channel(place.guild, "help", forum=True)
    async with office.open():
        told = [(await ordered(office, boss, place, "auto-answer", channel=forum, on=True)).content]
        status = (await ordered(office, boss, place, "status")).content.split("\n")
        told.append((await ordered(office, boss, place, "auto-answer", channel=forum, on=False)).content)
        entries = await office.policies.recent(home(place.guild.id), limit=9)

    assert told == [
        messages.auto_answering(on=True, is_new=True, is_heard=False),
        messages.auto_answering(on=False, is_new=True, is_heard=False),
    ]
    assert status[1] == messages.auto_answer_line([f"<#{forum.id}>"])
    assert [(entry.did, entry.about) for entry in entries] == [
        ("auto-answer off", str(forum.id)),
        ("auto-answer on", str(forum.id)),
    ]


@pytest.mark.promise("silent-channels")
async def test_threads_and_private_questions_belong_to_their_channel(office: Office, place: Place, boss: User) -> None:
    """Another channel is none of it; only what people can ask in can be chosen."""
    thread = office.server.thread_as(place.ada, place.channel, "Arms")
    other = office.server.add_channel(place.guild, "other")
    async with office.open():
        await ordered(office, boss, place, "pause", channel=place.channel)
        asked: list[Signal] = []
        for where in (place.channel, thread, other):
            office.server.slash(place.ada, where, "ask", question="What is a robot?", private=True)
            asked.append(await office.heard())

    group = next(one for one in office.server.platform.commands[None] if one["name"] == NAME)
    options = {one["name"]: one["options"] for one in group["options"]}
    policy = await office.policies.load(asked[0].message.thread.home)
    assert [policy.answers_in(one.message.thread.channel) for one in asked] == [False, False, True]
    assert [sorted(options[order][0]["channel_types"]) for order in ("pause", "resume")] == [[0, 2, 5, 13, 15, 16]] * 2


async def test_the_status_says_what_the_bot_may_not_do_here(office: Office, place: Place, boss: User) -> None:
    """No order is listed where there was none; in a forum, what the tag takes is needed only where there is one."""
    posts = [
        office.server.post_in_forum_as(
            boss, office.server.add_channel(place.guild, "help", forum=True, tags=tags), "?", "?"
        )
        for tags in ((), ("Answered",))
    ]
    async with office.open():
        told = await ordered(office, boss, place, "status")
        inside = [await ordered(office, boss, replace(place, channel=post), "status") for post, _ in posts]
        lacking = Permission.ADD_REACTIONS | Permission.SEND_MESSAGES_IN_THREADS | Permission.VIEW_CHANNEL
        office.server.deny(place.channel, lacking)
        inside.append(await ordered(office, boss, place, "status"))

    assert [each.content.split("\n")[-1] for each in inside] == [
        "I have all the permissions I need here.",
        'I\'m missing these permissions here: Manage Threads (for the tag "answered").',
        "I'm missing these permissions here: Add Reactions, View Channel, Send Messages in Threads.",
    ]
    assert told.content.split("\n") == [
        "I'm answering questions.",
        "Used today: 0 questions.",
        "Used this month: 0 questions.",
        "Votes: 0 helpful, 0 not helpful.",
        "Waiting in all communities: 0 questions.",
        "I have all the permissions I need here.",
    ]


async def test_moderators_forget_a_thread(office: Office, place: Place, boss: User) -> None:
    """The one in which they say so; both ways of saying it are noted."""
    thread = office.server.thread_as(place.ada, place.channel, "Arms")
    ref = thread_ref(place.guild.id, place.channel.id, thread.id)
    here: Mapping[str, str] = {"what": "this thread"}
    told: list[str] = []
    async with office.open():
        for command in (f"{NAME} forget", "forget"):
            await office.remember(ref, place.ada.id)
            told.append((await office.told(office.server.slash(boss, thread, command, **here))).content)
        outside = await ordered(office, boss, place, "forget", **here)

    noted = await office.policies.recent(home(place.guild.id), limit=9)
    assert (told, outside.content) == ([messages.thread_forgotten(was_there=True)] * 2, FORMS.in_thread)
    assert [(entry.did, entry.about) for entry in noted] == [("forget thread", str(ref))] * 2
