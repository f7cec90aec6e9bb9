"""Who reads an answer on Slack: members, a whole organization, or guests and people of other companies too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal

import pytest

from adapters.chat.services import KEPT
from adapters.slack.api import open_session
from adapters.slack.people import FIRST_LOOK, LISTED, LONGEST_LOOK, MOST_LOOKED_UP, MOST_PAGES, REACH_KEPT, People
from adapters.slack.workspaces import OneWorkspace
from core.errors import PeopleUnavailable
from core.model import MessageRef, Person, Question, Readership, ThreadRef, WorkspaceRef
from tests.builders import NOON
from tests.servers.faults import Hold
from tests.servers.service import Reply
from tests.servers.slack import Channel, SlackServer, User, Workspace
from tests.servers.slack.refusals import limit, refuse

INFO, INSIDE, LIST, WHO = "conversations.info", "conversations.members", "users.list", "users.info"


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

    def unsure(self, wait: float | None = None) -> Readership:
        """Say that nobody knows whether others read along, nor will for some seconds."""
        return self.strangers.model_copy(update={"is_unsure": True, "wait": wait})

    async def readers(
        self,
        by: User,
        channel: Channel,
        visibility: Literal["thread", "private"] = "thread",
        people: People | None = None,
        among: Sequence[WorkspaceRef] = (),
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
        return await (people or self.people).readership(question.asker, among)


@pytest.fixture(name="company")
async def _company() -> AsyncIterator[Company]:
    async with SlackServer() as server, open_session() as session:
        workspace, now = server.add_workspace(enterprise_id="E1"), [0.0]
        workspaces = OneWorkspace(session, workspace.token, server.api_url)
        people, guests_read = (People(workspaces, guests_read=each, clock=lambda: now[0]) for each in (False, True))
        yield Company(server, workspace, people, guests_read, now)
        await people.background.close()


@pytest.mark.promise("guests-apart")
async def test_readers_are_the_workspace_and_its_organization(company: Company) -> None:
    """Of a channel that all of it uses it is that alone, unless guests are in it, as for who is at home elsewhere."""
    server, workspace = company.server, company.workspace
    ada = server.add_member(workspace)
    bob = server.add_member(workspace, "bob", team_id="T9")
    bob.enterprise_id = "E1"
    in_both = server.add_member(workspace, "cleo", team_id="T9", teams=frozenset({workspace.team_id}))
    guest = server.add_member(workspace, "gus", team_id="T9", is_restricted=True)
    in_both.enterprise_id = guest.enterprise_id = "E1"
    own, wide = server.add_channel(workspace), server.add_channel(workspace, "wide")
    wide.is_org_shared = True
    for channel in (own, wide):
        channel.members |= {bob.id, in_both.id}

    found = [await company.readers(by, channel) for by in (ada, bob, in_both) for channel in (own, wide)]
    wide.members.add(guest.id)
    company.now[0] = KEPT
    found.append(await company.readers(ada, wide))

    team, organization = company.members(workspace.team_id, "E1"), company.members("E1")
    assert found == [team, organization, organization, organization, team, organization, company.strangers]


@pytest.mark.promise("guests-apart")
async def test_strangers_read_what_guests_ask_and_what_is_said_in_a_shared_channel(company: Company) -> None:
    """A member alone reads a private answer, and direct messages; a guest is a stranger everywhere."""
    server, workspace = company.server, company.workspace
    ada, guest = server.add_member(workspace), server.add_member(workspace, "gus", is_restricted=True)
    partner = server.add_member(workspace, "pat", team_id="T9", is_stranger=True)
    shared, own = server.add_channel(workspace, "with-partner", shared_with=["T9"]), server.add_channel(workspace)
    member = company.members(workspace.team_id, "E1")
    own.members.discard(guest.id)

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
    with pytest.raises(PeopleUnavailable) as unknown:
        await company.readers(ada, channel)
    assert unknown.value.wait == 60.0

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


@pytest.mark.promise("guests-apart")
@pytest.mark.parametrize("of_one_channel", [False, True])
async def test_guests_who_were_let_into_a_channel_read_along(company: Company, *, of_one_channel: bool) -> None:
    """Also in a private one and in messages between several people, but not in private answers."""
    server, workspace = company.server, company.workspace
    ada = server.add_member(workspace)
    empty = server.add_channel(workspace, "members")
    gus = server.add_member(workspace, "gus", is_restricted=not of_one_channel, is_ultra_restricted=of_one_channel)
    empty.members.discard(gus.id)
    places = [
        server.add_channel(workspace),
        server.add_channel(workspace, "secret", private=True),
        server.add_group_talk(workspace, ada, gus),
    ]
    member = company.members(workspace.team_id, "E1")

    assert [await company.readers(ada, channel) for channel in places] == [company.strangers] * 3
    assert await company.readers(ada, empty) == member
    assert [await company.readers(ada, channel, "private") for channel in places] == [member] * 3
    assert await company.readers(ada, places[0], people=company.guests_read) == member


@pytest.mark.promise("guests-apart")
async def test_guests_are_looked_for_once_in_some_minutes_for_all_questions(company: Company) -> None:
    """In a workspace without any, nobody asks who is in a channel."""
    server, workspace = company.server, company.workspace
    ada, channels = server.add_member(workspace), [server.add_channel(workspace, name) for name in "ab"]
    for _ in range(2):
        await asyncio.gather(*(company.readers(ada, each) for each in channels * 2))
    asked = [len(server.requests_to(each)) for each in (LIST, INSIDE)]
    server.add_member(workspace, "gus", is_restricted=True)
    before = [await company.readers(ada, each) for each in channels]
    company.now[0] = KEPT
    after = [await company.readers(ada, each) for each in channels * 2]

    assert asked == [1, 0]
    assert (before, after) == ([company.members(workspace.team_id, "E1")] * 2, [company.strangers] * 4)
    assert [len(server.requests_to(each)) for each in (LIST, INSIDE)] == [2, 2]


@pytest.mark.promise("guests-apart")
async def test_a_guest_who_comes_into_a_channel_reads_along_from_then_on(company: Company) -> None:
    """Whoever is new to the workspace is looked up, and a member who comes costs nothing."""
    server, workspace, team = company.server, company.workspace, company.workspace.team_id
    ada, bob = server.add_member(workspace), server.add_member(workspace, "bob")
    gus = server.add_member(workspace, "gus", is_restricted=True)
    channels = [server.add_channel(workspace, name) for name in "ab"]
    for each in channels:
        each.members -= {gus.id, bob.id}
    seen = [await company.readers(ada, each) for each in channels]

    for who, each in ((bob, channels[0]), (gus, channels[0])):
        server.join(who, each)
        company.people.note_joining(team, each.id, who.id)
        seen.append(await company.readers(ada, each))
    asked = [len(server.requests_to(each)) for each in (LIST, INSIDE)]
    eve = server.add_member(workspace, "eve", is_ultra_restricted=True)
    company.people.note_joining(team, channels[1].id, eve.id)
    seen.append(await company.readers(ada, channels[1]))

    member = company.members(team, "E1")
    assert seen == [member, member, member, company.strangers, company.strangers]
    assert (asked, len(server.requests_to(LIST))) == ([1, 2], 2)


@pytest.mark.promise("guests-apart")
@pytest.mark.parametrize("code", ["missing_scope", "channel_not_found", "fetch_members_failed"])
async def test_where_slack_does_not_show_who_is_in_a_channel_guests_may_be(company: Company, code: str) -> None:
    """All the more where it does not list the people of the workspace either."""
    server, workspace = company.server, company.workspace
    ada = server.add_member(workspace)
    server.add_member(workspace, "gus", is_restricted=True)
    channel = server.add_channel(workspace)
    server.faults.add(INSIDE, refuse(code))
    hidden = [await company.readers(ada, channel)]
    company.now[0] = KEPT
    server.faults.add(LIST, refuse("limit_required"))
    server.faults.add(INSIDE, refuse(code))
    hidden += [await company.readers(ada, channel)]

    assert hidden == [company.strangers] * 2


@pytest.mark.promise("guests-apart")
async def test_where_slack_does_not_list_people_those_in_a_channel_are_looked_up(company: Company) -> None:
    """Where that is refused as well, or they are many, there may be guests."""
    server, workspace = company.server, company.workspace
    ada, gus = server.add_member(workspace), server.add_member(workspace, "gus", is_restricted=True)
    channels = [server.add_channel(workspace, name) for name in "abcd"]
    for each in (channels[0], channels[2], channels[3]):
        each.members.discard(gus.id)
    server.faults.break_(LIST, refuse("limit_required"))
    seen = [await company.readers(ada, each) for each in channels[:2]]
    server.add_member(workspace, "bob")
    server.faults.break_(WHO, refuse("missing_scope"))
    seen += [await company.readers(ada, channels[2])]
    server.faults.mend()
    channels[3].members |= {server.add_member(workspace, f"m{number}").id for number in range(MOST_LOOKED_UP)}
    server.faults.break_(LIST, refuse("limit_required"))
    seen += [await company.readers(ada, channels[3])]

    assert seen == [company.members(workspace.team_id, "E1"), *[company.strangers] * 3]


@pytest.mark.promise("guests-apart")
@pytest.mark.parametrize("method", [LIST, INSIDE])
async def test_while_slack_does_not_say_what_was_known_counts(company: Company, method: str) -> None:
    """Where that is nothing, nobody can be sure; it is asked again once the time is over that Slack has asked for."""
    server, workspace = company.server, company.workspace
    ada, gus = server.add_member(workspace), server.add_member(workspace, "gus", is_restricted=True)
    channel, other = server.add_channel(workspace), server.add_channel(workspace, "other")
    server.faults.break_(method, limit(60))
    seen = [await company.readers(ada, channel)]
    company.now[0] = 59.0
    seen += [await company.readers(ada, each) for each in (channel, other)]
    asked = len(server.requests_to(method))
    server.faults.mend()
    company.now[0] = 60.0
    seen += [await company.readers(ada, channel)]
    company.now[0] = 60.0 + KEPT
    channel.members.discard(gus.id)
    server.faults.break_(method, limit(60))
    seen += [await company.readers(ada, channel) for _ in range(2)]
    server.faults.mend()
    company.now[0] += 60.0
    seen += [await company.readers(ada, channel)]

    member = company.members(workspace.team_id, "E1")
    assert seen[:3] == [company.unsure(60.0), company.unsure(1.0), company.unsure(1.0)]
    assert seen[3:] == [*[company.strangers] * 3, member]
    assert (asked, len(server.requests_to(method))) == (1, 4)


@pytest.mark.promise("guests-apart")
async def test_a_question_does_not_wait_long_for_a_look_that_takes_long(company: Company) -> None:
    """It goes on meanwhile, and the next try has what came of it."""
    server, workspace, release = company.server, company.workspace, asyncio.Event()
    ada = server.add_member(workspace)
    server.add_member(workspace, "gus", is_restricted=True)
    channel = server.add_channel(workspace)
    server.faults.add(LIST, Hold(release))
    async with asyncio.timeout(FIRST_LOOK + LONGEST_LOOK):
        first = await company.readers(ada, channel)
    release.set()
    await company.people.background.finish()

    assert first == company.unsure(LONGEST_LOOK)
    assert await company.readers(ada, channel) == company.strangers
    assert len(server.requests_to(LIST)) == 1


@pytest.mark.promise("guests-apart")
@pytest.mark.parametrize("fault", [Reply(503), refuse("internal_error")])
async def test_while_slack_is_out_of_order_nobody_can_be_sure(company: Company, fault: Reply) -> None:
    """Whether it answers with an error or in its own words; who asks privately needs no look."""
    server, workspace = company.server, company.workspace
    ada = server.add_member(workspace)
    server.add_member(workspace, "gus", is_restricted=True)
    channel = server.add_channel(workspace)
    server.faults.break_(LIST, fault)
    seen = [await company.readers(ada, channel, to) for to in ("thread", "private")]
    server.faults.mend()
    await company.people.background.finish()  # what is under way of the look before

    assert [each.model_copy(update={"wait": None}) for each in seen] == [
        company.unsure(),
        company.members(workspace.team_id, "E1"),
    ]
    assert await company.readers(ada, channel) == company.strangers


@pytest.mark.promise("guests-apart")
async def test_of_a_huge_channel_only_so_many_people_are_looked_at(company: Company) -> None:
    """Who stands further down may be a guest, unless the workspace has none."""
    server, workspace = company.server, company.workspace
    ada = server.add_member(workspace)
    server.add_member(workspace, "gus", is_restricted=True)
    channels = [server.add_channel(workspace, name) for name in "ab"]
    for each, name in zip(channels, ("U!{:06}", "W{:06}"), strict=True):  # Slack lists them by their ids here
        each.members |= {name.format(number) for number in range(LISTED * MOST_PAGES)}

    found = [await company.readers(ada, each) for each in channels]

    assert found == [company.strangers] * 2
    assert len(server.requests_to(INSIDE)) == 2 * MOST_PAGES
