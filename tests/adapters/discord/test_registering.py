"""Discord knows the commands as they are, and nobody waits for that."""

from __future__ import annotations

import pytest

from adapters.discord.registering import is_current
from core.events import CommandsFailed, CommandsRegistered
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.office import READ, Office
from tests.servers.discord import Hang, Reply
from tests.waiting import wait_until

SYNC = "PUT /applications/{application}/commands"


@pytest.mark.promise("commands-once")
async def test_commands_are_registered_when_discord_has_others_and_not_else(office: Office) -> None:
    """A second start writes nothing, and what is lost on Discord's side comes back, also while the bot runs."""
    async with office.open():
        pass
    async with office.open():
        known, once = office.server.platform.commands[None], len(office.server.requests_to(SYNC))
        office.server.platform.commands[None] = known[1:]
        office.looks.release()
        await office.server.until(lambda: is_current(office.server.platform.commands[None]))
    office.server.platform.commands[None] = [{**known[0], "description": "Another one."}, *known[1:]]
    async with office.open():
        pass

    assert (once, len(office.server.requests_to(SYNC))) == (1, 3)
    assert [command["name"] for command in office.server.platform.commands[None]] == [
        "ask",
        "sources",
        "documents",
        "forget",
        "me",
        "mute",
        "unmute",
        "help",
        "privacy",
        "footnote-admin",
        "Answer from this message",
    ]


@pytest.mark.parametrize(
    ("route", "fault", "reason"),
    [
        (SYNC, Reply(403, {"code": 50001, "message": "Missing Access"}), "code 50001"),
        (READ, Reply(403, {"code": 50001, "message": "Missing Access"}), "code 50001"),
        (SYNC, Reply(400, {"code": 50035, "errors": ["odd"]}), "AttributeError"),
    ],
)
async def test_a_registration_that_fails_is_told_and_tried_again(
    office: Office, route: str, fault: Reply, reason: str
) -> None:
    """People are answered all the while."""
    office.server.faults.add(route, fault)
    async with office.open():
        told = list(office.events)
        office.looks.release()
        await wait_until(lambda: len(office.events) > 1, what="its end")

    failed = CommandsFailed("Discord", reason)
    assert (told, office.events) == ([failed], [failed, CommandsRegistered("Discord")])


async def test_an_answer_of_another_shape_counts_as_no_commands(office: Office) -> None:
    """They are written then."""
    office.server.faults.add(READ, Reply(200, {"commands": 5}))
    async with office.open():
        office.looks.release()
        await office.server.until(lambda: is_current(office.server.platform.commands.get(None)))

    assert len(office.server.requests_to(SYNC)) == 1


async def test_nobody_waits_for_commands_to_be_registered(office: Office, place: Place) -> None:
    """What is asked by one is answered although Discord says nothing about them."""
    async with office.open():
        pass
    office.server.faults.break_(READ, Hang())
    async with office.open(waits=False):
        told = await office.told(office.server.slash(place.ada, place.channel, "help"))

    assert told.content
