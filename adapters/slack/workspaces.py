"""The workspaces that the bot is in, with the way to each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

from adapters.retry import Gate
from adapters.slack.api import ask, connect
from core.errors import Misconfigured, Rejected

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from slack_sdk.web.async_client import AsyncWebClient

ORGANIZATION = (
    "The token in SLACK_BOT_TOKEN belongs to a whole organization, but Footnote needs one of a single workspace. "
    "Install the app in one workspace and copy the token from there; or, for all of them, set SLACK_CLIENT_ID, "
    "SLACK_CLIENT_SECRET and SLACK_SIGNING_SECRET instead, and install it for the organization at /slack/install."
)


class NotInstalled(Rejected):
    """The bot is not in this workspace, or not any more."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace with a client that speaks for the bot in it, and one for calls that must not be made twice unseen.

    `title` is who the bot is there, as people call it, where that is known.
    """

    name: str
    team_id: str
    enterprise_id: str
    app_id: str
    bot_id: str
    bot_user_id: str
    client: AsyncWebClient
    once: AsyncWebClient
    gate: Gate = field(default_factory=Gate, compare=False)
    title: str = ""


class Workspaces(Protocol):
    """Knows the workspaces that the bot is in."""

    async def find(self, workspace: str) -> Workspace:
        """Return a workspace by its name in a `ThreadRef`. Raises `NotInstalled`, or another `PostingFailed`."""
        ...


def require_one_workspace(said: Mapping[str, Any]) -> None:
    """Raise `Misconfigured` for a token that speaks for a whole organization, as `auth.test` has said."""
    if said.get("is_enterprise_install"):
        raise Misconfigured(ORGANIZATION)


def workspace_of(body: Mapping[str, Any]) -> str:
    """Return the name of the workspace for whose installation a body came; in shared channels, others have their own.

    One that is served by an organization's installation bears that in its name.
    """
    given = cast("list[Mapping[str, Any]]", body.get("authorizations") or [])
    authorization = given[0] if given else body
    team = str(authorization.get("team_id") or body.get("context_team_id") or body.get("team_id") or "")
    enterprise = str(authorization.get("enterprise_id") or body.get("enterprise_id") or "")
    return f"{enterprise}/{team}" if enterprise and authorization.get("is_enterprise_install") else team


def parse(name: str) -> tuple[str, str]:
    """Return the ids of the team and of the organization, which is empty where the team has its own installation."""
    enterprise_id, _, team_id = name.rpartition("/")
    return team_id, enterprise_id


@dataclass(slots=True)
class OneWorkspace:
    """The workspace whose token the operator has set; implements `Workspaces`."""

    session: ClientSession
    token: str
    api_url: str | None = None
    gate: Gate = field(default_factory=Gate)
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _workspace: Workspace | None = field(default=None, init=False)

    async def find(self, workspace: str) -> Workspace:
        """Return the workspace of the token. Raises `NotInstalled` if it is another one, or `Unreachable`."""
        found = self._workspace or await self.only()
        if workspace != found.name:
            raise NotInstalled("the token is of another workspace")
        return found

    async def only(self) -> Workspace:
        """Return the workspace of the token, whatever its name is; Slack is asked once. Raises `PostingFailed`."""
        async with self._asking:
            if self._workspace is None:
                given: dict[str, Any] = {"token": self.token, "api_url": self.api_url, "gate": self.gate}
                client = connect(self.session, **given)
                said = await ask(client, "auth.test")
                require_one_workspace(said)
                self._workspace = Workspace(
                    name=workspace_of(said),
                    team_id=str(said["team_id"]),
                    enterprise_id=str(said.get("enterprise_id") or ""),
                    app_id=str(said.get("app_id") or ""),
                    bot_id=str(said.get("bot_id") or ""),
                    bot_user_id=str(said["user_id"]),
                    client=client,
                    once=connect(self.session, **given, repeats=False),
                    gate=self.gate,
                    title=f"{said.get('user')} in {said.get('team')}",
                )
            return self._workspace
