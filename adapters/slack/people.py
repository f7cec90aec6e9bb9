"""Who somebody is in a workspace, as far as it decides what the bot does for them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from adapters.slack.api import Denied, ask
from adapters.slack.workspaces import Recent, Workspace, Workspaces
from core.errors import PeopleUnavailable, PostingFailed
from core.model import Question

MOST = 10_000  # people
UNKNOWN = frozenset({"user_not_found", "user_not_visible"})


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
        self._profiles = Recent[Profile](MOST, clock)
        self._members = Recent[frozenset[str]](MOST, clock)

    async def profile(self, workspace: str, user_id: str) -> Profile:
        """Return somebody; an account that the workspace does not know is a guest's. Raises `PostingFailed`."""
        key = f"{workspace} {user_id}"
        profile, found = self._profiles.get(key), await self._workspaces.find(workspace)
        if profile is None:
            profile = self._profiles.put(key, await _look_up(found, user_id))
        if self._group and not profile.is_moderator and user_id in await self._moderators(found):
            return replace(profile, is_moderator=True)
        return profile

    async def is_moderator(self, workspace: str, user_id: str) -> bool:
        """Return whether somebody may stop what others asked. Raises `PostingFailed`."""
        return (await self.profile(workspace, user_id)).is_moderator

    async def is_guest(self, question: Question) -> bool:
        """Return whether a guest asks. Raises `PeopleUnavailable` where Slack does not say."""
        try:
            return (await self.profile(question.message.thread.workspace, question.author.id)).is_guest
        except PostingFailed as failure:
            raise PeopleUnavailable("Slack does not say who asks. Please try again in a moment.") from failure

    async def may_read(self, workspace: str, user_id: str) -> bool:
        """Return whether somebody may see what the documents are about: not where Slack does not say who it is."""
        try:
            return self._guests_read or not (await self.profile(workspace, user_id)).is_guest
        except PostingFailed:
            return False

    async def _moderators(self, workspace: Workspace) -> frozenset[str]:
        """Return the members of the group; none if that cannot be known, since nobody is to be taken for one."""
        members = self._members.get(workspace.name)
        if members is None:
            try:
                said = await ask(workspace.client, "usergroups.users.list", usergroup=self._group)
            except PostingFailed:
                return frozenset()
            found = frozenset(str(user) for user in cast("list[object]", said.get("users") or ()))
            members = self._members.put(workspace.name, found)
        return members


async def _look_up(workspace: Workspace, user_id: str) -> Profile:
    try:
        said = await ask(workspace.client, "users.info", user=user_id)
    except Denied as denied:
        if denied.code in UNKNOWN:
            return Profile(user_id, is_guest=True)
        raise
    user = cast("Mapping[str, Any]", said["user"])
    shown = cast("Mapping[str, Any]", user.get("profile") or {})
    is_guest = _is_guest(user, workspace)
    name = shown.get("display_name") or shown.get("real_name") or user.get("real_name") or user.get("name")
    return Profile(
        id=user_id,
        name=str(name or ""),
        is_guest=is_guest,
        is_moderator=not is_guest and any(user.get(flag) for flag in ("is_admin", "is_owner", "is_primary_owner")),
        team_id=str(user.get("team_id") or ""),
    )


def _is_guest(user: Mapping[str, Any], workspace: Workspace) -> bool:
    """Return whether somebody is a guest, or of another company; an organization's workspaces are one company."""
    if any(user.get(flag) for flag in ("is_restricted", "is_ultra_restricted", "is_stranger")):
        return True
    organization = cast("Mapping[str, Any]", user.get("enterprise_user") or {})
    if workspace.enterprise_id and organization.get("enterprise_id") == workspace.enterprise_id:
        return False
    return str(user.get("team_id") or "") != workspace.team_id
