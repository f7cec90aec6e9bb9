"""Who asks on Slack while many wait is told so, until the answer is there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.chat.platform import NOTICE, BotIdentity, Part, nonce
from adapters.slack.events import SlackChannel
from adapters.slack.workspaces import OneWorkspace
from core.model import Asked, Claim, Delivery, WaitNotice, Withdrawal
from tests.adapters.slack.ears import Place, listening, place_fixture
from tests.adapters.slack.office import Office
from tests.fakes.box import Box
from tests.fakes.waiting_room import FULL, TURN, WORDS, waits
from tests.on_slack import OnSlack
from tests.platforms import ANSWER, progress
from tests.waiting import wait_until

__all__ = ["place_fixture"]


async def told(slack: OnSlack, *, is_known: bool) -> Claim:
    """Ask, be told to wait, and give what a worker holds then; whoever said it may have died over it."""
    claim = await slack.asks()
    mark = nonce(claim.message, NOTICE)
    workspace = await OneWorkspace(slack.session, slack.workspace.token, slack.server.api_url).only()
    channel = SlackChannel(workspace, BotIdentity(workspace.bot_user_id))
    said = await channel.below(claim.message).post(Part(WORDS), mark)
    notice = WaitNotice(thread=claim.message.thread, nonce=mark, id=said.id if is_known else "")
    return replace(claim, delivery=Delivery(notice=notice))


@pytest.mark.promise("full-house")
async def test_who_asks_while_many_wait_is_told_how_long(place: Place) -> None:
    """How long, once in a while in one place, in the thread of the question."""
    box = Box(crowd=FULL)
    async with listening(place, box, waits=waits(box)):
        for number in range(2):
            place.ask(f"What is {number}?")
            await box.question()
        place.direct("And now?")
        await box.question()
        await wait_until(lambda: len(box.notices) == 6, what="the words, and the notes of them")

    said = {one.ts for one in place.server.platform.messages.values() if one.user_id == place.bot.id}
    assert sorted(place.said()) == [TURN, WORDS, WORDS]
    assert {one.id for one in box.notices if one.id} == said


@pytest.mark.promise("never-silent")
async def test_what_could_not_be_put_at_once_and_an_edit_are_waited_for_as_well(place: Place) -> None:
    """Each is told so, as any question is."""
    box = Box(fails=True)

    async def sleep(_: float) -> None:
        box.fails = False

    async with listening(place, box, waits=waits(box), sleep=sleep):
        said = place.ask("What is it?")
        await box.question()
        await wait_until(lambda: len(box.notices) == 2, what="the words, and the notes of them")
        place.server.edit_as(place.ada, said, f"{place.bot.mention} What is a robot?")
        await wait_until(lambda: len(box.notices) == 4, what="them again")

    assert place.said() == [TURN] * 2


@pytest.mark.promise("full-house")
@pytest.mark.parametrize("is_known", [True, False])
async def test_the_words_are_gone_once_the_answer_stands(slack: OnSlack, is_known: bool) -> None:
    """Also where nobody knows whether they were posted; what is noted of the answer holds them until then."""
    claim = await told(slack, is_known=is_known)
    before = slack.stands(claim)
    await slack.surface.reply(claim, progress(ANSWER))

    assert (before, ["A robot acts." in text for text in slack.stands(claim)]) == ([WORDS], [True])
    assert (slack.notes.written[0].notice, slack.notes.written[-1].notice) == (claim.delivery.notice, None)


@pytest.mark.promise("full-house")
async def test_words_of_which_the_store_has_lost_the_note_are_gone_with_it(slack: OnSlack) -> None:
    """What was posted may be unknown to whoever takes a question after the server has started again."""
    claim = await told(slack, is_known=True)
    await slack.surface.reply(replace(claim, was_released=True, delivery=Delivery()), progress(ANSWER))

    assert ["A robot acts." in text for text in slack.stands(claim)] == [True]


@pytest.mark.promise("deletions-count")
@pytest.mark.parametrize("is_known", [True, False])
async def test_the_words_go_with_the_question(slack: OnSlack, is_known: bool) -> None:
    """As the answer would."""
    claim = await told(slack, is_known=is_known)
    await slack.surface.withdraw(Withdrawal(claim.message, delivery=claim.delivery))

    assert slack.stands(claim) == []


@pytest.mark.promise("never-silent")
@pytest.mark.parametrize("option", ["", "--private "])
async def test_that_a_command_waits_is_said_where_its_answer_will_be(option: str) -> None:
    """In the thread of the message that stands for it, or in place of what its asker alone sees."""
    async with Office.at_work() as office, office.open() as commands:
        office.server.slash(office.ada, office.channel, "/footnote", f"ask {option}What is a robot?")
        asked = await office.heard()
        assert isinstance(asked, Asked)
        assert asked.way is not None
        await (await commands.below(asked)).post(Part(WORDS), "n")
        said = [(one.text, one.seen_by, one.thread_ts) for one in office.server.messages(office.channel)]

    assert said[-1] == ((WORDS, office.ada.id, None) if option else (WORDS, None, asked.message.id))
    assert len(said) == (1 if option else 2)
