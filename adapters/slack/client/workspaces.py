"""The workspaces that the bot is in, and the way to each."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from adapters.slack.client.connection import connect
from adapters.slack.client.failures import ask
from core.errors import Rejected

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from slack_sdk.web.async_client import AsyncWebClient


class NotInstalled(Rejected):
    """The bot is not in this workspace, or not any more."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace with a client that speaks for the bot in it."""

    name: str
    team_id: str
    enterprise_id: str
    app_id: str
    bot_id: str
    bot_user_id: str
    client: AsyncWebClient


class Workspaces(Protocol):
    """Finds the way to a workspace."""

    async def find(self, workspace: str) -> Workspace:
        """Return a workspace by its name in a `ThreadRef`. Raises `NotInstalled`, or another `PostingFailed`."""
        ...


def name_of(team_id: str, enterprise_id: str = "", is_enterprise_install: bool = False) -> str:
    """Return the name of a workspace: one that is served by an organization's installation bears that in its name."""
    return f"{enterprise_id}/{team_id}" if enterprise_id and is_enterprise_install else team_id


def parse(name: str) -> tuple[str, str]:
    """Return the ids of the team and of the organization, which is empty where the team has its own installation."""
    enterprise_id, _, team_id = name.rpartition("/")
    return team_id, enterprise_id


class OneWorkspace:
    """The workspace whose token the operator has set; implements `Workspaces`."""

    def __init__(self, session: ClientSession, token: str, api_url: str | None = None) -> None:
        self._client = connect(session, token=token, api_url=api_url)
        self._asking = asyncio.Lock()
        self._workspace: Workspace | None = None

    async def find(self, workspace: str) -> Workspace:
        """Return it, if it is the one that is asked for. Raises `Unreachable` if Slack cannot say whose it is."""
        found = await self.only()
        if workspace != found.name:
            raise NotInstalled("the token is of another workspace")
        return found

    async def only(self) -> Workspace:
        """Return it, whatever its name is; Slack is asked once."""
        async with self._asking:
            if self._workspace is None:
                self._workspace = await self._ask()
            return self._workspace

    async def _ask(self) -> Workspace:
        said = await ask(self._client, "auth.test")
        enterprise = str(said.get("enterprise_id") or "")
        is_org_wide = bool(said.get("is_enterprise_install"))
        team = str(said["team_id"])
        return Workspace(
            name=name_of(team, enterprise, is_org_wide),
            team_id=team,
            enterprise_id=enterprise,
            app_id=str(said.get("app_id") or ""),
            bot_id=str(said.get("bot_id") or ""),
            bot_user_id=str(said["user_id"]),
            client=self._client,
        )
