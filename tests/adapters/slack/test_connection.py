"""The way to Slack: what is tried again, what failures mean, and whose token it is."""

from __future__ import annotations

from typing import Any, cast

import pytest
from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState

from adapters.slack.api import API, Denied, ask, connect, never_arrived, tell
from adapters.slack.people import People, Profile
from adapters.slack.workspaces import NotInstalled, OneWorkspace, Workspace, parse, workspace_of
from core.errors import Gone, PostingFailed, RateLimited, Unreachable
from tests.on_slack import OnSlack
from tests.servers.slack import Fault, Reply, Reset, User, limit, refuse

TEST = "auth.test"


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (429, {"Retry-After": "5"}, True),
        (429, {"retry-after": "11"}, False),
        (429, {}, False),
        (500, {}, True),
        (503, {}, True),
        (200, {}, False),
        (404, {}, False),
    ],
)
async def test_what_passes_soon_is_tried_again_once(
    slack: OnSlack, status: int, headers: dict[str, str], expected: bool
) -> None:
    """People wait for an answer, so that a long limit is said and not waited for."""
    handlers: list[AsyncRetryHandler] = cast("Any", connect(slack.session)).retry_handlers
    response = HttpResponse(status_code=status, headers=dict(headers))
    request = HttpRequest(method="POST", url=API, headers={})
    fresh, tired = RetryState(), RetryState()
    tired.increment_current_attempt()

    async def may(state: RetryState) -> bool:
        said = [await one.can_retry_async(state=state, request=request, response=response) for one in handlers]
        return any(said)

    assert (await may(fresh), await may(tired)) == (expected, False)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (limit(7), "RateLimited 7"),
        (Reply(429, {"ok": False, "error": "ratelimited"}), "RateLimited 1"),
        (refuse("message_not_found"), "Gone"),
        (refuse("not_in_channel"), "Denied not_in_channel"),
        (refuse("missing_scope"), "Denied missing_scope"),
        (refuse("internal_error"), "Unreachable"),
        (Reply(503, {"ok": False}), "Unreachable"),
        (Reply(502, "<h1>Bad Gateway</h1>", {"Content-Type": "text/html"}), "Unreachable"),
        (Reply(200, "<h1>Log in to this network</h1>", {"Content-Type": "text/html"}), "Unreachable"),
        (Reset(), "Unreachable"),
    ],
    ids=str,
)
async def test_a_failure_means_what_can_be_done_about_it(slack: OnSlack, fault: Fault, expected: str) -> None:
    """Slack's own word for a refusal is kept."""
    client = connect(slack.session, token=slack.workspace.token, api_url=slack.server.api_url, repeats=False)
    slack.server.faults.add(TEST, fault)

    with pytest.raises(PostingFailed) as raised:
        await tell(client, TEST)

    assert said(raised.value) == expected
    assert not never_arrived(raised.value)


def said(failure: PostingFailed) -> str:
    """Give a failure in words."""
    match failure:
        case RateLimited(wait=wait):
            return f"RateLimited {wait:g}"
        case Denied(code=code):
            return f"Denied {code}"
        case Gone() | Unreachable():
            return type(failure).__name__
        case _:
            return repr(failure)


async def test_a_call_without_a_connection_has_done_nothing(slack: OnSlack) -> None:
    """It may be made again without a look."""
    client = connect(slack.session, token=slack.workspace.token, api_url=slack.server.api_url, repeats=False)
    await slack.server.down()

    with pytest.raises(Unreachable) as raised:
        await ask(client, TEST)

    assert never_arrived(raised.value)


async def test_both_clients_make_the_same_calls_and_one_makes_each_once(slack: OnSlack) -> None:
    """A token of an organization says which workspace it speaks in."""
    given: Any = {"token": "xoxb-1", "api_url": "http://127.0.0.1:1/api", "team_id": "T1"}

    usual, once = (connect(slack.session, **given, repeats=repeats) for repeats in (True, False))

    assert (once.token, once.base_url, once.session) == ("xoxb-1", "http://127.0.0.1:1/api/", slack.session)
    assert cast("Any", once).default_params == cast("Any", usual).default_params == {"team_id": "T1"}
    assert (len(usual.retry_handlers), once.retry_handlers) == (3, [])
    assert connect(slack.session).base_url == API


async def test_the_one_workspace_is_asked_for_once_and_again_after_a_failure(slack: OnSlack) -> None:
    """Its token is nobody else's."""
    one = OneWorkspace(slack.session, slack.workspace.token, slack.server.api_url)
    slack.server.faults.add(TEST, Reply(502, {}))

    with pytest.raises(Unreachable):
        await one.find(slack.workspace.team_id)
    found = [await one.find(slack.workspace.team_id) for _ in range(2)]
    with pytest.raises(NotInstalled):
        await one.find("T9")

    assert (found[0], len(slack.server.requests_to(TEST))) == (found[1], 2)
    assert found[0] == Workspace(
        name=slack.workspace.team_id,
        team_id=slack.workspace.team_id,
        enterprise_id="",
        app_id="",
        bot_id=slack.workspace.bot_id,
        bot_user_id=slack.workspace.bot.id,
        client=found[0].client,
        once=found[0].once,
        title="footnote in Robots",
    )


def test_a_workspace_of_an_organization_bears_its_name() -> None:
    """One that has an installation of its own does not."""
    installed: dict[str, object] = {"team_id": "T1", "enterprise_id": "E1"}
    names = [
        workspace_of(body) for body in ({"team_id": "T1"}, installed, {**installed, "is_enterprise_install": True})
    ]

    assert names == ["T1", "T1", "E1/T1"]
    assert [parse(name) for name in names] == [("T1", ""), ("T1", ""), ("T1", "E1")]


async def test_people_are_known_for_what_they_are(slack: OnSlack) -> None:
    """Guests are those of other companies and those with few rights; owners and admins moderate, strangers never."""
    kinds = [
        _member(slack, "bob"),
        _member(slack, "cleo", is_admin=True),
        _member(slack, "dan", is_owner=True),
        _member(slack, "eve", is_restricted=True),
        _member(slack, "flo", is_ultra_restricted=True),
        _member(slack, "gus", is_stranger=True, is_admin=True),
        _member(slack, "hal", team_id="T9", is_admin=True),
    ]
    people = People(OneWorkspace(slack.session, slack.workspace.token, slack.server.api_url))

    found = [await people.profile(slack.workspace.team_id, user.id) for user in kinds]
    unknown = await people.profile(slack.workspace.team_id, "U404")

    assert [one.name for one in found if one.is_admin] == ["cleo", "dan"]
    assert [one.name for one in found if one.is_guest] == ["eve", "flo", "gus", "hal"]
    assert (found[-1].team_id, unknown) == ("T9", Profile("U404", is_guest=True))


def _member(slack: OnSlack, name: str, **more: Any) -> User:
    return slack.server.add_member(slack.workspace, name, **more)


@pytest.mark.promise("moderators-only")
async def test_a_group_of_people_can_moderate(slack: OnSlack) -> None:
    """Who is in it is looked up every five minutes, also if that failed; who only asks waits for none."""
    now = [0.0]
    group = slack.server.add_group(slack.workspace, slack.ada)
    workspaces = OneWorkspace(slack.session, slack.workspace.token, slack.server.api_url)
    people = People(workspaces, moderators=group, clock=lambda: now[0])
    slack.server.faults.add("usergroups.users.list", refuse("missing_scope"))

    async def moderates(at: float) -> bool:
        now[0] = at
        return await people.is_moderator(slack.workspace.team_id, slack.ada.id)

    assert not (await people.profile(slack.workspace.team_id, slack.ada.id)).is_guest
    assert slack.server.requests_to("usergroups.users.list") == []
    said = [await moderates(at) for at in (0.0, 0.0, 300.0)]
    slack.workspace.groups[group] = []
    said += [await moderates(at) for at in (300.0, 600.0)]

    assert said == [False, False, True, True, False]
    assert [len(slack.server.requests_to(name)) for name in ("users.info", "usergroups.users.list")] == [3, 3]


@pytest.mark.promise("budgets-are-told")
async def test_those_who_moderate_are_told_what_only_moderators_should_hear(slack: OnSlack) -> None:
    """The members of the groups that are named; without any, some admins, but nobody who has left and no guest."""
    workspaces = OneWorkspace(slack.session, slack.workspace.token, slack.server.api_url)
    team = slack.workspace.team_id
    bosses = [slack.admin.id, *(_member(slack, name, is_admin=True).id for name in ("cleo", "dan"))]
    _member(slack, "flo", is_admin=True, is_restricted=True)
    _member(slack, "gus", is_admin=True).deleted = True

    unnamed = [await People(workspaces).moderators(team, most=most) for most in (10, 2)]
    group = slack.server.add_group(slack.workspace, slack.ada)
    named = await People(workspaces, moderators=group).moderators(team, most=10)

    assert (unnamed, named) == ([bosses, bosses[:2]], [slack.ada.id])
