"""What somebody may read in direct messages who is in several workspaces: an organization's people have one id."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from aiohttp import ClientSession

from adapters.slack.api import connect, open_session
from adapters.slack.people import People
from adapters.slack.workspaces import NotInstalled, Workspace
from core.model import Asker, WorkspaceRef
from tests.servers import slack
from tests.servers.slack import SlackServer, User
from tests.servers.slack.refusals import limit, refuse

INFO = "users.info"


@dataclass
class Installed:
    """The workspaces that have the bot, by the names of their installations; implements `Workspaces`."""

    session: ClientSession
    api_url: str
    found: dict[str, Workspace] = field(default_factory=dict[str, Workspace])

    def add(self, workspace: slack.Workspace, *, org_wide: bool) -> None:
        """Let the bot speak there with the workspace's own token, or with that of its organization."""
        organization, team = workspace.enterprise_id or "", workspace.team_id
        name, team_id = (f"{organization}/{team}", team) if org_wide else (team, "")
        client = connect(self.session, token=workspace.token, api_url=self.api_url, team_id=team_id)
        self.found[name] = Workspace(name, team, organization, "A1", "B1", workspace.bot.id, client, client)

    async def find(self, workspace: str) -> Workspace:
        """Return one of them."""
        if workspace not in self.found:
            raise NotInstalled("nobody has installed it there")
        return self.found[workspace]


@dataclass
class Organization:
    """Two workspaces of an organization with the bot in them, a third without it, and one of another company."""

    server: SlackServer
    people: People
    guests_read: People
    names: dict[str, str]
    here: slack.Workspace
    there: slack.Workspace
    bare: slack.Workspace
    foreign: slack.Workspace

    @property
    def allowed(self) -> list[WorkspaceRef]:
        """All of them."""
        teams = (each.team_id for each in (self.here, self.there, self.bare, self.foreign))
        return [WorkspaceRef(platform=name, workspace=each) for each in teams for name in ("slack", "discord")]

    def member(self, *workspaces: slack.Workspace, guest_in: frozenset[str] = frozenset()) -> User:
        """Let somebody into the first one and those."""
        user = self.server.add_member(self.here, teams=frozenset(each.team_id for each in workspaces))
        user.guest_in = guest_in
        return user

    async def reads(
        self, by: User, *, in_channel: bool = False, is_alone: bool = False, among: list[WorkspaceRef] | None = None
    ) -> set[str]:
        """Name the workspaces of whose documents somebody may read, who asks in the first one; directly unless said."""
        channel = self.server.add_channel(self.here) if in_channel else self.server.direct(self.here, by)
        home = WorkspaceRef(platform="slack", workspace=self.names[self.here.team_id])
        asker = Asker(home=home, person_id=by.id, channel=channel.id, is_alone=is_alone)
        given = self.allowed if among is None else among
        readership = await self.people.readership(asker, given)
        assert not readership.has_strangers
        assert readership == await self.guests_read.readership(asker, given)  # which is no less to members
        return {each.workspace for each in readership.communities} - {"E1"}


@pytest.fixture(name="organization", params=[False, True], ids=["installed in each", "installed for all"])
async def _organization(request: pytest.FixtureRequest) -> AsyncIterator[Organization]:
    is_wide = bool(request.param)
    async with SlackServer() as server, open_session() as session:
        here, there = (server.add_workspace(name, enterprise_id="E1", org_wide=is_wide) for name in ("Here", "There"))
        bare, foreign = server.add_workspace("Bare", enterprise_id="E1"), server.add_workspace("Foreign")
        installed = Installed(session, server.api_url)
        for each in (here, there):
            installed.add(each, org_wide=is_wide)
        installed.add(foreign, org_wide=False)
        names = {each.team_id: name for name, each in installed.found.items()}
        people, guests_read = People(installed), People(installed, guests_read=True)
        yield Organization(server, people, guests_read, names, here, there, bare, foreign)
        await people.background.close()


@pytest.mark.promise("strangers-apart")
async def test_direct_messages_are_answered_from_all_workspaces_that_the_bot_sees_somebody_in(
    organization: Organization,
) -> None:
    """Of those that are allowed, and elsewhere than in direct messages from the workspace alone."""
    here, there, bare = organization.here, organization.there, organization.bare
    both, one = organization.member(there, bare), organization.member()

    assert await organization.reads(both) == {here.team_id, there.team_id}
    assert await organization.reads(one) == {here.team_id}
    assert await organization.reads(both, among=organization.allowed[:2]) == {here.team_id}
    assert await organization.reads(both, in_channel=True) == {here.team_id}
    assert await organization.reads(both, in_channel=True, is_alone=True) == {here.team_id}


@pytest.mark.promise("strangers-apart")
async def test_what_cannot_be_seen_of_another_workspace_stays_closed(organization: Organization) -> None:
    """Guests there are no members; and while it is away, the question is answered from the workspace's own."""
    here, there = organization.here, organization.there
    if here.token != there.token:  # an organization has one account for each, with one kind
        guest = organization.member(there, guest_in=frozenset({there.team_id}))
        assert await organization.reads(guest) == {here.team_id}
    for fault in (limit(60), refuse("user_not_visible"), refuse("missing_scope")):
        both = organization.member(there)
        for people in (organization.people, organization.guests_read):
            await people.profile(organization.names[here.team_id], both.id)
        organization.server.faults.add(INFO, fault, fault)
        assert await organization.reads(both) == {here.team_id}


@pytest.mark.promise("strangers-apart")
async def test_an_id_means_nothing_to_another_company(organization: Organization) -> None:
    """There it may be anybody's, so nobody is looked up."""
    ada = organization.member(organization.foreign)
    ada.teams = frozenset()

    assert await organization.reads(ada) == {organization.here.team_id}
    assert len(organization.server.requests_to(INFO)) == 2
