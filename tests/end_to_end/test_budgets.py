"""How much may be asked: who hears of a limit, where, and how often."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.messages import budget_alert
from core.model import Budget, BudgetAlert, Holder, Period
from tests.end_to_end.community import ANSWER, Town

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
