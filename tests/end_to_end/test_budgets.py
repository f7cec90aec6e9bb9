"""How much may be asked: who hears of a limit, where, and how often."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from adapters.retry import SERVICE
from bot.settings import Settings
from bot.wiring.stores import open_stores
from core.messages import BUDGET_UNCLEAR, FAILED, NO_PRICES, budget_alert, budget_line
from core.messages.wording import moment
from core.model import Budget, BudgetAlert, Cost, Holder, Period, Reservation
from tests.builders import NOON, question
from tests.end_to_end.community import ANSWER, Room, Town, half_written
from tests.fixtures.redis import clean
from tests.past import let_pass
from tests.servers.openai import Cut

ALL_DAY = Budget(holder=Holder.COMMUNITY, most=5)
USED_UP = "This community has reached the limit for today."


@pytest.mark.promise("budgets-are-told")
async def test_moderators_are_told_once_that_a_budget_is_nearly_used_up_and_once_that_it_is(town: Town) -> None:
    """Where they alone read it, and not again after a restart, whoever asks then."""
    end = Period.DAY.around(datetime.now(UTC))[1]
    async with town.bot(FOOTNOTE_BUDGETS=str(ALL_DAY)):
        for _ in range(5):
            await town.sees(town.community.ask(), ANSWER)
        await town.community.until(lambda: len(town.community.alerts()) > 1, what="two alerts")
    async with town.bot(FOOTNOTE_BUDGETS=str(ALL_DAY)):
        for name in ("Ada", "Bob"):
            asked = town.community.ask(by=name)
            await town.hears(asked, USED_UP)
            await town.remembers(asked)

    told = [budget_alert(BudgetAlert(ALL_DAY, percent, end)) for percent in (80, 100)]
    assert town.community.alerts() == told


@pytest.mark.promise("own-data-is-shown")
async def test_people_see_what_they_have_left_and_what_is_kept_of_them_alone(town: Town) -> None:
    """Of nobody else, and also where a budget of the community is used up, which the status begins with."""
    start = Period.DAY.around(datetime.now(UTC))[1]
    async with town.bot(FOOTNOTE_BUDGETS="person 5 questions day, community 2 questions day"):
        for name in ("Ada", "Bob"):
            asked = town.community.ask(by=name)
            await town.sees(asked, ANSWER)
            await town.remembers(asked)
        before = len(town.community.public())
        told = (await town.community.command("me")).split("\n")
        after = len(town.community.public())
        status = (await town.community.command("status", moderates=True)).split("\n")

    again = f"It starts over {moment(start)}."
    assert [line.replace("*", "") for line in told[:3]] == [
        f"What you have left today: 4 of 5 questions. {again}",
        f"This community has used up its limit of 2 questions for today. {again}",
        "What I store about you here: 1 question with the answers, and 0 votes.",
    ]
    assert (len(told), after - before, status[0]) == (4, 0, told[1])


@pytest.mark.promise("spending-is-known")
async def test_moderators_see_what_their_community_has_used(town: Town) -> None:
    """With the limits that hold."""
    async with town.bot(FOOTNOTE_BUDGETS="person 50 questions day, community 2000 questions day"):
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        status = (await town.community.command("status", moderates=True)).split("\n")

    used, month, limits = status[1:4]
    assert re.fullmatch(r"Used today: 1 of 2,000 questions and [1-9]\d* tokens\.", used)
    assert re.fullmatch(r"Used this month: 1 question and [1-9]\d* tokens\.", month)
    assert limits == "For each person: at most 10 questions a minute and 50 questions a day."
    assert status[4] == "For each thread: at most 20 questions a minute."


@pytest.mark.promise("budgets-are-moderated")
async def test_moderators_lower_a_budget_and_lift_what_they_have_set(town: Town) -> None:
    """Never above the operator's, which they are told; the next question, or edit, goes by what holds then."""
    limit: dict[str, Any] = {"who": "person", "what": "questions", "period": "day"}
    async with town.bot(FOOTNOTE_BUDGETS="person 5 questions day"):
        too_much = await ordered(town, "budget", **limit, most=6)
        lowered = await ordered(town, "budget", **limit, most=1)
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        await town.hears(town.community.ask("And then?"), "You've reached the limit for today.")
        marked = town.community.ask("And what else?")
        await town.community.until(lambda: town.community.is_limited(marked), what="a mark")
        status = await ordered(town, "status")
        lifted = await ordered(town, "budget", **limit, lift=True)
        town.community.edit(marked, "And now?")
        await town.sees(marked, ANSWER)
        assert not town.community.is_limited(marked)
        unclear = await ordered(town, "budget", **limit)
        uncounted = await ordered(town, "budget", who="community", what="money", period="month", most=20)

    theirs, ours = (budget_line(Budget(holder=Holder.PERSON, most=most)) for most in (5, 1))
    assert (too_much, lowered) == (f"That is more than the person who runs me allows. {theirs}", ours)
    assert f"Set by moderators: {ours}" in status
    assert lifted == f"That limit is lifted. {theirs} That is what the person who runs me allows."
    assert (unclear, uncounted) == (BUDGET_UNCLEAR, NO_PRICES)


@pytest.mark.promise("bounded-asking")
async def test_whoever_reaches_a_limit_hears_it_once_then_by_a_few_signs_and_then_nothing(town: Town) -> None:
    """Also after a restart, and where it is asked by a command words come always; others go on."""
    limit = "person 1 questions day"
    asked = list[str]()

    async def asks(count: int) -> None:
        for _ in range(count):
            asked.append(town.community.ask())
            await town.remembers(asked[-1])

    async with town.bot(FOOTNOTE_BUDGETS=limit):
        answered = town.community.ask()
        await town.sees(answered, ANSWER)
        await town.remembers(answered)
        await asks(2)
    async with town.bot(FOOTNOTE_BUDGETS=limit):
        await asks(6)
        words = [len(town.community.told(each)) for each in asked]
        told = await town.community.command("ask", question="What is a robot?")
        await town.sees(town.community.ask(by="Bob"), ANSWER)

    alone = town.community.tells_alone  # then all that the asker alone was told is found beside each question
    assert words == ([1] * 8 if alone else [1, *[0] * 7])
    assert [town.community.is_limited(each) for each in asked] == [False, *[True] * 5, *[False] * 2]
    assert re.search(
        r"You've reached the limit for today\. You can ask again in about .+, on \d+ \w+ at 00:00 UTC", told
    )


@pytest.mark.promise("bounded-asking")
async def test_answers_that_failed_after_they_had_cost_something_are_bounded_too(town: Town) -> None:
    """Twice as many as may be asked are excused; who goes on hears why, and has asked nothing."""
    town.retries = replace(SERVICE, waits=(0.001,))
    for _ in range(20):
        town.chat.say("A robot", then=Cut())
    async with town.bot(FOOTNOTE_BUDGETS="person 1 questions day"):
        for _ in range(2):
            asked = town.community.ask()
            await town.sees(asked, FAILED)
            await town.remembers(asked)
        before = len(town.chat.received)
        told = await town.hears(town.community.ask(), "I've tried too often for you without getting to an answer.")
        left = await town.community.command("me")

    assert re.match(r"Today, I've .+ answer\. You can ask again in about .+, on \d+ \w+ at 00:00 UTC", told)
    assert "1 of 1 question." in left
    assert len(town.chat.received) == before


@pytest.mark.promise("budgets-are-told")
async def test_moderators_hear_that_answers_have_failed_too_often(town: Town) -> None:
    """Once, as of a budget that is used up."""
    town.retries = replace(SERVICE, waits=(0.001,))
    limit, end = ALL_DAY.model_copy(update={"most": 1}), Period.DAY.around(datetime.now(UTC))[1]
    for _ in range(20):
        town.chat.say("A robot", then=Cut())
    async with town.bot(FOOTNOTE_BUDGETS=str(limit)):
        for _ in range(2):
            await town.sees(asked := town.community.ask(), FAILED)
            await town.remembers(asked)
        for name in ("Ada", "Bob"):
            await town.hears(town.community.ask(by=name), "I've tried too often in this community")
        await town.community.until(lambda: len(town.community.alerts()) > 0, what="an alert")

    [told] = town.community.alerts()
    assert told == budget_alert(BudgetAlert(limit, 100, end, in_vain=2))
    assert told.startswith(
        "Today, I've tried 2 times in this community without getting to an answer, which is all that"
    )


@pytest.mark.promise("bounded-asking")
async def test_whoever_asks_while_the_last_question_is_answered_may_try_again_soon(town: Town) -> None:
    """Nobody is sent away until midnight, and no moderator told, by what may still come to nothing."""
    async with town.bot(FOOTNOTE_BUDGETS="community 1 questions day"):
        async with half_written(town) as asked:
            told = await town.hears(town.community.ask("And then?", by="Bob"), "is set aside")
            alerts = town.community.alerts()
        await town.remembers(asked)
        await town.hears(town.community.ask("And now?", by="Bob"), USED_UP)

    assert "You can try again in about 60 seconds." in told
    assert (alerts, len(town.community.alerts())) == ([], 1)


@pytest.mark.promise("bounded-asking")
@pytest.mark.promise("budgets-are-told")
async def test_direct_messages_count_in_the_community_whose_documents_are_read(town: Town) -> None:
    """Its moderators are told, and whoever asks directly sees what they have left there."""
    async with town.bot(FOOTNOTE_BUDGETS="community 1 questions day, person 9 questions day"):
        asked = town.community.ask(room=Room.DIRECT)
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        await town.hears(town.community.ask(by="Bob"), USED_UP)
        again = town.community.ask("And now?", room=Room.DIRECT)
        await town.remembers(again)
        await town.community.until(town.community.alerts, what="an alert")
        left = await town.community.command("me")

    assert len(town.community.alerts()) == 1
    assert "8 of 9 questions" in left


@pytest.mark.promise("bounded-asking")
@pytest.mark.parametrize(("seconds", "lasts"), [(300, 14 * 60), (86_400, 86_400)])
async def test_what_is_set_aside_outlives_the_longest_answer(
    redis_url: str, tmp_path: Path, seconds: int, lasts: int
) -> None:
    """However long the operator lets one take; nobody else is let in on it meanwhile."""
    values: dict[str, Any] = {"REDIS_URL": redis_url, "FOOTNOTE_DATA_DIR": str(tmp_path)}
    values["FOOTNOTE_ANSWER_SECONDS"] = seconds
    one, other = (
        Reservation(
            question=question(id=name),
            run=name,
            most=Cost(questions=1),
            budgets=(Budget(holder=Holder.COMMUNITY, period=Period.MONTH, most=1),),
            at=NOON,
        )
        for name in ("1", "2")
    )
    async with clean(redis_url) as client, open_stores(Settings(**values)) as stores:
        assert await stores.quota.reserve(one) is None
        await let_pass(client, lasts)
        held = await stores.quota.reserve(other)
        await let_pass(client, 15 * 60)
        ended = await stores.quota.would_reach(other)

    assert (held is not None, ended) == (True, None)


async def ordered(town: Town, name: str, **options: Any) -> str:
    """Let a moderator give an order; give the reply."""
    in_order = {each: options[each] for each in ("who", "most", "what", "period", "lift") if each in options}
    return await town.community.command(name, moderates=True, **in_order)
