"""The command by which people see what is kept of them, on both platforms."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest

from core.messages import COUNTED_JUST_NOW, person_kept
from core.model import MessageRef, ThreadRef, Turn, Vote, WorkspaceRef
from tests.adapters.discord.office import Office as DiscordOffice
from tests.adapters.slack.office import Office as SlackOffice
from tests.builders import NOON
from tests.fakes.services import MemoryServices
from tests.servers.discord import DiscordServer

Me = tuple[MemoryServices, WorkspaceRef, str, Callable[[], Awaitable[str]]]


@contextlib.asynccontextmanager
async def on_discord() -> AsyncGenerator[Me]:
    """Open Discord, with somebody in a channel."""
    async with DiscordServer() as server:
        guild = server.add_guild()
        channel, ada, office = server.add_channel(guild), server.add_member(guild), DiscordOffice(server)
        home = WorkspaceRef(platform="discord", workspace=str(guild.id))

        async def use() -> str:
            return (await office.told(server.slash(ada, channel, "me"))).content

        async with office.open():
            yield office, home, str(ada.id), use


@contextlib.asynccontextmanager
async def on_slack() -> AsyncGenerator[Me]:
    """Open Slack, with somebody in a channel."""
    async with SlackOffice.at_work() as office, office.open():
        yield office, office.home(), office.ada.id, lambda: office.use(office.ada, "me")


@pytest.mark.promise("own-data-is-shown")
@pytest.mark.parametrize("platform", [on_discord, on_slack])
async def test_what_is_kept_of_somebody_is_counted_once_in_a_minute(
    platform: Callable[[], contextlib.AbstractAsyncContextManager[Me]],
) -> None:
    """Since all that is stored has to be looked through; what is left of budgets is said each time."""
    async with platform() as (services, home, ada, use):
        for number, who in enumerate((ada, ada, "somebody")):
            place = ThreadRef(platform=home.platform, workspace=home.workspace, channel="c", thread=str(number))
            message = MessageRef(thread=place, id=str(number))
            turn = Turn(question_ref=message, question="Why?", answer="So.", at=NOON, author_id=who)
            await services.conversations.append(place, turn)
            await services.votes.cast(home, Vote(answer_id="a", person_id=who, is_helpful=True, at=NOON))
        told = [(await use()).split("\n") for _ in range(2)]

    assert [lines[1] for lines in told] == [person_kept(2, 0, 1), COUNTED_JUST_NOW]
    assert [lines[0] for lines in told] == ["You have no limit of your own for a day or a month."] * 2
