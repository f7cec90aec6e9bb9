"""Platforms where Eve asks, who is no member of the community: from another one, or from another company."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from core import messages
from core.model import WorkspaceRef
from tests.end_to_end.community import Abroad, Community
from tests.end_to_end.on_discord import DiscordCommunity
from tests.end_to_end.on_slack import SlackCommunity, SlackOverHttp
from tests.servers.discord import Permission

COMPANY = "T9"


class Strangers(Community, Protocol):
    """A community of which Eve is no member. In direct messages she *hears* why, where nothing is open to all."""

    hears: str

    def allowed(self, *, everywhere: bool = True) -> str:
        """Name the communities that may use the bot: that one, and *everywhere* else where the bot is."""
        ...


@dataclass
class DiscordStrangers(DiscordCommunity):
    """Two guilds with the bot; Eve is in the other one."""

    hears: str = messages.NO_MEMBER

    def __post_init__(self) -> None:
        """Let Eve into the other one."""
        super().__post_init__()
        self.other = self.server.add_guild("Cooks")
        self.people["Eve"] = eve = self.server.add_member(self.other, "Eve")
        kitchen = self.server.add_channel(self.other, "kitchen")
        self.server.deny(kitchen, Permission.CREATE_PUBLIC_THREADS)
        self.rooms |= {Abroad.CHANNEL: kitchen, Abroad.DIRECT: self.server.dm(eve)}

    def allowed(self, *, everywhere: bool = True) -> str:
        """Name one guild, or both."""
        guilds = (self.guild, self.other) if everywhere else (self.guild,)
        return ",".join(str(WorkspaceRef(platform="discord", workspace=str(each.id))) for each in guilds)


@dataclass
class SlackStrangers(SlackCommunity):
    """A workspace with a channel that another company shares, where Eve is."""

    hears: str = messages.STRANGERS_READ

    def __post_init__(self) -> None:
        """Let Eve in, into that one alone."""
        super().__post_init__()
        self.people["Eve"] = eve = self.server.add_member(self.workspace, "Eve", team_id=COMPANY, is_stranger=True)
        for channel in self.server.platform.channels.values():
            channel.members.discard(eve.id)
            channel.shared_with.discard(COMPANY)
        shared = self.server.add_channel(self.workspace, "with-cooks", shared_with=[COMPANY])
        self.rooms |= {Abroad.CHANNEL: shared, Abroad.DIRECT: self.server.direct(self.workspace, eve)}

    def allowed(self, *, everywhere: bool = True) -> str:
        """Name the workspace."""
        return str(WorkspaceRef(platform="slack", workspace=self.workspace.team_id))


@dataclass
class SlackStrangersOverHttp(SlackOverHttp, SlackStrangers):
    """The same, where Slack sends signed requests."""
