"""Who somebody is on Slack: a member of the workspace, a guest or a stranger, and whether they moderate."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from adapters.chat.background import BackgroundTasks, KeyedLocks
from adapters.chat.services import Recent
from adapters.retry import QUICK, Gate, Retrying
from adapters.slack.api import Denied, ask, pages
from adapters.slack.events import PLATFORM
from adapters.slack.slash import DIRECT_MESSAGE
from adapters.slack.workspaces import Workspace, Workspaces
from core.errors import PeopleUnavailable, PostingFailed, RateLimited, Rejected, ShutOut
from core.messages import UNKNOWN_PEOPLE
from core.model import Asker, Readership, WorkspaceRef

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

    from core.ports import PolicyStore

MOST_PEOPLE = MOST_CHANNELS = 10_000
MOST_WORKSPACES = 100  # whose people are known
REACH_KEPT = 60.0  # seconds: whoever shares a channel expects it to hold soon
LISTED, MOST_PAGES = 500, 20  # people on a page, and pages of a list: no more than Slack gives in a minute
MOST_LOOKED_UP = 50  # of a channel, one by one, where Slack does not list them
LONGEST_LOOK, FIRST_LOOK = 3.0, 6.0  # seconds for which a question waits to hear of guests, and where nothing is known
OTHERS = ""  # than those who are listed
UNKNOWN = frozenset({"user_not_found", "user_not_visible"})


@dataclass(frozen=True, slots=True)
class Profile:
    """A person; `team_id` is the home of the account, which is another workspace's for people of shared channels.

    `teams` are the workspaces that the person is in, as far as Slack says so.
    """

    id: str
    name: str = ""
    is_guest: bool = False
    is_admin: bool = False
    team_id: str = ""
    teams: frozenset[str] = frozenset()


class Reach(StrEnum):
    """Who can read a channel: people of one workspace, of an organization, or others too, or nobody knows whether."""

    WORKSPACE = "workspace"
    ORGANIZATION = "organization"
    OUTSIDE = "outside"
    UNKNOWN = "unknown"


class People:
    """Looks people up by REST, and remembers them for some minutes; implements `Membership`.

    Guests are looked for in the `background`, which has to be closed, as that takes long where there are many people.
    Owners and admins of a workspace are moderators, and so are the members of the groups of users that they name, which
    the *policies* have, and of the one that *moderators* names. What the documents are about is for members, unless
    *guests_read* as well.
    """

    def __init__(
        self,
        workspaces: Workspaces,
        *,
        moderators: str = "",
        policies: PolicyStore | None = None,
        guests_read: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workspaces = workspaces
        self._group = moderators
        self._policies = policies
        self._guests_read = guests_read
        self._profiles = Recent[Profile](MOST_PEOPLE, clock)
        self._members = Recent[frozenset[str]](MOST_PEOPLE, clock)
        self._reaches = Recent[Reach](MOST_CHANNELS, clock, REACH_KEPT)
        self._listed = Recent[Mapping[str, bool]](MOST_WORKSPACES, clock)  # by id, whether they are guests
        self._guests = Recent[bool](MOST_CHANNELS, clock)  # whether there are any
        self._looks = dict[str, tuple[asyncio.Event, float]]()  # that are under way, and since when
        self._pauses = defaultdict[str, Gate](partial(Gate, clock=clock))  # that Slack has asked for, by workspace
        self._listing = KeyedLocks()
        self.background = BackgroundTasks()

    async def profile(self, workspace: str, user_id: str) -> Profile:
        """Return somebody; an account that the workspace does not know is a guest's. Raises `PostingFailed`."""
        key = f"{workspace} {user_id}"
        profile = self._profiles.get(key)
        if profile is None:
            profile = self._profiles.put(key, await _look_up(await self._workspaces.find(workspace), user_id))
        return profile

    async def is_moderator(self, workspace: str, user_id: str) -> bool:
        """Return whether somebody may moderate; only who wants to waits for a look at the groups.

        Raises `PostingFailed` or `StoreUnavailable`.
        """
        profile = await self.profile(workspace, user_id)
        if profile.is_admin or profile.is_guest:
            return profile.is_admin
        for group in await self._groups(workspace):
            if user_id in await self._members_of(workspace, group):
                return True
        return False

    async def moderators(self, workspace: str, *, most: int) -> Sequence[str]:
        """Return at most so many who moderate: members of the groups that are named or, where none is, admins.

        Raises `PostingFailed`, or `StoreUnavailable`.
        """
        ids = [one for each in await self._groups(workspace) for one in sorted(await self._members_of(workspace, each))]
        return list(dict.fromkeys(ids or await _admins(await self._workspaces.find(workspace), most)))[:most]

    async def _groups(self, workspace: str) -> Sequence[str]:
        """Return the groups whose members moderate. Raises `StoreUnavailable`."""
        groups = {self._group} if self._group else set[str]()
        if self._policies is not None:
            policy = await self._policies.load(WorkspaceRef(platform=PLATFORM, workspace=workspace))
            groups |= policy.moderators if policy.fault is None else set()
        return sorted(groups)

    async def readership(self, asker: Asker, among: Collection[WorkspaceRef]) -> Readership:
        """Return the workspace and its organization, as far as whoever asks, and whoever reads along, is in them.

        In direct messages, which the asker alone reads, it is also those *among* the given workspaces of the same
        organization that the asker is in. Strangers are guests, and people of other companies, where they ask or read
        along or Slack does not show the bot the channel; whether guests do may be unsure. Raises `PeopleUnavailable`
        where Slack does not say, or `ShutOut`.
        """
        is_direct = asker.channel.startswith(DIRECT_MESSAGE)
        is_alone = asker.is_alone or is_direct
        try:
            workspace = await self._workspaces.find(asker.home.workspace)
            organization = {workspace.enterprise_id} - {""}
            everybody = _readers({workspace.team_id} | organization)
            if self._guests_read and not is_direct:
                return everybody
            strangers = everybody.model_copy(update={"has_strangers": not self._guests_read})
            profile = await self.profile(asker.home.workspace, asker.person_id)
            if profile.is_guest:
                return strangers
            reach = Reach.WORKSPACE if is_alone else await self._reach(workspace, asker.channel)
            elsewhere = await self._elsewhere(workspace, profile, among) if is_direct else set[str]()
        except ShutOut:
            raise  # the question waits
        except PostingFailed as failure:
            wait = (failure.wait or None) if isinstance(failure, RateLimited) else None
            raise PeopleUnavailable(UNKNOWN_PEOPLE, wait=wait) from failure
        if reach in (Reach.OUTSIDE, Reach.UNKNOWN):
            is_unsure = reach is Reach.UNKNOWN
            wait = self._wait(workspace, asker.channel) if is_unsure else None
            return strangers.model_copy(update={"is_unsure": is_unsure, "wait": wait})
        is_in = reach is Reach.WORKSPACE and (self._guests_read or workspace.team_id in profile.teams)
        teams = {workspace.team_id} if is_in else set[str]()
        return _readers(organization | teams | elsewhere)

    async def _elsewhere(self, workspace: Workspace, profile: Profile, among: Collection[WorkspaceRef]) -> set[str]:
        """Return other workspaces *among* those given that somebody is a member of, where one id stands for a person.

        That is so within an organization. Whether somebody is a guest in a workspace is seen by the bot there alone.
        """
        found, prefix = set[str](), workspace.name.removesuffix(workspace.team_id)
        for team in (each.workspace for each in among if each.platform == PLATFORM):
            if team in profile.teams - {workspace.team_id}:
                with suppress(PostingFailed):
                    there = await self.profile(f"{prefix}{team}", profile.id)
                    found |= {team} if team in there.teams and not there.is_guest else set()
        return found

    async def stop_looking(self) -> None:
        """End what is looked for in the background; whoever asks after that begins anew."""
        before, self.background = self.background, BackgroundTasks()
        await before.close()

    def note_sharing(self, workspace: str, channel: str, *, is_external: bool) -> None:
        """Take note of what an event says of a channel, which is newer than what was looked up."""
        key = f"{workspace} {channel}"
        if is_external:
            self._reaches.put(key, Reach.OUTSIDE)
        elif self._reaches.get(key) is Reach.OUTSIDE:
            self._reaches.drop(key)

    def note_joining(self, workspace: str, channel: str, user_id: str) -> None:
        """Take note of an event that says that somebody has come into a channel, unless it is known to be a member."""
        key, is_guest = f"{workspace} {channel}", (self._listed.get(workspace, or_older=True) or {}).get(user_id)
        if is_guest:
            self._guests.put(key, True)
        elif is_guest is None:  # whoever is new to the workspace is not listed yet
            self._listed.age(workspace)
            self._guests.age(key)

    async def _reach(self, workspace: Workspace, channel: str) -> Reach:
        """Return who can read a channel; one that Slack does not show to the bot counts as read by anybody.

        So does one with guests, which are people from outside as well; where nobody has come to know yet, that is said.
        """
        key = f"{workspace.name} {channel}"
        reach = self._reaches.get(key)
        if reach is None:
            said = None
            with suppress(Rejected):
                said = (await ask(workspace.client, "conversations.info", channel=channel)).get("channel")
            reach = self._reaches.put(key, _reach_of(said))
        has_guests = reach is not Reach.OUTSIDE and self._guests.get(key)
        if has_guests is None:
            has_guests = await self._has_guests(workspace, channel, key)
        return Reach.UNKNOWN if has_guests is None else Reach.OUTSIDE if has_guests else reach

    async def _has_guests(self, workspace: Workspace, channel: str, key: str) -> bool | None:
        """Look for guests in a channel, and return whether there are any, as far as that is known soon.

        What is not known by then counts as it did before: else members would go without answers wherever Slack is slow.
        It is None where nothing was known, which the look may be by the time that the question is tried again. There is
        none before the time that Slack has asked for.
        """
        if key not in self._looks and self._wait(workspace, channel) is None:
            self._looks[key] = asyncio.Event(), asyncio.get_running_loop().time()
            self.background.begin(partial(self._look_for_guests, workspace, channel, key))
        if key in self._looks:
            look, begun = self._looks[key]
            is_known = self._guests.get(key, or_older=True) is not None
            with suppress(TimeoutError):
                async with asyncio.timeout_at(begun + (LONGEST_LOOK if is_known else FIRST_LOOK)):
                    await look.wait()
        return self._guests.get(key, or_older=True)

    def _wait(self, workspace: Workspace, channel: str) -> float | None:
        """Return for how many seconds nothing more will be known of a channel; None where nobody can say."""
        if f"{workspace.name} {channel}" in self._looks:
            return LONGEST_LOOK
        try:
            self._pauses[workspace.name].check(is_sent=False)
        except ShutOut as pause:
            return pause.wait
        return None

    async def _look_for_guests(self, workspace: Workspace, channel: str, key: str) -> None:
        """Note whether there are guests in a channel; where Slack does not show all who are there, there may be some.

        Raises `PostingFailed`: then the next question looks again, once the time is over that Slack has asked for.
        """
        try:
            people = dict(await self._people(workspace))
            people[OTHERS] |= self._reaches.get(key) is Reach.ORGANIZATION  # people of other workspaces are not listed
            if has_guests := any(people.values()):
                with suppress(Rejected):
                    has_guests = await self._is_any_guest(workspace, channel, people)
            self._guests.put(key, has_guests)
        except RateLimited as limit:
            self._pauses[workspace.name].shut(str(limit), limit.wait)
            raise
        finally:
            self._looks.pop(key)[0].set()

    async def _is_any_guest(self, workspace: Workspace, channel: str, people: Mapping[str, bool]) -> bool:
        """Return whether a guest is in a channel, or may be as they are too many to look at. Raises `PostingFailed`."""
        listed = [ids async for ids in _listed(workspace, "conversations.members", channel=channel)]
        there = {each for ids in listed for each in ids}
        others = there - people.keys() if people[OTHERS] else ()
        if len(listed) == MOST_PAGES or len(others) > MOST_LOOKED_UP or any(people.get(each) for each in there):
            return True
        return any([(await self.profile(workspace.name, each)).is_guest for each in others])

    async def _people(self, workspace: Workspace) -> Mapping[str, bool]:
        """Return by id whether people of a workspace are guests, as far as Slack lists them. Raises `PostingFailed`."""
        async with self._listing.setdefault(workspace.name, asyncio.Lock()):
            people = self._listed.get(workspace.name)
            if people is None:
                self._pauses[workspace.name].check(is_sent=False)
                people, count = {OTHERS: True}, 0  # who is not listed may be one, unless all are
                with suppress(Rejected):
                    async for page in _listed(workspace, "users.list"):
                        people |= {each["id"]: _profile(each, workspace).is_guest for each in page}
                        count += 1
                    people[OTHERS] = count == MOST_PAGES
                self._listed.put(workspace.name, people)
            return people

    async def _members_of(self, workspace: str, group: str) -> frozenset[str]:
        """Return the members of a group; none if that cannot be known, since nobody is to be taken for one."""
        members = self._members.get(f"{workspace} {group}")
        if members is None:
            members = frozenset[str]()  # for as long, so that Slack is not asked each time
            with suppress(PostingFailed):
                members = await members_of(group, (await self._workspaces.find(workspace)).client)
            self._members.put(f"{workspace} {group}", members)
        return members


def _readers(ids: Collection[str]) -> Readership:
    return Readership(communities=frozenset(WorkspaceRef(platform=PLATFORM, workspace=each) for each in ids))


def _reach_of(said: object) -> Reach:
    if not isinstance(said, Mapping) or cast("Mapping[str, Any]", said).get("is_ext_shared") is not False:
        return Reach.OUTSIDE
    return Reach.ORGANIZATION if cast("Mapping[str, Any]", said).get("is_org_shared") else Reach.WORKSPACE


async def members_of(group: str, client: AsyncWebClient) -> frozenset[str]:
    """Return who is in a group of users. Raises `PostingFailed`."""
    said = await ask(client, "usergroups.users.list", usergroup=group)
    return frozenset(str(user) for user in cast("list[object]", said.get("users") or ()))


def _listed(workspace: Workspace, method: str, **given: str) -> AsyncGenerator[Sequence[Any]]:
    """Yield the people that a method lists, page by page, up to so many that it comes to an end."""
    return pages(Retrying(QUICK), workspace.client, method, "members", MOST_PAGES, LISTED, **given)


async def _admins(workspace: Workspace, most: int) -> Sequence[str]:
    """Return some admins and owners of a workspace, among those whom Slack lists first. Raises `PostingFailed`."""
    found = list[str]()
    async with aclosing(pages(Retrying(QUICK), workspace.client, "users.list", "members")) as listed:
        async for users in listed:
            people = [_profile(user, workspace) for user in users if not user.get("deleted")]
            found += [each.id for each in people if each.is_admin]
            if len(found) >= most:
                break
    return found


async def _look_up(workspace: Workspace, user_id: str) -> Profile:
    try:
        said = await ask(workspace.client, "users.info", user=user_id)
    except Denied as denied:
        if denied.code in UNKNOWN:
            return Profile(user_id, is_guest=True)
        raise
    return _profile(cast("Mapping[str, Any]", said["user"]), workspace)


def _profile(user: Mapping[str, Any], workspace: Workspace) -> Profile:
    shown = cast("Mapping[str, Any]", user.get("profile") or {})
    organization, team = cast("Mapping[str, Any]", user.get("enterprise_user") or {}), str(user.get("team_id") or "")
    is_colleague = team == workspace.team_id or (  # an organization's workspaces are one company
        workspace.enterprise_id != "" and organization.get("enterprise_id") == workspace.enterprise_id
    )
    is_limited = any(user.get(flag) for flag in ("is_restricted", "is_ultra_restricted", "is_stranger"))
    is_guest = is_limited or not is_colleague
    name = shown.get("display_name") or shown.get("real_name") or user.get("real_name") or user.get("name")
    return Profile(
        id=str(user["id"]),
        name=str(name or ""),
        is_guest=is_guest,
        is_admin=not is_guest and any(user.get(flag) for flag in ("is_admin", "is_owner", "is_primary_owner")),
        team_id=team,
        teams=frozenset({team, *map(str, cast("Collection[object]", organization.get("teams") or ()))}),
    )
