"""Signs that an answer is on its way, and that they go with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from adapters.slack.poster import Place
from adapters.slack.signs import SIGNS, Indicator
from adapters.slack.workspaces import OneWorkspace
from core.messages import SEARCHING
from core.model import Progress
from tests.fakes.surface import drafted
from tests.on_slack import OnSlack
from tests.platforms import ANSWER, progress
from tests.servers.slack import Fault, Hold, Reset, refuse

SESSION, STATUS = "agents.sessions.setStatus", "assistant.threads.setStatus"
ADD, REMOVE = "reactions.add", "reactions.remove"


async def place_of(slack: OnSlack) -> Place:
    """Ask, and give where the answer would go."""
    asked = slack.mention()
    workspace = await OneWorkspace(slack.session, slack.workspace.token, slack.server.api_url).only()
    return Place(workspace, slack.channel.id, asked.ts, asked.ts)


def signs(slack: OnSlack) -> list[str]:
    """Give the calls that put a sign there or took it away, in order."""
    return [one.method for one in slack.server.requests if one.method in (SESSION, STATUS, ADD, REMOVE)]


@pytest.mark.promise("signs-go")
async def test_a_session_is_named_after_the_question_and_works_until_the_end(slack: OnSlack) -> None:
    """So long it can be stopped; a follow-up leaves its name."""
    claim = await slack.asks()
    sessions = slack.server.platform.sessions

    async def written() -> AsyncIterator[Progress]:
        await slack.until(lambda: sessions)
        yield drafted("A robot acts. It ")
        await slack.until(lambda: slack.stands(claim))
        while_shown.append(sessions[slack.channel.id, claim.message.id].status)
        yield ANSWER

    while_shown = list[str]()
    await slack.surface.reply(claim, written())
    more = slack.server.post_as(slack.ada, slack.channel, "And who made it?", claim.message.thread.thread)
    await slack.surface.reply(slack.claim(more), progress(ANSWER))

    session = sessions[slack.channel.id, claim.message.id]
    assert (while_shown, session.status, session.title) == (["processing"], "active", "What is a robot?")
    requests = [one.body for one in slack.server.requests_to(SESSION)]
    assert [one.get("title") for one in requests] == ["What is a robot?", *[None] * 3]
    assert [one.get("initiator_user_id") for one in requests] == [slack.ada.id, None, slack.ada.id, None]


@pytest.mark.promise("signs-go")
@pytest.mark.parametrize(
    ("lacks", "expected"),
    [
        ([], [SESSION, SESSION]),
        ([SESSION], [SESSION, STATUS, STATUS]),
        ([SESSION, STATUS], [SESSION, STATUS, ADD, REMOVE]),
    ],
    ids=["session", "status", "reaction"],
)
async def test_a_workspace_is_shown_the_best_sign_that_it_knows(
    slack: OnSlack, lacks: list[str], expected: list[str]
) -> None:
    """It goes at the end, and the workspace is not asked again for what it lacks."""
    slack.workspace.lacks.update(lacks)
    place, indicator = await place_of(slack), Indicator()

    async with indicator.shown(place):
        await slack.until(lambda: signs(slack)[-1:] == expected[len(lacks) : len(lacks) + 1])
    first = signs(slack)
    async with indicator.shown(place):
        pass

    assert (first, signs(slack)[len(first) :]) == (expected, expected[len(lacks) :])
    assert slack.server.platform.statuses == {}
    assert slack.server.platform.messages[place.channel, place.asked].reactions.get("eyes", []) == []


@pytest.mark.promise("signs-go")
async def test_the_older_sign_is_renewed_until_the_first_words_and_ends_with_the_run(slack: OnSlack) -> None:
    """Slack takes it away after two minutes; an answer that never comes leaves none."""
    slack.workspace.lacks.add(SESSION)
    turns, waited = asyncio.Queue[None](), list[float]()

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        await turns.get()

    async with Indicator(sleep=sleep).shown(await place_of(slack)) as stop:
        turns.put_nowait(None)
        await slack.until(lambda: len(slack.server.requests_to(STATUS)) == 2)
        stop()

    assert [one.body["status"] for one in slack.server.requests_to(STATUS)] == [SEARCHING, SEARCHING, ""]
    running = [task for task in asyncio.all_tasks() if "Indicator" in repr(task)]
    assert (waited[0] < 120.0, running) == (True, [])


@pytest.mark.promise("signs-go")
async def test_a_sign_goes_when_nobody_wants_the_answer_any_more(slack: OnSlack) -> None:
    """However a run ends."""
    claim = await slack.asks()

    async def written() -> AsyncIterator[Progress]:
        await slack.until(lambda: slack.server.platform.sessions)
        replying.cancel()
        yield drafted("")
        await asyncio.Event().wait()

    replying = asyncio.create_task(slack.surface.reply(claim, written()))
    await asyncio.wait([replying])

    assert slack.server.platform.sessions[slack.channel.id, claim.message.id].history == ["processing", "active"]


@pytest.mark.promise("signs-go")
@pytest.mark.parametrize("inherits", [False, True])
async def test_a_sign_goes_although_the_platform_is_away_for_a_moment(slack: OnSlack, inherits: bool) -> None:
    """Nobody would take it away later, once the question is done."""
    place, sessions, left = await place_of(slack), slack.server.platform.sessions, AsyncExitStack()
    stop = await left.enter_async_context(Indicator().shown(place))
    await slack.until(lambda: sessions)
    stop()
    slack.server.faults.add(SESSION, Reset())
    await (Indicator().take_away(place) if inherits else left.aclose())

    assert [session.history for session in sessions.values()] == [["processing", "active"]]
    assert slack.server.faults.met == [Reset()]


@pytest.mark.promise("signs-go")
async def test_whoever_has_no_time_for_the_end_of_a_sign_leaves_no_task_behind(slack: OnSlack) -> None:
    """Whoever takes over the question takes the sign away."""
    place, never, shown = await place_of(slack), asyncio.Event(), asyncio.Event()
    slack.server.faults.break_(SESSION, Hold(never))

    async def answer() -> None:
        async with Indicator().shown(place):
            await slack.until(slack.is_met)
            shown.set()

    answering = asyncio.create_task(answer())
    await shown.wait()
    await asyncio.sleep(0)
    answering.cancel()
    await asyncio.wait({answering})

    assert [task for task in asyncio.all_tasks() if "Indicator" in repr(task)] == []
    assert answering.cancelled()


@pytest.mark.parametrize("fault", [Reset(), refuse("thread_not_found")], ids=["away", "refused"])
async def test_a_sign_that_cannot_be_shown_costs_nothing(slack: OnSlack, fault: Fault) -> None:
    """It is not tried another way."""
    slack.server.faults.break_(SESSION, fault)
    claim = await slack.asks()

    async def written() -> AsyncIterator[Progress]:
        await slack.until(slack.is_met)
        yield ANSWER

    await slack.surface.reply(claim, written())

    assert ["A robot acts." in text for text in slack.stands(claim)] == [True]
    assert set(signs(slack)) == {SESSION}


@pytest.mark.promise("signs-go")
async def test_more_signs_than_slack_lets_be_taken_away_are_not_shown(slack: OnSlack) -> None:
    """One that stayed would offer to stop an answer that is there."""
    slack.server.limits.on = True
    indicator = Indicator()
    for _ in range(SIGNS + 10):
        async with indicator.shown(await place_of(slack)):
            pass

    sessions = slack.server.platform.sessions.values()
    assert [session.history for session in sessions] == [["processing", "active"]] * SIGNS
    assert slack.server.limits.refused == []


@pytest.mark.promise("signs-go")
@pytest.mark.parametrize("lacks", [[], [SESSION], [SESSION, STATUS]], ids=["session", "status", "reaction"])
async def test_a_sign_that_a_worker_left_goes_although_no_other_may_be_shown(slack: OnSlack, lacks: list[str]) -> None:
    """Nobody else would take it away."""
    slack.workspace.lacks.update(lacks)
    place, indicator = await place_of(slack), Indicator()
    asked = slack.server.platform.messages[place.channel, place.asked]
    claim = slack.claim(asked)
    stop = await AsyncExitStack().enter_async_context(Indicator().shown(place))
    await slack.until(lambda: slack.signs(claim))
    stop()
    while indicator.budget.take(place.workspace.name):
        pass

    async with indicator.shown(place, inherits=True):
        pass

    assert slack.signs(claim) == []
