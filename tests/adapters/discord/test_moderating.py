"""The commands of moderators: what they say, what they do, and that nobody else can use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from adapters.discord.registering import ADMIN as NAME
from core import messages
from core.model import AuditEntry, Complaint, Person, Policy, PolicyFault, Signal, Vote
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.office import Office, home, thread_ref
from tests.builders import NOON
from tests.servers.discord import DiscordServer, Message, Permission, User
from tests.servers.discord.acting import Option

FORMS = messages.Forms()

REFUSED = "Only moderators can do that. Ask one of them."
EVERYTHING: Mapping[str, str] = {"what": "everything"}
ORDERS: dict[str, Mapping[str, str | bool]] = {
    "status": {},
    "pause": {},
    "resume": {},
    "forget": {"what": "everything", "confirm": True},
}


@pytest.fixture(name="boss")
def _boss(server: DiscordServer, place: Place) -> User:
    return server.add_member(place.guild, "Bo*ss*", permissions=Permission.MANAGE_GUILD)


async def ordered(office: Office, by: User, place: Place, order: str, **options: Option) -> Message:
    """Give an order in the channel, and wait for what is said."""
    return await office.told(office.server.slash(by, place.channel, f"{NAME} {order}", **options))


@pytest.mark.promise("moderators-only")
@pytest.mark.parametrize("order", ORDERS)
async def test_an_order_by_anybody_else_is_refused(office: Office, place: Place, order: str) -> None:
    """Whatever a server's settings show to whom; nothing is done, and only that person hears of it."""
    async with office.open():
        told = await ordered(office, place.ada, place, order, **ORDERS[order])

    assert (told.content, told.seen_by) == (REFUSED, place.ada.id)
    assert await office.policies.recent(home(place.guild.id), limit=9) == ()


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
    """It is noted for the forum that was chosen; without the right to read, that is said as well."""
    forum = office.server.add_channel(place.guild, "help", forum=True)
    async with office.open():
        told = [
            (await ordered(office, boss, place, "auto-answer", channel=forum, on=on)).content for on in (True, False)
        ]
        entries = await office.policies.recent(home(place.guild.id), limit=9)

    assert told == [
        messages.auto_answering(on=True, is_new=True, is_heard=False),
        messages.auto_answering(on=False, is_new=True, is_heard=False),
    ]
    assert [(entry.did, entry.about) for entry in entries] == [
        ("auto-answer off", str(forum.id)),
        ("auto-answer on", str(forum.id)),
    ]


async def test_a_pause_and_its_end_are_confirmed_and_noted(office: Office, place: Place, boss: User) -> None:
    """Doing it twice is told."""
    async with office.open():
        told = [(await ordered(office, boss, place, order)).content for order in ("pause", "pause", "resume", "resume")]

    by = Person(id=str(boss.id))
    assert told == [
        messages.paused(is_new=True),
        messages.paused(is_new=False),
        messages.resumed(is_new=True),
        messages.resumed(is_new=False),
    ]
    assert await office.policies.recent(home(place.guild.id), limit=9) == (
        AuditEntry(by=by, did="resume", at=NOON),
        AuditEntry(by=by, did="pause", at=NOON),
    )


@pytest.mark.promise("silent-channels")
async def test_the_bot_is_switched_off_in_a_channel_and_on_again(office: Office, place: Place, boss: User) -> None:
    """Each order is confirmed and noted; the status, and the end of a pause of the server, say where it is off."""
    here: Mapping[str, Option] = {"channel": place.channel}
    nowhere: Mapping[str, Option] = {}
    orders = (("pause", here), ("pause", here), ("resume", nowhere), ("resume", here), ("resume", here))
    async with office.open():
        (first, *told) = [(await ordered(office, boss, place, order, **room)).content for order, room in orders[:2]]
        status = (await ordered(office, boss, place, "status")).content.split("\n")
        told += [(await ordered(office, boss, place, order, **room)).content for order, room in orders[2:]]

    name, noted = f"<#{place.channel.id}>", await office.policies.recent(home(place.guild.id), limit=9)
    assert [first, *told] == [
        messages.silenced(name, on=True, is_new=True),
        messages.silenced(name, on=True, is_new=False),
        f"{messages.resumed(is_new=False)}\n{messages.silent_line([name])}",
        messages.silenced(name, on=False, is_new=True),
        messages.silenced(name, on=False, is_new=False),
    ]
    assert status[:2] == ["I'm answering questions.", messages.silent_line([name])]
    assert [(entry.did, entry.about) for entry in noted] == [
        ("resume channel", str(place.channel.id)),
        ("pause channel", str(place.channel.id)),
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


async def test_the_status_says_how_things_are(office: Office, place: Place, boss: User) -> None:
    """Names are shown as they are, times as each reader's own, and what the bot may not do here."""
    vote = Vote(answer_id="a", person_id="1", is_helpful=False, complaints=(Complaint.WRONG,), at=NOON)
    await office.votes.cast(home(place.guild.id), vote)
    lacking = Permission.ADD_REACTIONS | Permission.SEND_MESSAGES_IN_THREADS | Permission.VIEW_CHANNEL
    office.server.deny(place.channel, lacking)
    async with office.open():
        await ordered(office, boss, place, "pause")
        told = await ordered(office, boss, place, "status")

    moment = f"<t:{int(NOON.timestamp())}:R>"
    assert told.content.split("\n") == [
        f"Paused by <@{boss.id}> {moment}.",
        "Used today: 0 questions.",
        "Used this month: 0 questions.",
        "Votes: 0 helpful, 1 not helpful.",
        "Waiting in all communities: 0 questions.",
        "I'm missing these permissions here: Add Reactions, View Channel, Send Messages in Threads.",
        "What moderators did recently:",
        f"- {moment}: <@{boss.id}>, pause",
    ]
    assert told.seen_by == boss.id


async def test_where_nothing_is_wrong_the_status_says_so(office: Office, place: Place, boss: User) -> None:
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

    assert [each.content.split("\n")[-1] for each in inside] == [
        "I have all the permissions I need here.",
        'I\'m missing these permissions here: Manage Threads (for the tag "answered").',
    ]
    assert told.content.split("\n") == [
        "I'm answering questions.",
        "Used today: 0 questions.",
        "Used this month: 0 questions.",
        "Votes: 0 helpful, 0 not helpful.",
        "Waiting in all communities: 0 questions.",
        "I have all the permissions I need here.",
    ]


async def test_the_status_lists_channels_and_the_log_page_by_page(office: Office, place: Place, boss: User) -> None:
    """In such a way that they can be clicked."""
    forum = office.server.add_channel(place.guild, "help", forum=True)
    moment = f"<t:{int(NOON.timestamp())}:R>"
    async with office.open():
        await ordered(office, boss, place, "auto-answer", channel=forum, on=True)
        for number in range(10):
            await ordered(office, boss, place, "resume" if number % 2 else "pause", channel=place.channel)
        pages = [(await ordered(office, boss, place, "status", page=page)).content.split("\n") for page in (1, 2, 3)]

    assert pages[0][1] == messages.auto_answer_line([f"<#{forum.id}>"])
    assert pages[0][-12:-9] == [
        "What moderators did recently:",
        f"- {moment}: <@{boss.id}>, resume channel (<#{place.channel.id}>)",
        f"- {moment}: <@{boss.id}>, pause channel (<#{place.channel.id}>)",
    ]
    assert pages[0][-1] == f"Older entries: `/{NAME} status page:2`"
    assert pages[1:] == [
        ["What moderators did recently:", f"- {moment}: <@{boss.id}>, auto-answer on (<#{forum.id}>)"],
        [messages.NO_ENTRIES],
    ]


@pytest.mark.promise("unreadable-is-closed")
async def test_moderators_learn_of_settings_that_cannot_be_read(office: Office, place: Place, boss: User) -> None:
    """Nothing can be changed until somebody resumes, who hears what was lost."""
    here: Mapping[str, Option] = {"channel": place.channel}
    office.policies.set(
        home(place.guild.id), Policy(fault=PolicyFault.DAMAGED, silent_channels=frozenset({str(place.channel.id)}))
    )
    async with office.open():
        status = (await ordered(office, boss, place, "status")).content.split("\n")
        refused = [(await ordered(office, boss, place, order, **here)).content for order in ("pause", "resume")]
        resumed = (await ordered(office, boss, place, "resume")).content.split("\n")
        later = (await ordered(office, boss, place, "status")).content.split("\n")

    lost = [f"- Switched off in <#{place.channel.id}>.", "- Anything else that was set."]
    assert status[:2] == [
        "The settings here can't be read. Until that is fixed, I won't answer anything.",
        f"`/{NAME} resume` starts again with the default settings. This would be lost:",
    ]
    assert (status[2:4], refused) == (lost, [messages.UNREADABLE] * 2)
    assert resumed == ["I'm answering again, with the default settings. This was lost:", *lost]
    assert later[0] == "I'm answering questions."


async def test_moderators_forget_a_person(office: Office, place: Place, boss: User) -> None:
    """Questions and votes, and whom it was about is noted."""
    await office.remember(thread_ref(place.guild.id, "1", "2"), place.ada.id)
    await office.votes.cast(
        home(place.guild.id), Vote(answer_id="a", person_id=str(place.ada.id), is_helpful=True, at=NOON)
    )
    async with office.open():
        unnamed = await ordered(office, boss, place, "forget", what="a person")
        told = await ordered(office, boss, place, "forget", what="a person", person=place.ada)

    noted = await office.policies.recent(home(place.guild.id), limit=9)
    assert (unnamed.content, told.content) == (messages.NOBODY_NAMED, messages.person_forgotten(1, 1))
    assert [(entry.did, entry.about) for entry in noted] == [("forget person", str(place.ada.id))]


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


async def test_everything_is_forgotten_only_when_it_is_confirmed(office: Office, place: Place, boss: User) -> None:
    """The first time says what would happen."""
    ref = thread_ref(place.guild.id, "1", "2")
    await office.remember(ref, place.ada.id)
    async with office.open():
        asked = await ordered(office, boss, place, "forget", **EVERYTHING)
        before = (await office.conversations.load(ref)).turns
        told = await ordered(office, boss, place, "forget", **EVERYTHING, confirm=True)

    assert (asked.content, told.content) == (FORMS.unconfirmed, messages.everything_forgotten(1))
    assert (len(before), (await office.conversations.load(ref)).turns) == (1, ())


async def test_a_store_that_is_away_is_told_in_a_sentence(office: Office, place: Place, boss: User) -> None:
    """The reason stays inside."""
    office.shut()
    async with office.open():
        told = await ordered(office, boss, place, "status")

    assert told.content == f"⚠️ {messages.AWAY}"
