"""Who reads an answer on Slack: members, a whole organization, or guests and people of other companies too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal

import pytest

from adapters.slack.api import open_session
from adapters.slack.people import REACH_KEPT, People
from adapters.slack.workspaces import OneWorkspace
from core.errors import PeopleUnavailable
from core.model import MessageRef, Person, Question, Readership, ThreadRef, WorkspaceRef
from tests.builders import NOON
from tests.servers.slack import Channel, SlackServer, User, Workspace
from tests.servers.slack.refusals import limit, refuse

INFO = "conversations.info"


@dataclass
class Company:
    """A workspace of an organization, and somebody who looks people up there."""

    server: SlackServer
    workspace: Workspace
    people: People
    guests_read: People
    now: list[float]

    def members(self, *ids: str) -> Readership:
        """Name those of whom everybody is a member."""
        return Readership(communities=frozenset(WorkspaceRef(platform="slack", workspace=each) for each in ids))

    @property
    def strangers(self) -> Readership:
        """Say that others than the members of the workspace read along."""
        return self.members(self.workspace.team_id, "E1").model_copy(update={"has_strangers": True})

    async def readers(
        self,
        by: User,
        channel: Channel,
        visibility: Literal["thread", "private"] = "thread",
        people: People | None = None,
    ) -> Readership:
        """Say who reads the answer to what somebody asks in a channel."""
        place = ThreadRef(platform="slack", workspace=self.workspace.team_id, channel=channel.id, thread="1.2")
        question = Question(
            message=MessageRef(thread=place, id="1.2"),
            text="What is a robot?",
            author=Person(id=by.id),
            asked_at=NOON,
            visibility=visibility,
        )
        return await (people or self.people).readership(question.asker, ())


@pytest.fixture(name="company")
async def _company() -> AsyncIterator[Company]:
    async with SlackServer() as server, open_session() as session:
        workspace, now = server.add_workspace(enterprise_id="E1"), [0.0]
        workspaces = OneWorkspace(session, workspace.token, server.api_url)
        people, guests_read = (People(workspaces, guests_read=each, clock=lambda: now[0]) for each in (False, True))
        yield Company(server, workspace, people, guests_read, now)


@pytest.mark.promise("guests-apart")
async def test_readers_are_the_workspace_and_its_organization(company: Company) -> None:
    """Of a channel that all of the organization uses it is that alone, as it is for who is at home elsewhere."""
    server, workspace = company.server, company.workspace
    ada = server.add_member(workspace)
    bob = server.add_member(workspace, "bob", team_id="T9")
    bob.enterprise_id = "E1"
    in_both = server.add_member(workspace, "cleo", team_id="T9", teams=frozenset({workspace.team_id}))
    in_both.enterprise_id = "E1"
    own, wide = server.add_channel(workspace), server.add_channel(workspace, "wide")
    wide.is_org_shared = True
    for channel in (own, wide):
        channel.members |= {bob.id, in_both.id}

    found = [await company.readers(by, channel) for by in (ada, bob, in_both) for channel in (own, wide)]

    team, organization = company.members(workspace.team_id, "E1"), company.members("E1")
    assert found == [team, organization, organization, organization, team, organization]


@pytest.mark.promise("guests-apart")
async def test_strangers_read_what_guests_ask_and_what_is_said_in_a_shared_channel(company: Company) -> None:
    """A member alone reads a private answer, and direct messages; a guest is a stranger everywhere."""
    server, workspace = company.server, company.workspace
    ada, guest = server.add_member(workspace), server.add_member(workspace, "gus", is_restricted=True)
    partner = server.add_member(workspace, "pat", team_id="T9", is_stranger=True)
    shared, own = server.add_channel(workspace, "with-partner", shared_with=["T9"]), server.add_channel(workspace)
    member = company.members(workspace.team_id, "E1")

    assert guest.id in own.members  # which Slack does not say of a channel, so the docs do
    assert [await company.readers(ada, channel) for channel in (own, shared)] == [member, company.strangers]
    assert await company.readers(ada, shared, "private") == member
    assert await company.readers(ada, server.direct(workspace, ada)) == member
    assert [await company.readers(by, own, "private") for by in (guest, partner)] == [company.strangers] * 2
    assert await company.readers(guest, shared, people=company.guests_read) == member


@pytest.mark.promise("guests-apart")
@pytest.mark.parametrize("code", ["channel_not_found", "missing_scope"])
async def test_a_channel_that_slack_does_not_show_counts_as_read_by_anybody(company: Company, code: str) -> None:
    """Nobody can know who is there."""
    ada = company.server.add_member(company.workspace)
    company.server.faults.add(INFO, refuse(code))

    assert await company.readers(ada, company.server.add_channel(company.workspace)) == company.strangers


@pytest.mark.promise("guests-apart")
async def test_who_reads_a_channel_is_asked_once_a_minute_and_learned_from_events(company: Company) -> None:
    """What an event says of it is newer; where Slack says nothing at all the question is tried again."""
    server, team = company.server, company.workspace.team_id
    ada, channel = server.add_member(company.workspace), server.add_channel(company.workspace)
    member = company.members(team, "E1")
    server.faults.add(INFO, limit(60))
    with pytest.raises(PeopleUnavailable):
        await company.readers(ada, channel)

    seen = [await company.readers(ada, channel) for _ in range(2)]
    company.people.note_sharing(team, channel.id, is_external=True)
    seen.append(await company.readers(ada, channel))
    company.people.note_sharing(team, channel.id, is_external=False)
    seen.append(await company.readers(ada, channel))
    channel.shared_with.add("T9")
    company.now[0] = REACH_KEPT
    seen.append(await company.readers(ada, channel))

    assert seen == [member, member, company.strangers, member, company.strangers]
    assert len(server.requests_to(INFO)) == 4
