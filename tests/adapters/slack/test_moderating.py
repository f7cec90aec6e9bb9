"""The orders of moderators: what they say, what they do, and that nobody else can give them."""

from __future__ import annotations

import pytest

from adapters.slack.interactions import since
from core import messages
from core.model import AuditEntry, Complaint, Person, Policy, PolicyFault, Vote
from tests.adapters.slack.office import Office
from tests.builders import NOON
from tests.servers.slack import Reply

REFUSED = "Only moderators can do that. Ask one of them."


@pytest.mark.promise("moderators-only")
async def test_an_order_by_anybody_else_is_refused(office: Office) -> None:
    """A guest with an admin's flag and somebody whom Slack does not tell of as well; only that person hears of it."""
    guest = office.server.add_member(office.workspace, "gus", is_admin=True, is_restricted=True)
    orders = (
        "status",
        "pause",
        "resume",
        "pause here",
        "resume here",
        f"forget person {office.ada.mention}",
        "forget everything confirm",
    )
    async with office.open():
        told = [await office.use(who, f"admin {order}") for who in (office.ada, guest) for order in orders]
        office.workspace.installation.scopes.discard("users:read")
        unknown = await office.use(office.boss, "admin pause")

    assert [*told, unknown] == [REFUSED] * 15
    assert await office.policies.recent(office.home(), limit=9) == ()


@pytest.mark.promise("moderators-only")
async def test_members_of_the_group_of_moderators_may_give_orders(office: Office) -> None:
    """Who is in it is asked of Slack."""
    group = office.server.add_group(office.workspace, office.ada)
    async with office.open(moderators=group):
        told = await office.use(office.ada, "admin pause")

    assert told == messages.paused(is_new=True)


@pytest.mark.promise("moderators-named")
async def test_members_of_a_group_that_an_admin_names_moderate(office: Office) -> None:
    """By the command and in the home, until the admin takes that back; they cannot pass it on."""
    group = office.server.add_group(office.workspace, office.ada)
    name = f"<!subteam^{group}>"
    async with office.open():
        told = [
            await office.use(who, f"admin {order}")
            for who, order in (
                (office.ada, "pause"),
                (office.boss, f"moderators <!subteam^{group}|@helpers> on"),
                (office.ada, "pause"),
                (office.ada, f"moderators <!subteam^{group}|@helpers> on"),
            )
        ]
        status = (await office.use(office.ada, "admin status")).split("\n")
        told.append(await office.use(office.boss, f"admin moderators <!subteam^{group}|@helpers> off"))
        told.append(await office.use(office.ada, "admin resume"))

    assert told == [
        REFUSED,
        messages.moderating(name, on=True, is_new=True),
        messages.paused(is_new=True),
        messages.NOT_AN_ADMIN,
        messages.moderating(name, on=False, is_new=True),
        REFUSED,
    ]
    assert (status[1], f"add moderators ({name})" in status[-1]) == (messages.moderators_line([name]), True)


@pytest.mark.promise("guests-apart")
async def test_moderators_open_a_channel_to_guests_and_close_it(office: Office) -> None:
    """It is confirmed, noted and shown by the status; direct messages are no such channel."""
    direct = office.server.direct(office.workspace, office.boss)
    async with office.open():
        told = [await office.use(office.boss, f"admin guests {on} here") for on in ("on", "on", "off", "off")]
        await office.use(office.boss, "admin guests on here")
        status = (await office.use(office.boss, "admin status")).split("\n")
        refused = [
            await office.use(office.ada, "admin guests on here"),
            await office.use(office.boss, "admin guests on here", direct),
        ]

    name = f"<#{office.channel.id}>"
    assert told == [
        messages.opened_to_guests(name, on=on, is_new=is_new) for on in (True, False) for is_new in (True, False)
    ]
    assert (status[1], refused) == (messages.open_line([name]), [REFUSED, messages.ONLY_IN_CHANNELS])
    assert await office.policies.load(office.home()) == Policy(open_channels=frozenset({office.channel.id}))


async def test_a_pause_and_its_end_are_confirmed_and_noted(office: Office) -> None:
    """Doing it twice is told."""
    async with office.open():
        told = [await office.use(office.boss, f"admin {order}") for order in ("pause", "pause", "resume", "resume")]

    by = Person(id=office.boss.id)
    assert told == [
        messages.paused(is_new=True),
        messages.paused(is_new=False),
        messages.resumed(is_new=True),
        messages.resumed(is_new=False),
    ]
    assert await office.policies.recent(office.home(), limit=9) == (
        AuditEntry(by=by, did="resume", at=NOON),
        AuditEntry(by=by, did="pause", at=NOON),
    )


@pytest.mark.promise("silent-channels")
async def test_the_bot_is_switched_off_in_a_channel_and_on_again(office: Office) -> None:
    """Each order is confirmed and noted; the status, and the end of a pause of the workspace, say where it is off."""
    orders = ("pause here", "pause here", "status", "resume", "resume here", "resume here")
    async with office.open():
        told = [await office.use(office.boss, f"admin {order}") for order in orders]
        direct = await office.use(office.boss, "admin pause here", office.server.direct(office.workspace, office.boss))

    name, noted = f"<#{office.channel.id}>", await office.policies.recent(office.home(), limit=9)
    assert told.pop(2).split("\n")[:2] == ["I'm answering questions.", messages.silent_line([name])]
    assert [*told, direct] == [
        messages.silenced(name, on=True, is_new=True),
        messages.silenced(name, on=True, is_new=False),
        f"{messages.resumed(is_new=False)}\n{messages.silent_line([name])}",
        messages.silenced(name, on=False, is_new=True),
        messages.silenced(name, on=False, is_new=False),
        messages.ONLY_IN_CHANNELS,
    ]
    assert [(entry.did, entry.about) for entry in noted] == [
        ("resume channel", office.channel.id),
        ("pause channel", office.channel.id),
    ]


async def test_the_status_says_how_things_are(office: Office) -> None:
    """Names are shown as they are, and times as each reader's own."""
    vote = Vote(answer_id="a", person_id="U1", is_helpful=False, complaints=(Complaint.WRONG,), at=NOON)
    await office.votes.cast(office.home(), vote)
    async with office.open():
        await office.use(office.boss, "admin pause")
        told = await office.use(office.boss, "admin status")

    moment = f"<!date^{int(NOON.timestamp())}^{{date_short_pretty}}, {{time}}|2026-01-01 12:00 UTC>"
    assert moment == since(NOON)
    assert told.split("\n") == [
        f"Paused by <@{office.boss.id}> {moment}.",
        "Used today: 0 questions.",
        "Used this month: 0 questions.",
        "Votes: 0 helpful, 1 not helpful.",
        "Waiting in all communities: 0 questions.",
        "What moderators did recently:",
        f"• {moment}: <@{office.boss.id}>, pause",
    ]


async def test_the_status_shows_the_log_page_by_page(office: Office) -> None:
    """With channels in such a way that they can be clicked."""
    async with office.open():
        for number in range(11):
            await office.use(office.boss, "admin resume here" if number % 2 else "admin pause here")
        told = [await office.use(office.boss, f"admin status{page}") for page in ("", " 1", " 2", " 3")]

    pages, line = (
        [text.split("\n") for text in told],
        f"• {since(NOON)}: <@{office.boss.id}>, pause channel (<#{office.channel.id}>)",
    )
    assert pages[0] == pages[1]
    assert (pages[0][-12:-9:2], pages[0][-1]) == (
        ["What moderators did recently:", line.replace("pause", "resume")],
        "Older entries: `/footnote admin status 2`",
    )
    assert pages[2:] == [["What moderators did recently:", line], [messages.NO_ENTRIES]]


@pytest.mark.promise("unreadable-is-closed")
async def test_moderators_learn_of_settings_that_cannot_be_read(office: Office) -> None:
    """Nothing can be changed until somebody resumes, who hears what was lost."""
    silent = frozenset({office.channel.id})
    office.policies.set(office.home(), Policy(fault=PolicyFault.NEWER, silent_channels=silent))
    orders = ("status", "pause here", "resume here", "resume", "status")
    async with office.open():
        told = [(await office.use(office.boss, f"admin {order}")).split("\n") for order in orders]

    lost = [f"• Switched off in <#{office.channel.id}>.", "• Anything else that was set."]
    assert told[0][1:5] == [
        "Ask the person who runs the bot to start the newer version again.",
        "`/footnote admin resume` starts again with the default settings. This would be lost:",
        *lost,
    ]
    assert told[1:3] == [[messages.UNREADABLE]] * 2
    assert told[3] == ["I'm answering again, with the default settings. This was lost:", *lost]
    assert told[4][0] == "I'm answering questions."


async def test_moderators_forget_a_person(office: Office) -> None:
    """Questions and votes, and whom it was about is noted."""
    await office.remember(office.thread(office.channel, "1"), office.ada.id)
    await office.votes.cast(office.home(), Vote(answer_id="a", person_id=office.ada.id, is_helpful=True, at=NOON))
    async with office.open():
        unnamed = await office.use(office.boss, "admin forget person ada")
        told = await office.use(office.boss, f"admin forget person <@{office.ada.id}|ada>")

    noted = await office.policies.recent(office.home(), limit=9)
    assert (unnamed, told) == (messages.NOBODY_NAMED, messages.person_forgotten(1, 1))
    assert [(entry.did, entry.about) for entry in noted] == [("forget person", office.ada.id)]


async def test_everything_is_forgotten_only_when_it_is_confirmed(office: Office) -> None:
    """The first time says what would happen."""
    thread = office.thread(office.channel, "1")
    await office.remember(thread, office.ada.id)
    async with office.open():
        asked = await office.use(office.boss, "admin forget everything")
        before = (await office.conversations.load(thread)).turns
        told = await office.use(office.boss, "admin forget everything confirm")

    assert (asked, told) == (messages.SLACK_FORMS.unconfirmed, messages.everything_forgotten(1))
    assert (len(before), (await office.conversations.load(thread)).turns) == (1, ())


async def test_what_cannot_be_asked_for_now_is_told_in_a_sentence(office: Office) -> None:
    """A store that is away, and a platform that does not say for now who somebody is."""
    async with office.open():
        office.server.faults.add("users.info", Reply(200, {"ok": False, "error": "internal_error"}))
        unknown = await office.use(office.boss, "admin status")
        office.shut()
        away = await office.use(office.boss, "admin status")

    assert (unknown, away) == (f"⚠️ {messages.BROKEN}", f"⚠️ {messages.AWAY}")
