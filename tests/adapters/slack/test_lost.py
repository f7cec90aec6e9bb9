"""What a worker leaves on Slack that died, where the next one cannot simply go on with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from core.events import Event, Passed, Step
from core.model import Progress, Withdrawal
from tests.fakes.surface import drafted
from tests.on_slack import START, OnSlack
from tests.platforms import ANSWER, Worker, progress

DRAFT = drafted("Robots are made of cheese.\n\nAnd")
LONG = ANSWER.model_copy(update={"text": "\n\n".join(f"Robot {n}. {'word ' * 300}" for n in range(4))})


async def left(slack: OnSlack, step: Step) -> tuple[Withdrawal, list[str]]:
    """Have a worker die at a step, and give what is to be withdrawn then, and the signs that it has left."""
    claim, dying = await slack.asks(), Worker(slack.notes, step)

    async def written() -> AsyncIterator[Progress]:
        yield DRAFT
        await slack.until(lambda: slack.stands(claim))
        await asyncio.Event().wait()

    assert await dying.works(slack.surfaced(observer=dying).reply(claim, written()))
    return Withdrawal(claim.message, attempt=2, delivery=slack.notes.written[-1]), slack.signs(claim)


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("step", [Step.POSTED, Step.NOTED])
async def test_what_is_left_is_withdrawn_with_its_question(slack: OnSlack, step: Step) -> None:
    """A stream that is still open, whether it was noted or not, and the session that still seems to work."""
    withdrawal, signs = await left(slack, step)

    await slack.surface.withdraw(withdrawal)

    [said] = slack.server.requests_to(START)
    place = withdrawal.message.thread.channel, withdrawal.message.thread.thread
    session = slack.server.platform.sessions[place]
    assert ("streaming" in signs, said.answer is not None, session.status) == (True, True, "active")
    assert slack.server.messages(slack.channel, by=slack.workspace.bot) == []


@pytest.mark.promise("crash-safe")
async def test_a_stream_is_finished_of_which_no_note_is_left(slack: OnSlack) -> None:
    """The store came back without what it had written last."""
    claim, dying = await slack.asks(), Worker(slack.notes, Step.POSTED)

    async def written() -> AsyncIterator[Progress]:
        yield DRAFT
        await asyncio.Event().wait()

    assert await dying.works(slack.surfaced(observer=dying).reply(claim, written()))
    assert "streaming" in slack.signs(claim)

    await slack.surface.reply(replace(claim, attempt=2), progress(ANSWER))

    assert (len(slack.stands(claim)), slack.signs(claim)) == (1, [])


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("step", [Step.POSTED, Step.EDITED])
async def test_what_came_late_from_a_worker_that_had_lost_the_question_is_removed(slack: OnSlack, step: Step) -> None:
    """It was frozen just before it posted, and woke up when another had answered; what others wrote stays."""
    claim, late = await slack.asks(), Worker(slack.notes, step)
    answered = await slack.surface.reply(replace(claim, attempt=2), progress(ANSWER))
    slack.replies(claim)

    async def written() -> AsyncIterator[Progress]:
        yield DRAFT
        await slack.until(lambda: len(slack.stands(claim)) > 1)
        yield ANSWER

    assert await late.works(slack.surfaced(observer=late).reply(claim, written()))
    doubled = len(slack.stands(claim))
    await slack.surface.reply(replace(claim, attempt=2, delivery=answered), progress(ANSWER))

    assert (doubled, len(slack.stands(claim)), slack.signs(claim)) == (2, 1, [])
    assert len(slack.server.messages(slack.channel)) == 3


@pytest.mark.promise("posted-once")
async def test_a_message_that_comes_between_two_posts_is_not_posted_again(slack: OnSlack) -> None:
    """Of two workers, as a store was emptied, the first does not know yet that the other one has the question too."""
    claim, second = await slack.asks(), asyncio.Event()

    async def written() -> AsyncIterator[Progress]:
        yield drafted(LONG.text[:200])
        await second.wait()
        yield LONG

    def heard(event: Event) -> None:
        if isinstance(event, Passed) and event.step is Step.POSTED:
            second.set()

    first = asyncio.create_task(slack.surface.reply(claim, written()))
    await slack.until(lambda: slack.stands(claim))
    slack.posts_apart = 0.1
    taking_over = slack.surfaced(observer=heard)
    await taking_over.reply(replace(claim, attempt=2), progress(LONG))
    await first

    assert (len(slack.stands(claim)), slack.server.requests_to("chat.delete")) == (2, [])


async def test_a_further_private_message_that_may_stand_there_twice_is_told(slack: OnSlack) -> None:
    """Slack gives these no ids; the first takes the place of what was said before."""
    claim = slack.commanded()
    await slack.surface.reply(claim, progress(LONG))
    before = list(slack.doubtful)

    await slack.surface.reply(replace(claim, attempt=2), progress(LONG))

    said = slack.server.messages(slack.channel, by=slack.workspace.bot)
    assert ([message.seen_by for message in said], before) == ([slack.ada.id] * 3, [])
    assert slack.doubtful == [claim.message]
