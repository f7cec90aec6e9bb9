"""Who moderates on Discord: by the right to manage the server, by a role, and by the server's settings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from adapters.chat.platform import Controls
from adapters.discord.moderators import KEPT, CommandRules, DiscordModerators
from adapters.discord.registering import ADMIN
from core import messages
from core.model import AuditEntry, OrderKind, Person, Policy, PolicyFault
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.office import Office, home
from tests.adapters.discord.test_buttons import posted
from tests.builders import NOON
from tests.servers.discord import Channel, DiscordServer, Fault, Hang, Permission, Reply, Role, User

READ = "GET /applications/{application}/guilds/{guild}/commands/permissions"
PAUSED = messages.paused(is_new=True)
NO = messages.NOT_A_MODERATOR


@pytest.fixture(name="boss")
def _boss(server: DiscordServer, place: Place) -> User:
    return server.add_member(place.guild, "Boss", permissions=Permission.MANAGE_GUILD)


async def ordered(office: Office, by: User, channel: Channel, order: str = "pause", **options: Role | bool) -> str:
    """Give an order, and give back what is said of it."""
    return (await office.told(office.server.slash(by, channel, f"{ADMIN} {order}", **options))).content


@pytest.mark.promise("moderators-named")
async def test_members_of_a_role_that_an_admin_names_moderate(office: Office, place: Place, boss: User) -> None:
    """Until the admin takes that back; both are confirmed, noted, and shown by the status."""
    async with office.open():
        role = office.server.add_role(place.guild, "helpers", place.ada)
        told = [
            await ordered(office, place.ada, place.channel),
            await ordered(office, boss, place.channel, "moderators", role=role, on=True),
            await ordered(office, place.ada, place.channel),
        ]
        status = (await ordered(office, place.ada, place.channel, "status")).split("\n")
        told += [
            await ordered(office, boss, place.channel, "moderators", role=role, on=False),
            await ordered(office, place.ada, place.channel),
        ]
        log = await office.policies.recent(home(place.guild.id), limit=9)

    name, by = f"<@&{role.id}>", Person(id=str(boss.id))
    assert told == [
        NO,
        messages.moderating(name, on=True, is_new=True),
        PAUSED,
        messages.moderating(name, on=False, is_new=True),
        NO,
    ]
    assert status[1] == messages.moderators_line([name])
    assert f"add moderators ({name})" in status[-1]
    assert [log[0], log[2]] == [
        AuditEntry(by=by, did="remove moderators", about=str(role.id), at=NOON),
        AuditEntry(by=by, did="add moderators", about=str(role.id), at=NOON),
    ]


@pytest.mark.promise("moderators-named")
async def test_only_an_admin_says_who_moderates(office: Office, place: Place, boss: User) -> None:
    """Who moderates by a role cannot pass that on, and nobody can give it to everybody."""
    async with office.open():
        role = office.server.add_role(place.guild, "helpers", place.ada)
        await ordered(office, boss, place.channel, "moderators", role=role, on=True)
        told = [
            await ordered(office, place.ada, place.channel, "moderators", role=role, on=True),
            await ordered(office, boss, place.channel, "moderators", role=place.guild.roles[place.guild.id], on=True),
        ]
        policy = await office.policies.load(home(place.guild.id))

    assert told == [messages.NOT_AN_ADMIN, messages.NOT_EVERYBODY]
    assert policy == Policy(moderators=frozenset({str(role.id)}))


async def test_roles_count_for_nothing_where_the_settings_cannot_be_read(office: Office, place: Place) -> None:
    """Then whoever may manage the server has to help."""
    async with office.open():
        role = office.server.add_role(place.guild, "helpers", place.ada)
        closed = Policy(fault=PolicyFault.DAMAGED, moderators=frozenset({str(role.id)}))
        office.policies.set(home(place.guild.id), closed)

        assert await ordered(office, place.ada, place.channel, "resume") == NO


ALLOWED: dict[str, Callable[[DiscordServer, Place, Role], None]] = {
    "herself": lambda server, place, _: server.set_command(place.guild, ADMIN, place.ada, allowed=True),
    "a role of hers": lambda server, place, role: server.set_command(place.guild, ADMIN, role, allowed=True),
    "everybody": lambda server, place, _: server.set_command(
        place.guild, ADMIN, place.guild.roles[place.guild.id], allowed=True
    ),
}


@pytest.mark.promise("moderators-named")
@pytest.mark.parametrize("who", ALLOWED)
async def test_whom_the_settings_of_the_server_allow_the_command_moderates(
    office: Office, place: Place, who: str
) -> None:
    """As Discord itself has it; it does not make anybody an admin."""
    async with office.open():
        role = office.server.add_role(place.guild, "helpers", place.ada)
        ALLOWED[who](office.server, place, role)
        told = [
            await ordered(office, place.ada, place.channel),
            await ordered(office, place.ada, place.channel, "moderators", role=role, on=True),
        ]

    assert told == [PAUSED, messages.NOT_AN_ADMIN]


@pytest.mark.promise("moderators-named")
async def test_a_channel_where_the_command_is_off_is_one_where_nobody_moderates_by_it(
    office: Office, place: Place
) -> None:
    """Also in its threads; what is set for the command goes before what is set for the bot, a channel before all."""
    other = office.server.add_channel(place.guild, "office")
    root = office.server.post_as(place.ada, place.channel, "Look.")
    inside = office.server.thread_as(place.ada, root)
    async with office.open():
        server, guild = office.server, place.guild
        server.set_command(guild, ADMIN, place.ada, allowed=True)
        server.set_command(guild, None, None, allowed=False)
        server.set_command(guild, ADMIN, other, allowed=True)
        told = [await ordered(office, place.ada, channel) for channel in (place.channel, inside, other)]

    assert told == [NO, NO, PAUSED]


@pytest.mark.parametrize(
    "fault",
    [
        Reply(403, {"code": 50001, "message": "Missing Access"}),
        Reply(200, {"permissions": True}),
        Reply(200, [["odd"], {"id": 5}, {"permissions": [7]}]),
        Hang(),
    ],
)
async def test_settings_that_cannot_be_read_leave_it_to_whoever_manages_the_server(
    office: Office, place: Place, boss: User, fault: Fault
) -> None:
    """Nobody is taken for a moderator then, nor waits for long to hear so."""
    async with office.open(moderators=DiscordModerators(office.policies, longest=0.2)):
        office.server.set_command(place.guild, ADMIN, place.ada, allowed=True)
        office.server.faults.break_(READ, fault)
        told = [await ordered(office, each, place.channel) for each in (place.ada, boss)]

    assert told == [NO, PAUSED]


async def test_what_discord_says_is_kept_for_a_minute(office: Office, place: Place) -> None:
    """And it is asked only for those who may not manage the server."""
    now = [0.0]
    async with office.open(moderators=DiscordModerators(office.policies, clock=lambda: now[0])):
        told = [await ordered(office, place.ada, place.channel)]
        office.server.set_command(place.guild, ADMIN, place.ada, allowed=True)
        now[0] = KEPT - 1
        told.append(await ordered(office, place.ada, place.channel))
        now[0] = KEPT
        told.append(await ordered(office, place.ada, place.channel))

    assert (told, len(office.server.requests_to(READ))) == ([NO, NO, PAUSED], 2)


@pytest.mark.promise("moderators-named")
async def test_buttons_ask_for_the_same_right_as_the_command(office: Office, place: Place) -> None:
    """Whoever moderates stops an answer of somebody else."""
    message = await posted(office, place, Controls.STOP)
    bob = office.server.add_member(place.guild, "Bob")
    async with office.open():
        refused = await office.told(office.server.press(bob, message, message.custom_ids[0]))
        role = office.server.add_role(place.guild, "helpers", bob)
        office.policies.set(home(place.guild.id), Policy(moderators=frozenset({str(role.id)})))
        office.server.press(bob, message, message.custom_ids[0])
        signal = await office.heard()

    assert (refused.content, type(signal).__name__) == (messages.NOT_YOURS, "Stopped")


def test_rules_apply_as_discord_applies_them() -> None:
    """A person before roles, any role that is allowed, roles before everybody; the app's rules never allow it alone."""

    def allows(*rules: tuple[int, int, bool], app: tuple[tuple[int, int, bool], ...] = ()) -> bool:
        written, whole = (
            [{"id": str(about), "type": kind, "permission": allowed} for kind, about, allowed in each]
            for each in (rules, app)
        )
        return CommandRules(written, whole).allow(100, "7", 5, {8, 9})

    role, user, channel = 1, 2, 3
    assert {
        "nothing is set": allows(),
        "the person, against roles": allows((user, 5, False), (role, 8, True)),
        "one of two roles": allows((role, 8, False), (role, 9, True), (role, 100, False)),
        "a role, against everybody": allows((role, 8, False), (role, 100, True)),
        "everybody": allows((role, 100, True)),
        "somebody else": allows((user, 6, True)),
        "the app alone": allows(app=((user, 5, True),)),
        "the command, against the app": allows((user, 5, True), app=((user, 5, False),)),
        "all channels off, this one on": allows((user, 5, True), (channel, 99, False), (channel, 7, True)),
        "all channels off": allows((user, 5, True), (channel, 99, False)),
        "the command's channels, against the app's": allows((user, 5, True), (channel, 99, True), app=((3, 7, False),)),
        "another channel off": allows((user, 5, True), (channel, 6, False)),
    } == {
        "nothing is set": False,
        "the person, against roles": False,
        "one of two roles": True,
        "a role, against everybody": False,
        "everybody": True,
        "somebody else": False,
        "the app alone": False,
        "the command, against the app": True,
        "all channels off, this one on": True,
        "all channels off": False,
        "the command's channels, against the app's": True,
        "another channel off": True,
    }


def test_orders_about_groups_name_them() -> None:
    """The log shows a role and not a channel."""
    assert {OrderKind.ADD_MODERATORS, OrderKind.REMOVE_MODERATORS} == messages.GROUP_ORDERS
