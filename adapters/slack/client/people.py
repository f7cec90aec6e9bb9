"""Who somebody is in a workspace, as far as it decides what the bot does for them."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from adapters.slack.client.failures import Denied, ask
from adapters.slack.client.workspaces import Workspace, Workspaces
from core.errors import PeopleUnavailable, PostingFailed
from core.model import Question

ValueT = TypeVar("ValueT")

KEPT = 300.0  # seconds; a moderator who is made one is one after as many
MOST = 10_000  # people; of more, those are asked for again who were asked for longest ago
UNKNOWN = frozenset({"user_not_found", "user_not_visible"})


@dataclass(frozen=True, slots=True)
class Profile:
    """A person; `team_id` is the home of the account, which is another workspace's for people of shared channels."""

    id: str
    name: str = ""
    is_guest: bool = False
    is_moderator: bool = False
    team_id: str = ""
    locale: str = ""


class People:
    """Looks people up by REST, and remembers them for some minutes. Raises `PostingFailed`.

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
        self._profiles = _Recent[Profile](clock)
        self._members = _Recent[frozenset[str]](clock)

    async def profile(self, workspace: str, user_id: str) -> Profile:
        """Return somebody; an account that the workspace does not know is a guest's."""
        found = await self._workspaces.find(workspace)
        profile = await self._profiles.get(f"{workspace} {user_id}", lambda: _looked_up(found, user_id))
        if profile.is_moderator or user_id not in await self._moderators(found):
            return profile
        return Profile(profile.id, profile.name, profile.is_guest, True, profile.team_id, profile.locale)

    async def may_read(self, workspace: str, user_id: str) -> bool:
        """Return whether somebody may see what the documents are about: not where Slack does not say who it is."""
        if self._guests_read:
            return True
        try:
            return not (await self.profile(workspace, user_id)).is_guest
        except PostingFailed:
            return False

    async def _moderators(self, workspace: Workspace) -> frozenset[str]:
        """Return the members of the group; none if that cannot be known, since nobody is to be taken for one."""
        if not self._group:
            return frozenset()
        try:
            return await self._members.get(workspace.name, lambda: _members(workspace, self._group))
        except PostingFailed:
            return frozenset()


class _Recent(Generic[ValueT]):
    """Keeps what was looked up for some minutes, and not too much of it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, ValueT]] = OrderedDict()

    async def get(self, key: str, look_up: Callable[[], Awaitable[ValueT]]) -> ValueT:
        at, value = self._kept.get(key, (float("-inf"), None))
        if value is not None and self._clock() - at < KEPT:
            return value
        found = await look_up()
        self._kept[key] = (self._clock(), found)
        self._kept.move_to_end(key)
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        return found


async def _looked_up(workspace: Workspace, user_id: str) -> Profile:
    try:
        said = await ask(workspace.client, "users.info", user=user_id, include_locale="true")
    except Denied as denied:
        if denied.code in UNKNOWN:
            return Profile(user_id, is_guest=True)
        raise
    user = cast("Mapping[str, Any]", said["user"])
    shown = cast("Mapping[str, Any]", user.get("profile") or {})
    is_guest = _is_guest(user, workspace)
    return Profile(
        id=user_id,
        name=str(
            shown.get("display_name") or shown.get("real_name") or user.get("real_name") or user.get("name") or ""
        ),
        is_guest=is_guest,
        is_moderator=not is_guest and any(user.get(flag) for flag in ("is_admin", "is_owner", "is_primary_owner")),
        team_id=str(user.get("team_id") or ""),
        locale=str(user.get("locale") or ""),
    )


def _is_guest(user: Mapping[str, Any], workspace: Workspace) -> bool:
    """Return whether somebody is a guest, or of another company; an organization's workspaces are one company."""
    if any(user.get(flag) for flag in ("is_restricted", "is_ultra_restricted", "is_stranger")):
        return True
    organization = cast("Mapping[str, Any]", user.get("enterprise_user") or {})
    if workspace.enterprise_id and organization.get("enterprise_id") == workspace.enterprise_id:
        return False
    return str(user.get("team_id") or "") != workspace.team_id


async def _members(workspace: Workspace, group: str) -> frozenset[str]:
    said = await ask(workspace.client, "usergroups.users.list", usergroup=group)
    return frozenset(str(user) for user in cast("list[object]", said.get("users") or ()))


class Guests:
    """Knows by Slack's own accounts who belongs to a workspace; implements `Membership`."""

    def __init__(self, people: People) -> None:
        self._people = people

    async def is_guest(self, question: Question) -> bool:
        """Look up whoever asks. Raises `PeopleUnavailable` where Slack does not say."""
        try:
            profile = await self._people.profile(question.thread.workspace, question.author.id)
        except PostingFailed as failure:
            raise PeopleUnavailable("Slack does not say who asks. Please try again in a moment.") from failure
        return profile.is_guest
