"""Answers that readers see grow, and all the ways in which Slack may end that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from adapters.chat.platform import Controls, Part, Posted
from adapters.slack.api import Denied
from adapters.slack.people import People
from adapters.slack.poster import Place
from adapters.slack.signs import STARTS, CallBudget
from adapters.slack.streaming import AnswerPoster, Budgets
from adapters.slack.workspaces import OneWorkspace
from core.errors import RateLimited
from core.model import Answer, Claim, Delivery, Interruption, MessageRef, Progress, Restarted, Status
from tests.fakes.surface import drafted
from tests.on_slack import APPEND, POST, START, STOP, UPDATE, OnSlack
from tests.platforms import ANSWER, CITED, progress
from tests.servers.slack import Fault, Lost, Message, Reset, limit, refuse
from tests.servers.slack import Streaming as Streamed

WHOLE = ANSWER.model_copy(update={"text": "A robot acts. It moves.", "citations": (), "has_relevant_context": True})
DRAFT = Part("A robot", Controls.STOP)
GONE = refuse("message_not_in_streaming_state")
STREAMS = (START, APPEND, STOP, UPDATE, POST)


def calls(slack: OnSlack) -> list[str]:
    """Give the calls that were to show something, in order."""
    return [one.method for one in slack.server.requests if one.method in STREAMS]


def growing(slack: OnSlack, claim: Claim) -> AsyncIterator[Progress]:
    """Give an answer in three pieces, each after readers have seen the one before, or something has gone wrong."""

    async def written() -> AsyncIterator[Progress]:
        yield drafted("A robot acts. It ")
        await slack.until(lambda: slack.is_met() or seen(slack, claim, "A robot acts"))
        yield drafted("A robot acts. It moves. ")
        await slack.until(lambda: slack.is_met() or seen(slack, claim, "It moves"))
        yield WHOLE

    return written()


def seen(slack: OnSlack, claim: Claim, words: str) -> bool:
    """Say whether the bot has answered this."""
    return any(words in shown for shown in slack.stands(claim))


@pytest.mark.promise("streams-degrade")
async def test_an_answer_grows_and_ends_with_what_can_be_done_with_it(slack: OnSlack) -> None:
    """It is started for whoever asked, only added to, and stopped with the buttons and without a word in its mark."""
    claim = await slack.asks()

    delivery = await slack.surface.reply(claim, growing(slack, claim))

    [said] = slack.answers(claim)
    [started], [ended] = slack.server.requests_to(START), slack.server.requests_to(STOP)
    assert said.stream is not None
    assert (said.markdown, said.action_ids, said.stream.state) == (WHOLE.text, ["footnote:vote"], Streamed.STOPPED)
    assert (said.stream.recipient_user_id, said.stream.recipient_team_id) == (slack.ada.id, slack.workspace.team_id)
    assert started.body["thread_ts"] == claim.message.thread.thread
    assert list(ended.body["metadata"]["event_payload"]) == ["nonce"]
    assert calls(slack) == [START, *[APPEND] * (len(said.stream.appended) - 2), STOP]
    assert delivery == Delivery(messages=(MessageRef(thread=claim.message.thread, id=said.ts),))


async def test_a_footnote_is_a_link_as_soon_as_it_is_written(slack: OnSlack) -> None:
    """So the stream goes on into the finished answer, and need not be replaced."""
    claim = await slack.asks()

    async def written() -> AsyncIterator[Progress]:
        yield drafted("A robot acts. [1] And ", CITED)
        await slack.until(lambda: seen(slack, claim, CITED.url))
        yield ANSWER.model_copy(update={"text": "A robot acts. [1] And it moves."})

    await slack.surface.reply(claim, written())

    assert slack.answers(claim)[0].markdown == f"A robot acts. [[1]]({CITED.url}) And it moves."
    assert calls(slack) == [START, STOP]


async def test_an_answer_that_comes_at_once_is_one_post(slack: OnSlack) -> None:
    """There is nothing to be seen growing, and streams are counted."""
    claim = await slack.asks()

    await slack.surface.reply(claim, progress(WHOLE))

    assert calls(slack) == [POST]


@pytest.mark.promise("final-state")
@pytest.mark.promise("posted-once")
@pytest.mark.promise("streams-degrade")
@pytest.mark.parametrize(
    ("method", "fault"),
    [
        (START, Lost()),
        (START, Reset()),
        (START, limit(30)),
        (START, refuse("unknown_method")),
        (START, refuse("channel_type_not_supported")),
        (APPEND, GONE),
        (APPEND, Lost()),
        (APPEND, Reset()),
        (APPEND, limit(0.01)),
        (APPEND, refuse("internal_error")),
        (STOP, GONE),
        (STOP, Lost()),
        (STOP, Reset()),
        (STOP, limit(0.01)),
        (STOP, refuse("msg_blocks_too_long")),
    ],
    ids=str,
)
async def test_however_a_stream_breaks_the_whole_answer_stands_there_once(
    slack: OnSlack, method: str, fault: Fault
) -> None:
    """With every word once, nothing that still seems to be written, and the buttons below it."""
    slack.server.faults.add(method, fault)
    claim = await slack.asks()

    await slack.surface.reply(claim, growing(slack, claim))

    [said] = slack.answers(claim)
    assert "".join(said.shown.split(WHOLE.text, 1)).count("robot") == 0
    assert (WHOLE.text in said.shown, said.action_ids) == (True, ["footnote:vote"])
    assert said.stream is None or said.stream.state is Streamed.STOPPED
    assert (slack.refused, slack.doubtful) == ([], [])


async def test_a_stream_that_has_died_of_age_goes_on_as_edits(slack: OnSlack) -> None:
    """Slack ends it after five minutes, without a word before."""
    claim = await slack.asks()

    async def written() -> AsyncIterator[Progress]:
        yield drafted("A robot acts. It ")
        await slack.until(lambda: seen(slack, claim, "A robot acts"))
        slack.server.clock.advance(300)
        yield drafted("A robot acts. It moves. ")
        await slack.until(lambda: seen(slack, claim, "It moves"))
        yield WHOLE

    await slack.surface.reply(claim, written())

    [said] = slack.answers(claim)
    assert (WHOLE.text in said.shown, said.action_ids) == (True, ["footnote:vote"])
    assert calls(slack) == [START, APPEND, UPDATE, UPDATE]


async def test_a_stream_is_ended_before_it_dies(slack: OnSlack) -> None:
    """After four minutes the same message is edited."""
    now = [0.0]
    poster = await streamer(slack, lambda: now[0])

    posted = await poster.post(DRAFT, "n1")
    now[0] = 241.0
    await poster.edit(posted.id, Part("A robot acts", Controls.STOP))
    await poster.edit(posted.id, Part("A robot acts. It moves."))

    assert posted == Posted(posted.id, DRAFT)
    assert calls(slack) == [START, STOP, UPDATE, UPDATE]


async def streamer(
    slack: OnSlack, clock: Callable[[], float], is_stopped: Callable[[], bool] = lambda: False
) -> AnswerPoster:
    """Make what streams an answer to a mention, by another clock."""
    asked = slack.mention()
    workspaces = OneWorkspace(slack.session, slack.workspace.token, slack.server.api_url)
    place = Place(await workspaces.only(), slack.channel.id, asked.ts, asked.ts)
    return AnswerPoster(
        place=place,
        question=slack.claim(asked).question,
        budgets=Budgets(),
        readers=People(workspaces),
        is_stopped=is_stopped,
        clock=clock,
    )


async def test_words_that_are_taken_back_end_the_stream(slack: OnSlack) -> None:
    """It can only grow, so that the message is edited from then on."""
    claim = await slack.asks()

    async def written() -> AsyncIterator[Progress]:
        yield drafted("Robots are made of cheese. They ")
        await slack.until(lambda: seen(slack, claim, "cheese"))
        yield Restarted()
        await slack.until(lambda: not seen(slack, claim, "cheese"))
        yield WHOLE

    await slack.surface.reply(claim, written())

    assert calls(slack) == [START, STOP, UPDATE, UPDATE]


@pytest.mark.promise("stops-count")
@pytest.mark.parametrize("is_heeded", [True, False])
async def test_a_stream_that_somebody_stopped_ends_with_the_answer_or_goes_on_by_edits(
    slack: OnSlack, is_heeded: bool
) -> None:
    """Slack lets anybody stop a stream, so that alone stops no answer: who may do so is looked up, and then it ends."""
    claim = await slack.asks()

    async def written() -> AsyncIterator[Progress]:
        yield drafted("A robot acts. It ")
        await slack.until(lambda: seen(slack, claim, "A robot acts"))
        slack.server.stop(slack.ada, slack.answers(claim)[0])
        if is_heeded:
            claim.cancelled.set(Interruption.STOPPED)
        yield drafted("A robot acts. It moves. ")
        await slack.until(lambda: is_heeded or seen(slack, claim, "It moves"))
        yield Answer(id="a", text="Stopped.", status=Status.STOPPED) if is_heeded else WHOLE

    await slack.surface.reply(claim, written())

    [said] = slack.answers(claim)
    assert seen(slack, claim, "Stopped." if is_heeded else "A robot acts.")
    assert bool(said.action_ids) is not is_heeded


@pytest.mark.promise("stops-count")
async def test_an_answer_that_was_stopped_shows_no_more_drafts(slack: OnSlack) -> None:
    """Only what it ends with replaces what stands there."""
    has_stopped = [False]
    poster = await streamer(slack, lambda: 0.0, is_stopped=lambda: has_stopped[0])
    posted = await poster.post(DRAFT, "n1")
    slack.server.stop(slack.ada, slack.server.platform.messages[slack.channel.id, posted.id])
    has_stopped[0] = True

    for text in ("A robot acts", "A robot acts. It"):
        with pytest.raises(RateLimited):
            await poster.edit(posted.id, Part(text, Controls.STOP))
    await poster.edit(posted.id, Part("Stopped."))

    assert [one for one in calls(slack) if one != STOP] == [START, UPDATE]


async def test_where_nothing_may_be_posted_a_stream_is_not_followed_by_a_post(slack: OnSlack) -> None:
    """It would be refused as well."""
    poster = await streamer(slack, lambda: 0.0)
    slack.channel.is_archived = True

    with pytest.raises(Denied):
        await poster.post(DRAFT, "n1")

    assert calls(slack) == [START]


async def test_a_limit_of_streams_is_known_to_the_next_answers(slack: OnSlack) -> None:
    """As long as Slack says."""
    slack.server.faults.add(START, limit(30))
    for claim in [await slack.asks() for _ in range(2)]:
        await slack.surface.reply(claim, growing(slack, claim))
        slack.server.faults.met.clear()  # the next one is seen growing

    assert (calls(slack).count(START), calls(slack).count(POST)) == (1, 2)


@pytest.mark.promise("streams-degrade")
async def test_beyond_the_limit_of_streams_answers_are_edits(slack: OnSlack) -> None:
    """Slack counts how many are started, in each workspace."""
    claims = [await slack.asks() for _ in range(STARTS + 1)]
    for claim in claims:
        await slack.surface.reply(claim, growing(slack, claim))

    assert (calls(slack).count(START), calls(slack).count(POST)) == (STARTS, 1)
    assert [WHOLE.text in text for claim in claims for text in slack.stands(claim)] == [True] * len(claims)


def test_streams_are_counted_by_workspace_and_minute() -> None:
    """What Slack asks for besides is kept to as well."""
    now = [0.0]
    budget = CallBudget(2, clock=lambda: now[0])

    taken = [budget.take("T1"), budget.take("T1"), budget.take("T1"), budget.take("T2")]
    now[0] = 60.0
    later = budget.take("T1")
    budget.rest("T1", 30.0)
    resting = budget.take("T1")
    now[0] = 90.0

    assert (taken, later, resting, budget.take("T1")) == ([True, True, False, True], True, False, True)


async def answering(slack: OnSlack, budgets: Budgets, workspace: str = "") -> AnswerPoster:
    """Make what posts an answer to a mention by edits, in a workspace of another name if one is given."""
    asked = slack.mention()
    found = await OneWorkspace(slack.session, slack.workspace.token, slack.server.api_url).only()
    place = Place(replace(found, name=workspace or found.name), slack.channel.id, asked.ts, asked.ts)
    return AnswerPoster(place=place, question=slack.claim(asked).question, budgets=budgets, apart=0.0)


async def test_where_edits_are_too_many_only_the_answer_is_shown(slack: OnSlack) -> None:
    """Each further draft would be refused, and make the answer wait."""
    poster, obsolete = await answering(slack, Budgets()), asyncio.Event()
    posted = await poster.post(DRAFT, "n1", obsolete)
    slack.server.faults.add(UPDATE, limit(30))
    with pytest.raises(RateLimited):
        await poster.edit(posted.id, DRAFT, obsolete)

    waiting = asyncio.create_task(poster.edit(posted.id, DRAFT, obsolete))
    for _ in range(5):
        await asyncio.sleep(0)
    is_waiting = not waiting.done()
    obsolete.set()
    with pytest.raises(RateLimited):
        await waiting
    await poster.edit(posted.id, Part("A robot acts."))

    assert (is_waiting, calls(slack)) == (True, [POST, UPDATE, UPDATE])
    assert slack.server.platform.messages[slack.channel.id, posted.id].shown == "A robot acts."


@pytest.mark.promise("streams-degrade")
async def test_beyond_the_limit_of_edits_answers_are_posted_whole(slack: OnSlack) -> None:
    """Of more posts that grow, Slack would refuse the last edit, and the end of the answer would come late."""
    budgets, whole = Budgets(posts=CallBudget(1), edits=CallBudget(1)), Part("A robot acts.")
    grows, waits, elsewhere = [await answering(slack, budgets, name) for name in ("", "", "T2")]
    open_, over = asyncio.Event(), asyncio.Event()

    posted = await grows.post(DRAFT, "n1", open_)
    await grows.edit(posted.id, DRAFT, open_)
    await elsewhere.post(DRAFT, "n2", open_)
    with pytest.raises(RateLimited):
        await waits.post(DRAFT, "n3", open_)
    with pytest.raises(RateLimited):
        await grows.edit(posted.id, DRAFT, open_)
    over.set()
    with pytest.raises(RateLimited):
        await waits.post(DRAFT, "n3", over)
    await waits.post(whole, "n3")
    await grows.edit(posted.id, whole)

    assert calls(slack) == [POST, UPDATE, POST, POST, UPDATE]


@pytest.mark.promise("streams-degrade")
async def test_a_guest_from_another_company_gets_the_stream_under_their_own_team(slack: OnSlack) -> None:
    """Slack refuses it otherwise."""
    eve = slack.server.add_member(slack.workspace, "eve", team_id="T9", is_stranger=True)
    claim = slack.claim(slack.mention(eve))

    await slack.surface.reply(claim, growing(slack, claim))

    [said] = slack.answers(claim)
    assert said.stream is not None
    assert (said.stream.recipient_user_id, said.stream.recipient_team_id) == (eve.id, "T9")


@pytest.mark.promise("posted-once")
async def test_whoever_takes_over_ends_the_stream_of_a_process_that_is_gone(slack: OnSlack) -> None:
    """What was written is replaced in place."""
    claim = await slack.asks()
    half = await half_written(slack, claim.message)

    delivery = await slack.surface.reply(
        replace(claim, attempt=2, delivery=Delivery(messages=(MessageRef(thread=claim.message.thread, id=half.ts),))),
        progress(WHOLE),
    )

    [said] = slack.answers(claim)
    assert said.stream is not None
    assert (said.ts, said.stream.state, [one.id for one in delivery.messages]) == (half.ts, Streamed.STOPPED, [half.ts])
    assert (WHOLE.text, said.action_ids) == (said.text, ["footnote:vote"])


async def half_written(slack: OnSlack, asked: MessageRef) -> Message:
    """Let a process begin to stream an answer, and end."""
    claim = slack.claim(slack.server.platform.messages[slack.channel.id, asked.id])

    async def written() -> AsyncIterator[Progress]:
        yield drafted("A robot acts. They are made of ")
        await slack.until(lambda: seen(slack, claim, "made of"))
        replying.cancel()
        await asyncio.Event().wait()

    replying = asyncio.create_task(slack.surface.reply(claim, written()))
    await asyncio.wait([replying])
    return slack.answers(claim)[0]
