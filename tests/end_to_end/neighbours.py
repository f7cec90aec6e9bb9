"""Platforms with several communities of the bot's: one that has it from the beginning, and one that joins later."""

from __future__ import annotations

from dataclasses import dataclass
from html import unescape
from typing import Protocol
from urllib.parse import parse_qs, urlencode, urlsplit

from aiohttp import ClientSession, DummyCookieJar

from adapters.slack.oauth import BEGIN, END
from core.model import WorkspaceRef
from tests.end_to_end.community import Community, Room
from tests.end_to_end.on_discord import DiscordCommunity
from tests.end_to_end.on_slack import SlackOverHttp
from tests.servers.slack import User, Workspace


class Neighbours(Community, Protocol):
    """A community that has the bot, and another one, in which Eve asks in `Room.ABROAD`."""

    @property
    def home(self) -> WorkspaceRef:
        """Which one has it."""
        ...

    @property
    def abroad(self) -> WorkspaceRef:
        """Which one joins."""
        ...

    async def join(self) -> None:
        """Invite the bot to the other one."""
        ...

    async def leave(self) -> None:
        """Throw the bot out of the first one."""
        ...


class DiscordNeighbours(DiscordCommunity):
    """Two guilds."""

    def __post_init__(self) -> None:
        """Let people into both, and the bot into one."""
        super().__post_init__()
        self.other = self.server.add_guild("Strangers")
        self.people["Eve"] = self.server.add_member(self.other, "Eve")
        self.rooms[Room.ABROAD] = self.server.add_channel(self.other)
        self.server.kick_bot(self.other)
        self.home, self.abroad = (
            WorkspaceRef(platform="discord", workspace=str(guild.id)) for guild in (self.guild, self.other)
        )

    async def join(self) -> None:
        """Invite it."""
        self.server.invite_bot(self.other)

    async def leave(self) -> None:
        """Kick it."""
        self.server.kick_bot(self.guild)


@dataclass
class SlackNeighbours(SlackOverHttp):
    """Two workspaces in which the app can be installed."""

    def __post_init__(self) -> None:
        """Let people into both."""
        super().__post_init__()
        self.other = self.server.add_workspace("Strangers")
        self.people["Eve"] = self.server.add_member(self.other, "Eve")
        self.rooms[Room.ABROAD] = self.server.add_channel(self.other)
        self._installed = set[str]()
        self.home, self.abroad = (
            WorkspaceRef(platform="slack", workspace=each.team_id) for each in (self.workspace, self.other)
        )

    def settings(self) -> dict[str, str]:
        """Give the app's secrets instead of the token of a workspace."""
        app = {"SLACK_CLIENT_ID": self.server.client_id, "SLACK_CLIENT_SECRET": self.server.client_secret}
        return {**{name: value for name, value in super().settings().items() if name != "SLACK_BOT_TOKEN"}, **app}

    async def ready(self) -> None:
        """Have it in the first workspace, besides."""
        await super().ready()
        await self._install(self.workspace, self.ada)

    async def join(self) -> None:
        """Install it."""
        await self._install(self.other, self.people["Eve"])

    async def leave(self) -> None:
        """Uninstall it."""
        self.server.uninstall(self.workspace)
        await self.server.settled()

    async def _install(self, workspace: Workspace, by: User) -> None:
        """Go through the pages as somebody with a browser does, once."""
        if workspace.team_id in self._installed:
            return
        self._installed.add(workspace.team_id)
        async with ClientSession(cookie_jar=DummyCookieJar()) as session:
            async with session.get(f"{self.url}{BEGIN}") as response:
                link = unescape((await response.text()).partition('<a href="')[2].partition('"')[0])
                cookie = response.headers["Set-Cookie"].partition(";")[0]
            state = parse_qs(urlsplit(link).query)["state"][0]
            back = urlencode({"state": state, "code": self.server.authorize(workspace, by)})
            async with session.get(f"{self.url}{END}?{back}", headers={"Cookie": cookie}) as response:
                assert response.ok
