"""What is Slack's own in the orders of moderators: who may give them, and guests."""

from __future__ import annotations

import pytest

from core import messages
from core.model import Policy
from tests.adapters.slack.office import Office
from tests.servers.slack import Reply

REFUSED = "Only moderators can do that. Ask one of them."


@pytest.mark.promise("moderators-only")
async def test_neither_a_guest_nor_somebody_unknown_gives_orders(office: Office) -> None:
    """A guest may have an admin's flag, and Slack may not tell of somebody at all."""
    guest = office.server.add_member(office.workspace, "gus", is_admin=True, is_restricted=True)
    async with office.open():
        told = [await office.use(guest, f"admin {order}") for order in ("status", "resume here")]
        office.workspace.installation.scopes.discard("users:read")
        told.append(await office.use(office.boss, "admin pause"))

    assert told == [REFUSED] * 3
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


async def test_where_slack_does_not_say_now_who_somebody_is_that_is_told(office: Office) -> None:
    """In a sentence, without the reason."""
    async with office.open():
        office.server.faults.add("users.info", Reply(200, {"ok": False, "error": "internal_error"}))

        assert await office.use(office.boss, "admin status") == f"⚠️ {messages.BROKEN}"
