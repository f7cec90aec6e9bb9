"""Who reads an answer on Discord: a server's members in it, and elsewhere whoever asks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from discord import AutoShardedClient

from adapters.chat.services import KEPT
from adapters.discord.connection import connect
from adapters.discord.people import STRANGERS_KEPT, DiscordMembers
from adapters.retry import QUICK
from core.errors import PeopleUnavailable, ShutOut
from core.model import Asker, Readership, WorkspaceRef
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.office import home
from tests.servers.discord import DiscordServer, Guild, Reply, User

LOOK = "GET /guilds/{guild}/members/{user}"


@pytest.fixture(name="now")
def _now() -> list[float]:
    return [0.0]


@pytest.fixture(name="members")
async def _members(server: DiscordServer, now: list[float]) -> AsyncIterator[DiscordMembers]:
    members = DiscordMembers(clock=lambda: now[0], retries=replace(QUICK, attempts=1))
    client = connect(AutoShardedClient, message_content=False, api_url=server.api_url, gateway_url=server.gateway_url)
    async with client:
        await client.login(server.token)
        members.answering = client
        yield members


def asked(by: User | str, where: object = "@me") -> Asker:
    """Somebody who asks, in a server or in none."""
    return Asker(home=home(where), person_id=by if isinstance(by, str) else str(by.id), channel="5")


def reading(*guilds: Guild) -> Readership:
    """Name the servers."""
    return Readership(communities=frozenset(home(each.id) for each in guilds))


@pytest.mark.promise("strangers-apart")
async def test_a_server_is_read_by_its_own_members(
    members: DiscordMembers, server: DiscordServer, place: Place
) -> None:
    """Of those who ask there nobody is looked up, whatever else they are in."""
    other = server.add_guild("Cooks")
    server.platform.member(other, place.ada)

    found = await members.readership(asked(place.ada, place.guild.id), [home(other.id), home(place.guild.id)])

    assert (found, server.requests_to(LOOK)) == (reading(place.guild), [])


@pytest.mark.promise("strangers-apart")
async def test_in_direct_messages_somebody_is_a_member_of_what_the_bot_can_see(
    members: DiscordMembers, server: DiscordServer, place: Place
) -> None:
    """Of the servers that are asked for; not of one that the bot has left, or that is on another platform."""
    other, left, unasked = (server.add_guild(name) for name in ("Cooks", "Left", "Unasked"))
    for guild in (left, unasked):
        server.platform.member(guild, place.ada)
    server.kick_bot(left)
    slack = WorkspaceRef(platform="slack", workspace="T1")
    among = [home(place.guild.id), home(other.id), home(left.id), home("no-id"), home(404), slack]

    assert await members.readership(asked(place.ada), among) == reading(place.guild)
    assert await members.readership(asked(server.add_member(other, "Eve")), among) == reading(other)
    assert await members.readership(asked(server.add_user("Nobody")), among) == reading()
    assert await members.readership(asked("webhook"), among) == reading()


async def test_who_has_not_accepted_the_rules_of_a_server_is_no_member_yet(
    members: DiscordMembers, server: DiscordServer, place: Place
) -> None:
    """They can say nothing there either."""
    place.guild.members[place.ada.id].pending = True

    assert await members.readership(asked(place.ada), [home(place.guild.id)]) == reading()


@pytest.mark.promise("strangers-apart")
async def test_members_are_looked_up_seldom_and_strangers_sooner(
    members: DiscordMembers, server: DiscordServer, place: Place, now: list[float]
) -> None:
    """Whoever leaves reads on for some minutes, and whoever joins waits for one."""
    eve, there = server.add_user("Eve"), [home(place.guild.id)]
    found = [await members.readership(asked(by), there) for by in (place.ada, eve)]
    del place.guild.members[place.ada.id]
    server.platform.member(place.guild, eve)
    for at in (STRANGERS_KEPT - 1, STRANGERS_KEPT, KEPT):
        now[0] = at
        found += [await members.readership(asked(by), there) for by in (place.ada, eve)]

    yes, no = reading(place.guild), reading()
    assert found == [yes, no, yes, no, yes, yes, no, yes]
    assert len(server.requests_to(LOOK)) == 4


@pytest.mark.promise("strangers-apart")
async def test_nobody_is_taken_for_a_member_while_discord_does_not_say(
    members: DiscordMembers, server: DiscordServer, place: Place
) -> None:
    """They may be one all the same; where nothing at all is let through, the question waits."""
    there = [home(place.guild.id)]
    server.faults.break_(LOOK, Reply(503, {"code": 0}))
    unknown = [await each.readership(asked(place.ada), there) for each in (members, DiscordMembers())]
    server.faults.mend()
    server.faults.add(LOOK, Reply(401, {"code": 0}))
    with pytest.raises(ShutOut):
        await members.readership(asked(place.ada), there)

    assert unknown == [Readership(is_unsure=True)] * 2


@pytest.mark.promise("strangers-apart")
async def test_where_discord_says_when_it_will_tell_the_question_waits_for_that(
    members: DiscordMembers, server: DiscordServer, place: Place
) -> None:
    """It is known how long."""
    said = {"retry_after": 60.0, "global": False, "message": "Too many"}
    server.faults.add(LOOK, Reply(429, said, {"Via": "1.1 google"}))
    with pytest.raises(PeopleUnavailable) as unknown:
        await members.readership(asked(place.ada), [home(place.guild.id)])

    assert unknown.value.wait == pytest.approx(60.0, abs=1.0)
