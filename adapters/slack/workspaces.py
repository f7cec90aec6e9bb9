"""The workspaces that the bot is in, and the way to each."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from adapters.slack.api import ask, connect
from core.errors import Rejected

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from slack_sdk.web.async_client import AsyncWebClient

ValueT = TypeVar("ValueT")

KEPT = 300.0  # seconds for which what Slack or the store says of a workspace and its people is kept


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
        found = self._workspace or await self.only()
        if workspace != found.name:
            raise NotInstalled("the token is of another workspace")
        return found

    async def only(self) -> Workspace:
        """Return it, whatever its name is; Slack is asked once. Raises `PostingFailed`."""
        async with self._asking:
            if self._workspace is None:
                said = await ask(self._client, "auth.test")
                team, enterprise = str(said["team_id"]), str(said.get("enterprise_id") or "")
                self._workspace = Workspace(
                    name=name_of(team, enterprise, bool(said.get("is_enterprise_install"))),
                    team_id=team,
                    enterprise_id=enterprise,
                    app_id=str(said.get("app_id") or ""),
                    bot_id=str(said.get("bot_id") or ""),
                    bot_user_id=str(said["user_id"]),
                    client=self._client,
                )
            return self._workspace


class Recent(Generic[ValueT]):
    """Values that were looked up lately, no more than *most*: of more, those looked up longest ago are dropped."""

    def __init__(self, most: int, clock: Callable[[], float]) -> None:
        self._most = most
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, ValueT]] = OrderedDict()

    def get(self, key: str, *, or_older: bool = False) -> ValueT | None:
        """Return a value that is as good as new, *or_older* any that is there; else None."""
        at, value = self._kept.get(key, (float("-inf"), None))
        return value if or_older or self._clock() - at < KEPT else None

    def put(self, key: str, value: ValueT) -> ValueT:
        """Keep a value, and return it."""
        self._kept[key] = self._clock(), value
        self._kept.move_to_end(key)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return value

    def drop(self, key: str) -> None:
        """Forget a value."""
        self._kept.pop(key, None)
