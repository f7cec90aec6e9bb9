"""People who use commands on a platform, a moderator among them, and what stands behind the commands."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Protocol

import pytest

from adapters.chat.commands import command_named
from adapters.chat.registry import Kind, Option
from adapters.discord.registering import ADMIN
from adapters.slack.interactions import since
from core import messages
from core.model import ThreadRef, WorkspaceRef
from tests.adapters.discord.office import Office as DiscordOffice
from tests.adapters.discord.office import home
from tests.adapters.slack.office import Office as SlackOffice
from tests.builders import NOON
from tests.fakes.communities import MemoryCommunities
from tests.fakes.services import MemoryServices
from tests.servers.discord import DiscordServer, Permission
from tests.servers.discord.acting import Option as Chosen


class Use(Protocol):
    """Uses a command in the channel, and gives what is said to that person alone.

    What is chosen goes by the names of the options; the channel is "here", and a person "ada".
    """

    async def __call__(self, command: str, by: str = "ada", *, moderates: bool = False, **chosen: str | int) -> str:
        """Wait for the reply."""
        ...


@dataclass(frozen=True)
class Desk:
    """A channel of a community with Ada and a moderator, by their ids, and how the platform writes things."""

    office: MemoryServices
    home: WorkspaceRef
    channel: str
    ada: str
    boss: str
    use: Use
    seen_by_others: Callable[[], int]
    forms: messages.Forms
    moment: str  # noon
    bullet: str
    page: str  # how to see a page of the documents
    admin: str  # what stands before the name of an order
    older: str  # how to see the second page of the log

    async def order(self, name: str, by: str = "boss", **chosen: str | int) -> str:
        """Give an order, and return the reply."""
        return await self.use(name, by, moderates=True, **chosen)

    def thread(self, name: str) -> ThreadRef:
        """Name a thread of the channel."""
        place = {"platform": self.home.platform, "workspace": self.home.workspace}
        return ThreadRef(**place, channel=self.channel, thread=name)


@contextlib.asynccontextmanager
async def on_discord() -> AsyncGenerator[Desk]:
    """Open Discord."""
    async with DiscordServer() as server:
        guild = server.add_guild()
        channel, ada = server.add_channel(guild), server.add_member(guild)
        boss = server.add_member(guild, "Bo*ss*", permissions=Permission.MANAGE_GUILD)
        office = DiscordOffice(server, communities=MemoryCommunities(home(guild.id)))
        people = {"ada": ada, "boss": boss}

        async def use(command: str, by: str = "ada", *, moderates: bool = False, **chosen: str | int) -> str:
            options = _options(command, moderates=moderates)
            words = {name: options[name].choices.get(str(value), value) for name, value in chosen.items()}
            given: dict[str, Chosen] = {
                name: {"here": channel, **people}.get(str(value), value) for name, value in words.items()
            }
            name = f"{ADMIN} {command}" if moderates else command
            said = await office.told(server.slash(people[by], channel, name, **given))
            assert said.seen_by == people[by].id
            return said.content

        async with office.open():
            yield Desk(
                office,
                home(guild.id),
                str(channel.id),
                str(ada.id),
                str(boss.id),
                use,
                lambda: sum(1 for one in server.platform.messages.values() if one.content and one.seen_by != ada.id),
                messages.Forms(),
                moment=f"<t:{int(NOON.timestamp())}:R>",
                bullet="-",
                page="`/documents page:{}`",
                admin=f"/{ADMIN}",
                older=f"`/{ADMIN} status page:2`",
            )


@contextlib.asynccontextmanager
async def on_slack() -> AsyncGenerator[Desk]:
    """Open Slack."""
    async with SlackOffice.at_work() as office, office.open():

        async def use(command: str, by: str = "ada", *, moderates: bool = False, **chosen: str | int) -> str:
            options = _options(command, moderates=moderates).values()
            words = [_word(option, chosen[option.name], office) for option in options if option.name in chosen]
            text = " ".join([*(["admin"] if moderates else []), command, *words])
            return await office.use(getattr(office, by), text)

        yield Desk(
            office,
            office.home(),
            office.channel.id,
            office.ada.id,
            office.boss.id,
            use,
            lambda: sum(1 for one in office.server.messages(office.channel) if one.seen_by != office.ada.id),
            messages.SLACK_FORMS,
            moment=since(NOON),
            bullet="•",
            page="`/footnote documents {}`",
            admin="/footnote admin",
            older="`/footnote admin status 2`",
        )


def _options(command: str, *, moderates: bool) -> dict[str, Option]:
    known = command_named(command, for_moderators=moderates)
    assert known is not None
    return {option.name: option for option in known.options}


def _word(option: Option, value: object, office: SlackOffice) -> str:
    """Give what is typed for an option."""
    match option.kind:
        case Kind.FLAG:
            return ("on" if value else "off") if option.is_required else option.name
        case Kind.PERSON:
            return f"<@{office.ada.id}|ada>"
        case _:
            return str(value)


PLATFORMS = {"discord": on_discord, "slack": on_slack}


@pytest.fixture(name="desk", params=PLATFORMS)
async def desk_fixture(request: pytest.FixtureRequest) -> AsyncGenerator[Desk]:
    """Open one platform after the other."""
    async with PLATFORMS[request.param]() as desk:
        yield desk
