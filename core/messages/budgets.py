"""What people read of limits and budgets: that they are reached, and that moderators should know."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from core.messages.wording import counted, moment
from core.model import BudgetAlert, Holder, Measure, Period, Reached

NOW = {Period.MINUTE: "this minute", Period.DAY: "today", Period.MONTH: "this month"}
USED_UP = 100  # percent
AGAIN = "You can ask again in {}."


def limit_reached(reached: Reached, at: datetime) -> str:
    """Return which limit somebody is at, and when it goes on."""
    budget, wait = reached.budget, _wait(reached.until - at)
    if budget.period is Period.MINUTE:
        return f"That's a lot of questions in a short time. You can ask again in {wait}."
    if reached.is_passing:
        return f"What is left of the budget is set aside for questions I'm still answering. {AGAIN.format(wait)}"
    whose = {Holder.PERSON: "You've", Holder.CHANNEL: "This channel has"}.get(budget.holder, "This community has")
    return f"{whose} reached the limit for {NOW[budget.period]}. {AGAIN.format(f'{wait}, {moment(reached.until)}')}"


def budget_alert(alert: BudgetAlert) -> str:
    """Return what moderators are told once in a period: that a budget is nearly used up, or is."""
    budget = alert.budget
    limit = f"limit of {_amount(budget.measure, budget.most)} for {NOW[budget.period]}"
    if alert.percent >= USED_UP:
        return f"This community has used up its {limit}. I'll answer questions again {moment(alert.until)}."
    return (
        f"This community has used {alert.percent}% of its {limit}. "
        f"Once all of it is used, I'll answer no questions until the next one begins {moment(alert.until)}."
    )


def _amount(measure: Measure, number: float) -> str:
    """Return how much something is; the currency is that of the prices, which nobody here knows."""
    match measure:
        case Measure.QUESTIONS:
            return counted(round(number), "question")
        case Measure.TOKENS:
            return counted(round(number), "token")
        case Measure.MONEY:
            return f"{number:,.2f} in money"


def _wait(wait: timedelta) -> str:
    """Return how long something takes, as people say it."""
    seconds = max(math.ceil(wait.total_seconds()), 1)
    for least, unit, name in ((172_800, 86_400, "day"), (5_400, 3_600, "hour"), (90, 60, "minute")):
        if seconds >= least:
            return f"about {counted(round(seconds / unit), name)}"
    return f"about {counted(seconds, 'second')}"
