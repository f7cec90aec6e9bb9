"""The workspaces that the bot is in, with the way to each, and who somebody is there."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from adapters.retry import Gate
from adapters.slack.api import Denied, ask, connect
from core.errors import Misconfigured, PeopleUnavailable, PostingFailed, Rejected, ShutOut
from core.messages import UNKNOWN_ASKER
from core.model import Question

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from slack_sdk.web.async_client import AsyncWebClient

ValueT = TypeVar("ValueT")

MOST_PEOPLE = 10_000
ORGANIZATION = (
    "The token in SLACK_BOT_TOKEN is of a whole organization, and Footnote takes one of a single workspace there. "
    "Install the app in one workspace and copy the token from there; or, for all of them, set SLACK_CLIENT_ID, "
    "SLACK_CLIENT_SECRET and SLACK_SIGNING_SECRET instead, and install it for the organization at /slack/install."
)
UNKNOWN = frozenset({"user_not_found", "user_not_visible"})
KEPT = 300.0  # seconds for which what Slack or the store says of a workspace and its people is kept


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


@dataclass(slots=True)
class Recent(Generic[ValueT]):
    """Values that were looked up lately, no more than *most*: of more, those looked up longest ago are dropped."""

    most: int
    clock: Callable[[], float]
    _kept: OrderedDict[str, tuple[float, ValueT]] = field(
        default_factory=OrderedDict[str, tuple[float, ValueT]], init=False
    )

    def get(self, key: str, *, or_older: bool = False) -> ValueT | None:
        """Return a value that is as good as new, *or_older* any that is there; else None."""
        at, value = self._kept.get(key, (float("-inf"), None))
        return value if or_older or self.clock() - at < KEPT else None

    def put(self, key: str, value: ValueT) -> ValueT:
        """Keep a value, and return it."""
        self._kept[key] = self.clock(), value
        self._kept.move_to_end(key)
        if len(self._kept) > self.most:
            self._kept.popitem(last=False)
        return value

    def drop(self, key: str) -> None:
        """Forget a value."""
        self._kept.pop(key, None)


@dataclass(frozen=True, slots=True)
class Profile:
    """A person; `team_id` is the home of the account, which is another workspace's for people of shared channels."""

    id: str
    name: str = ""
    is_guest: bool = False
    is_moderator: bool = False
    team_id: str = ""


class People:
    """Looks people up by REST, and remembers them for some minutes; implements `Membership`.

    Owners and admins of a workspace are moderators, and so are the members of the group of users that *moderators*
    names. What the documents are about is for members, unless *guests_read* as well.
    """

    def __init__(
        self,
        workspaces: Workspaces,
        *,
        moderators: str = "",
        guests_read: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workspaces = workspaces
        self._group = moderators
        self._guests_read = guests_read
        self._profiles = Recent[Profile](MOST_PEOPLE, clock)
        self._members = Recent[frozenset[str]](MOST_PEOPLE, clock)

    async def profile(self, workspace: str, user_id: str) -> Profile:
        """Return somebody; an account that the workspace does not know is a guest's. Raises `PostingFailed`."""
        key = f"{workspace} {user_id}"
        profile = self._profiles.get(key)
        if profile is None:
            profile = self._profiles.put(key, await _look_up(await self._workspaces.find(workspace), user_id))
        return profile

    async def is_moderator(self, workspace: str, user_id: str) -> bool:
        """Return whether somebody may moderate; only who wants to waits for a look at the group.

        Raises `PostingFailed`.
        """
        if (await self.profile(workspace, user_id)).is_moderator:
            return True
        return bool(self._group) and user_id in await self._moderators(workspace)

    async def is_guest(self, question: Question) -> bool:
        """Return whether a guest asks who gets no answer. Raises `PeopleUnavailable` where Slack does not say.

        Raises `ShutOut` as above.
        """
        if self._guests_read:
            return False
        try:
            return (await self.profile(question.message.thread.workspace, question.author.id)).is_guest
        except ShutOut:
            raise  # the question waits
        except PostingFailed as failure:
            raise PeopleUnavailable(UNKNOWN_ASKER) from failure

    async def may_read(self, workspace: str, user_id: str) -> bool:
        """Return whether somebody may see what the documents are about: not where Slack does not say who it is."""
        try:
            return self._guests_read or not (await self.profile(workspace, user_id)).is_guest
        except PostingFailed:
            return False

    async def _moderators(self, workspace: str) -> frozenset[str]:
        """Return the members of the group; none if that cannot be known, since nobody is to be taken for one."""
        members = self._members.get(workspace)
        if members is None:
            try:
                members = await members_of(self._group, (await self._workspaces.find(workspace)).client)
            except PostingFailed:
                members = frozenset[str]()  # for as long, so that Slack is not asked each time
            self._members.put(workspace, members)
        return members


async def members_of(group: str, client: AsyncWebClient) -> frozenset[str]:
    """Return who is in a group of users. Raises `PostingFailed`."""
    said = await ask(client, "usergroups.users.list", usergroup=group)
    return frozenset(str(user) for user in cast("list[object]", said.get("users") or ()))


async def _look_up(workspace: Workspace, user_id: str) -> Profile:
    try:
        said = await ask(workspace.client, "users.info", user=user_id)
    except Denied as denied:
        if denied.code in UNKNOWN:
            return Profile(user_id, is_guest=True)
        raise
    user = cast("Mapping[str, Any]", said["user"])
    shown = cast("Mapping[str, Any]", user.get("profile") or {})
    organization, team = cast("Mapping[str, Any]", user.get("enterprise_user") or {}), str(user.get("team_id") or "")
    is_colleague = team == workspace.team_id or (  # an organization's workspaces are one company
        workspace.enterprise_id != "" and organization.get("enterprise_id") == workspace.enterprise_id
    )
    is_limited = any(user.get(flag) for flag in ("is_restricted", "is_ultra_restricted", "is_stranger"))
    is_guest = is_limited or not is_colleague
    name = shown.get("display_name") or shown.get("real_name") or user.get("real_name") or user.get("name")
    return Profile(
        id=user_id,
        name=str(name or ""),
        is_guest=is_guest,
        is_moderator=not is_guest and any(user.get(flag) for flag in ("is_admin", "is_owner", "is_primary_owner")),
        team_id=team,
    )
