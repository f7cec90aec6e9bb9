"""What is Slack's own in showing answers: blocks, answers for one person, and places that are closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.chat.delivery import LATE, UPDATED
from adapters.chat.live_message import Pace
from adapters.slack.responses import LEFT_OUT, MOST
from core.errors import PostingFailed
from core.messages import FAILED, ONLY_YOU
from core.model import (
    Answer,
    Claim,
    Delivery,
    Interaction,
    MessageRef,
    Progress,
    Reaction,
    ReplyAddress,
    Status,
    Withdrawal,
)
from tests.fakes.surface import drafted
from tests.on_slack import OVER, POST, OnSlack, OnSlackByEdits
from tests.platforms import ANSWER, CITED, grown, progress, silence
from tests.servers.slack import Message as Posted
from tests.servers.slack import Reset, refuse
from tests.waiting import cancelled

PLAIN = "A robot acts. [1]\n\n[1] Robots › What (docs.example) https://docs.example/robots#what"
LONG = ANSWER.model_copy(update={"text": "\n\n".join(f"Robot {n}. {'word ' * 300}" for n in range(14))})
IN_RESPONSES = "response_url"


async def test_an_answer_is_whole_in_its_blocks_and_in_its_text(slack: OnSlack) -> None:
    """Its footnote is a link, its source stands below, and screen readers hear all of it."""
    claim = await slack.asks()

    delivery = await slack.surface.reply(claim, progress(ANSWER))

    [said] = slack.answers(claim)
    assert [block["type"] for block in said.blocks] == ["markdown", "context", "context_actions"]
    assert said.blocks[0]["text"] == f"A robot acts. [[1]]({CITED.url})"
    assert (said.text, said.thread_ts, said.unfurls) == (PLAIN, claim.message.id, False)
    assert delivery == Delivery(messages=(MessageRef(thread=claim.message.thread, id=said.ts),))


@pytest.mark.parametrize(
    ("answer", "buttons"),
    [
        (ANSWER, ["footnote:vote"]),
        (Answer(id="a", text="Nothing fits.", status=Status.NO_CONTEXT, nearest=(CITED,)), []),
        (Answer(id="a", text="Hello!", status=Status.ANSWERED), []),
        (Answer(id="a", text=FAILED, status=Status.FAILED), ["footnote:retry"]),
        (Answer(id="a", text="Stopped.", status=Status.STOPPED), []),
        (Answer(id="a", text="Not now.", status=Status.REFUSED), []),
    ],
    ids=lambda value: value.status.value if isinstance(value, Answer) else "",
)
async def test_an_answer_bears_the_buttons_that_fit_it(
    by_edits: OnSlackByEdits, answer: Answer, buttons: list[str]
) -> None:
    """While it is written it can be stopped by a button where there is no native one."""
    claim = await by_edits.asks()
    while_written = list[str]()

    async def written() -> AsyncIterator[Progress]:
        yield drafted("A robot acts. It ")
        await by_edits.until(lambda: by_edits.stands(claim))
        while_written.extend(by_edits.answers(claim)[0].action_ids)
        yield answer

    await by_edits.surface.reply(claim, written())

    [said] = by_edits.answers(claim)
    assert (while_written, said.action_ids) == (["footnote:stop"], buttons)


@pytest.mark.parametrize(("minutes", "is_update", "remark"), [(4, False, ""), (6, False, LATE), (6, True, UPDATED)])
async def test_an_answer_says_what_was_odd_about_it(slack: OnSlack, minutes: int, is_update: bool, remark: str) -> None:
    """Readers may remember another one, or not wait any more."""
    claim = replace(await slack.asks(), is_update=is_update)
    begins = claim.question.asked_at + timedelta(minutes=minutes)

    await slack.surfaced(now=lambda: begins).reply(claim, progress(ANSWER))

    assert [found for found in (LATE, UPDATED) if found in slack.stands(claim)[0]] == ([remark] if remark else [])


# For one person only


def seen_by_ada(slack: OnSlack) -> list[Posted]:
    """Give what only Ada sees, and make sure that nobody sees more."""
    said = slack.server.messages(slack.channel, by=slack.workspace.bot)
    assert {message.seen_by for message in said} <= {slack.ada.id}
    return said


@pytest.mark.promise("seen-by-one")
async def test_a_private_answer_takes_the_place_of_what_was_said_before(slack: OnSlack) -> None:
    """One person sees it, whole and at once, and nothing of it is kept to be changed."""
    claim = slack.commanded()

    delivery = await slack.surface.reply(claim, progress(drafted("A robot acts. It "), ANSWER))

    [said] = seen_by_ada(slack)
    [sent] = slack.server.requests_to(IN_RESPONSES)
    assert (said.text, sent.body["replace_original"], delivery) == (PLAIN, True, Delivery())


@pytest.mark.promise("refusals-end")
async def test_an_answer_that_was_meant_for_all_says_why_only_one_sees_it(slack: OnSlack) -> None:
    """In one message with the answer, so that neither takes the other's place."""
    claim = slack.commanded()
    assert claim.address is not None
    address = claim.address.model_copy(update={"message": claim.message})

    await slack.surface.reply(replace(claim, address=address), progress(ANSWER))

    [said] = seen_by_ada(slack)
    assert said.text == f"{PLAIN}\n{ONLY_YOU}"
    assert ONLY_YOU in str(said.blocks)


@pytest.mark.promise("seen-by-one")
async def test_a_private_answer_appears_in_the_thread_that_it_was_asked_from(slack: OnSlack) -> None:
    """Slack is told of the thread, since the address alone leads into the channel."""
    claim, root = slack.commanded(), slack.mention()
    assert claim.address is not None
    address = claim.address.model_copy(update={"thread": slack.thread(root.ts)})

    await slack.surface.reply(replace(claim, address=address), progress(ANSWER))

    [sent] = slack.server.requests_to(IN_RESPONSES)
    assert sent.body["thread_ts"] == root.ts


@pytest.mark.promise("seen-by-one")
async def test_a_private_answer_that_is_too_long_for_its_address_says_what_is_left_out(slack: OnSlack) -> None:
    """An address takes five posts."""
    claim = slack.commanded()

    await slack.surface.reply(claim, progress(LONG))

    said = seen_by_ada(slack)
    assert [message.shown.startswith(LEFT_OUT) for message in said] == [False] * (MOST - 1) + [True]
    assert "(docs.example)" in said[-1].shown


@pytest.mark.promise("seen-by-one")
@pytest.mark.parametrize("is_known", [True, False], ids=["by our clock", "by Slack's"])
async def test_a_private_answer_that_comes_too_late_is_dropped(slack: OnSlack, is_known: bool) -> None:
    """It must not be seen by others, and cannot reach the one."""
    claim = slack.commanded()
    slack.server.clock.advance(OVER.total_seconds())
    now = claim.question.asked_at + (OVER if is_known else timedelta())

    await slack.surfaced(now=lambda: now).reply(claim, progress(ANSWER))

    assert (seen_by_ada(slack), slack.server.requests_to(POST)) == ([], [])


@pytest.mark.promise("seen-by-one")
async def test_a_private_answer_goes_to_nobody_but_slack(slack: OnSlack) -> None:
    """Whatever address a payload names."""
    claim = slack.commanded()
    asked = claim.question
    way = Interaction(id="1", token="https://evil.example/hook", expires_at=asked.asked_at + OVER)

    await slack.surface.reply(
        replace(claim, address=ReplyAddress(thread=claim.message.thread, interaction=way)), progress(ANSWER)
    )

    assert (seen_by_ada(slack), len(slack.refused)) == ([], 1)


# Places that are closed


def _locked(slack: OnSlack, claim: Claim) -> None:
    slack.server.lock(slack.server.platform.messages[slack.channel.id, claim.message.id])


def _archived(slack: OnSlack, _: Claim) -> None:
    slack.channel.is_archived = True


def _restricted(slack: OnSlack, _: Claim) -> None:
    slack.channel.refuses = "restricted_action"


def _away(slack: OnSlack, _: Claim) -> None:
    slack.server.remove_bot(slack.channel, slack.workspace)


def _gone(slack: OnSlack, _: Claim) -> None:
    del slack.server.platform.channels[slack.channel.id]


def _uninstalled(slack: OnSlack, _: Claim) -> None:
    slack.workspace.installation.revoked = "account_inactive"


@pytest.mark.promise("refusals-end")
@pytest.mark.parametrize(
    ("closes", "warnings"),
    [(_locked, 0), (_archived, 0), (_restricted, 1), (_away, 0), (_gone, 0), (_uninstalled, 0)],
    ids=lambda value: value.__name__.strip("_") if callable(value) else "",
)
async def test_where_nothing_may_be_said_the_question_is_marked_if_it_can_be(
    slack: OnSlack, closes: Callable[[OnSlack, Claim], None], warnings: int
) -> None:
    """Somebody hears of it, and trying again would change nothing."""
    claim = await slack.asks()
    closes(slack, claim)

    delivery = await slack.surface.reply(claim, progress(drafted("A robot acts. It "), ANSWER))

    assert (delivery.messages, slack.warnings(claim), slack.refused) == ((), warnings, [claim.message])


async def test_a_question_that_is_deleted_meanwhile_takes_its_answer_along(slack: OnSlack) -> None:
    """There is no thread to post to, and nobody to be warned."""
    claim = await slack.asks()
    asked = slack.server.platform.messages[slack.channel.id, claim.message.id]
    slack.server.delete_as(slack.ada, asked)

    delivery = await slack.surface.reply(claim, progress(drafted("A robot acts. It "), ANSWER))

    assert (delivery, slack.stands(claim), slack.refused) == (Delivery(), [], [])


async def test_an_answer_that_is_deleted_while_it_is_streamed_stays_deleted(slack: OnSlack) -> None:
    """Who deletes it wants none of it."""
    claim = await slack.asks()

    async def written() -> AsyncIterator[Progress]:
        yield drafted("A robot acts. It ")
        await slack.until(lambda: slack.stands(claim))
        slack.removes_answer(claim)
        yield drafted("A robot acts. It moves. It ")
        yield ANSWER

    delivery = await slack.surface.reply(claim, written())

    assert (delivery, slack.stands(claim), slack.warnings(claim)) == (Delivery(), [], 0)


async def test_half_an_answer_that_cannot_be_finished_is_known(slack: OnSlack) -> None:
    """The bot was taken out meanwhile; whoever withdraws the answer later finds what stands there."""
    claim = await slack.asks()

    async def written() -> AsyncIterator[Progress]:
        yield drafted("A robot acts. It ")
        await slack.until(lambda: slack.stands(claim))
        slack.server.faults.break_("chat.stopStream", refuse("not_in_channel"))
        slack.server.faults.break_("chat.update", refuse("not_in_channel"))
        slack.server.faults.break_(POST, refuse("not_in_channel"))
        yield ANSWER

    delivery = await slack.surface.reply(claim, written())

    [said] = slack.answers(claim)
    assert ([message.id for message in delivery.messages], slack.warnings(claim)) == ([said.ts], 1)


@pytest.mark.promise("refusals-end")
async def test_the_next_question_in_a_place_that_refused_costs_no_answer(slack: OnSlack) -> None:
    """It is marked, and whoever runs the bot hears of the first one only."""
    first, second = await slack.asks(), await slack.asks()
    slack.server.faults.break_(POST, refuse("not_in_channel"))

    async def never() -> AsyncIterator[Progress]:
        raise AssertionError("the model was asked")
        yield ANSWER

    await slack.surface.reply(first, progress(ANSWER))
    await slack.surface.reply(second, never())

    assert ([slack.warnings(each) for each in (first, second)], slack.refused) == ([1, 1], [first.message])


async def test_a_platform_that_is_away_is_a_failure(slack: OnSlack) -> None:
    """Another attempt may find it there."""
    slack.server.faults.break_(POST, Reset())
    claim = await slack.asks()

    with pytest.raises(PostingFailed):
        await slack.surfaced(pace=Pace(interval=0.0, longest=0.0, tries=2)).reply(claim, progress(ANSWER))


async def test_a_workspace_that_the_bot_is_not_in_is_no_failure(slack: OnSlack) -> None:
    """Whatever is wanted of it there."""
    claim = await slack.asks()
    place = claim.message.thread.model_copy(update={"workspace": "T9"})
    there = MessageRef(thread=place, id=claim.message.id)
    elsewhere = replace(claim, question=claim.question.model_copy(update={"message": there}))

    delivery = await slack.surface.reply(elsewhere, progress(ANSWER))
    await slack.surface.react(elsewhere, Reaction.WARNING)
    await slack.surface.withdraw(Withdrawal(there, delivery=Delivery(messages=(there,))))

    assert (delivery, slack.refused, slack.stands(claim)) == (Delivery(), [elsewhere.message], [])


async def test_a_question_that_is_taken_back_leaves_no_words_in_the_title(slack: OnSlack) -> None:
    """A session is named after it."""
    claim = await slack.asks()
    delivery = await slack.surface.reply(claim, grown(lambda: bool(slack.stands(claim))))
    session = slack.server.platform.sessions[slack.channel.id, claim.message.thread.thread]
    before = session.title

    await slack.surface.withdraw(Withdrawal(claim.message, delivery=delivery))

    assert (before, session.title, slack.stands(claim)) == ("What is a robot?", "Question removed", [])


@pytest.mark.promise("deletions-count")
async def test_it_leaves_none_also_where_nothing_was_posted_yet(slack: OnSlack) -> None:
    """Its worker was killed while it searched, and the session had its title."""
    claim = await slack.asks()
    working = asyncio.create_task(slack.surface.reply(claim, silence()))
    sessions, key = slack.server.platform.sessions, (slack.channel.id, claim.message.thread.thread)
    await slack.server.until(lambda: key in sessions and bool(sessions[key].title), what="the title")
    await cancelled(working)
    before = sessions[key].title

    await slack.surface.withdraw(Withdrawal(claim.message, was_released=True))

    assert (before, sessions[key].title) == ("What is a robot?", "Question removed")
