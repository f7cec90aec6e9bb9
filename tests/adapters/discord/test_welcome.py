"""What is said when the bot joins a guild."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.messages import WELCOME
from core.model import WorkspaceRef
from tests.adapters.discord.ears import answers, listening
from tests.fakes.box import Box
from tests.fakes.communities import MemoryCommunities
from tests.fakes.dedup import MemoryDedup
from tests.servers.discord import DiscordServer
from tests.waiting import wait_until


@pytest.mark.promise("greets-once")
async def test_moderators_are_told_once_what_the_bot_does_where_it_may_be_used(server: DiscordServer) -> None:
    """Not in a channel of everybody's, and not where the operator has not allowed it."""
    dedup, ours = MemoryDedup(), server.platform.new_id()
    communities = MemoryCommunities(WorkspaceRef(platform="discord", workspace=str(ours)))
    async with listening(server, Box(), dedup=dedup, communities=communities) as client:
        server.add_guild("Strangers")
        guild = server.add_guild("Ours", id=ours)
        await server.until(lambda: answers(server), what="a welcome")
        server.kick_bot(guild)
        server.invite_bot(guild)
        again = server.add_channel(guild, "robots")
        await wait_until(lambda: client.get_channel(again.id) is not None, what="the guild once more")
        await client.background.finish(1.0)

    (said,) = answers(server)
    owner = server.platform.dm_of(server.platform.owner)
    assert (said.content, said.channel_id) == (WELCOME, owner.id)


@pytest.mark.promise("greets-once")
async def test_who_invited_the_bot_before_it_was_started_is_welcomed_too(server: DiscordServer) -> None:
    """Within a day, and once however often it starts; those who have had it for long are not."""
    dedup = MemoryDedup()
    guild, now = server.add_guild("Ours"), datetime.now(UTC)
    communities = MemoryCommunities(WorkspaceRef(platform="discord", workspace=str(guild.id)))
    said = list[int]()
    for age in (timedelta(days=2), timedelta(hours=20), timedelta(hours=21)):
        guild.members[server.bot.id].joined_at = (now - age).isoformat()
        dedup.notes.pop("discord:bot", None)
        async with listening(server, Box(), dedup=dedup, communities=communities) as client:
            await wait_until(lambda: "discord:bot" in dedup.notes, what="the bot to be ready")
            await client.background.finish(1.0)
        said.append(len(answers(server)))

    assert said == [0, 1, 1]
    assert answers(server)[0].content == WELCOME
