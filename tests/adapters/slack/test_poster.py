"""Posts whose confirmation was lost, and blocks that Slack finds fault with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.model import Withdrawal
from tests.on_slack import POST, UPDATE, OnSlack
from tests.platforms import ANSWER, progress
from tests.servers.slack import Fault, Lost, Reply, Reset, limit, refuse

LOOK = "conversations.replies"
BUSY = Reply(502, "<h1>Bad Gateway</h1>", {"Content-Type": "text/html"})


@pytest.mark.promise("posted-once")
@pytest.mark.parametrize(
    ("fault", "looks"),
    [(Lost(), 1), (Reset(), 1), (BUSY, 1), (limit(0.01), 0)],
    ids=["lost", "reset", "busy", "limited"],
)
async def test_a_post_in_doubt_is_looked_up_once_before_it_is_made_again(
    slack: OnSlack, fault: Fault, looks: int
) -> None:
    """What Slack has refused in so many words is in no doubt."""
    claim = await slack.asks()
    slack.server.faults.add(POST, fault)

    await slack.surface.reply(claim, progress(ANSWER))

    posts = len(slack.server.requests_to(POST))
    assert (len(slack.stands(claim)), len(slack.server.requests_to(LOOK))) == (1, looks)
    assert (posts, slack.doubtful) == (1 if fault == Lost() else 2, [])


@pytest.mark.promise("posted-once")
@pytest.mark.parametrize("fault", [limit(60), refuse("missing_scope")], ids=["limited", "not allowed"])
async def test_a_post_that_cannot_be_looked_up_is_made_again_and_somebody_hears_of_it(
    slack: OnSlack, fault: Reply
) -> None:
    """An answer that may stand there twice is better than none."""
    claim = await slack.asks()
    slack.server.faults.add(POST, Lost())
    slack.server.faults.break_(LOOK, fault)

    await slack.surface.reply(claim, progress(ANSWER))

    assert (len(slack.stands(claim)), slack.doubtful) == (2, [claim.message])


async def test_a_mark_that_others_can_read_holds_no_words(slack: OnSlack) -> None:
    """Any app of the workspace may look at it."""
    claim = await slack.asks()

    await slack.surface.reply(claim, progress(ANSWER))

    [said] = slack.answers(claim)
    assert said.metadata is not None
    assert (said.metadata["event_type"], list(said.metadata["event_payload"])) == ("footnote_answer", ["nonce"])
    assert set(said.metadata["event_payload"]["nonce"]) <= set("0123456789abcdef")


@pytest.mark.promise("final-state")
async def test_blocks_that_slack_does_not_take_are_left_out(slack: OnSlack) -> None:
    """The same words stand there as plain text, in the first post and in the change that follows."""
    claim = await slack.asks()
    slack.server.faults.add(POST, refuse("invalid_blocks"))
    slack.server.faults.add(UPDATE, refuse("msg_blocks_too_long"))

    first = await slack.surface.reply(claim, progress(ANSWER))
    [posted] = [message.blocks for message in slack.answers(claim)]
    await slack.surface.reply(replace(claim, delivery=first), progress(ANSWER))

    [said] = slack.answers(claim)
    assert (posted, said.blocks, "A robot acts. [1]" in said.text) == ([], [], True)


async def test_a_message_that_may_not_be_changed_any_more_is_replaced(slack: OnSlack) -> None:
    """Workspaces can close messages after a while."""
    claim = await slack.asks()
    first = await slack.surface.reply(claim, progress(ANSWER))
    slack.server.faults.add(UPDATE, refuse("edit_window_closed"))
    better = ANSWER.model_copy(update={"text": "A robot moves. [1]"})

    second = await slack.surface.reply(replace(claim, delivery=first), progress(better))

    assert (["moves" in text for text in slack.stands(claim)], second == first) == ([True], False)


async def test_an_answer_that_is_still_streamed_can_be_removed(slack: OnSlack) -> None:
    """Whoever wrote it has ended."""
    claim = await slack.asks()
    slack.server.faults.add("chat.delete", refuse("streaming_state_conflict"))
    first = await slack.surface.reply(claim, progress(ANSWER))

    await slack.surface.withdraw(Withdrawal(claim.message, delivery=first))

    assert slack.stands(claim) == []
