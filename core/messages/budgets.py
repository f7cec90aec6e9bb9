"""What people read of limits and budgets: what is used, what is left, and that they are reached, or nearly so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from core.messages.wording import about, counted, joined, moment
from core.model import Budget, BudgetAlert, Holder, Measure, Period, Reached, Spending

NOW = {Period.MINUTE: "this minute", Period.DAY: "today", Period.MONTH: "this month"}
EACH = {Period.MINUTE: "a minute", Period.DAY: "a day", Period.MONTH: "a month"}
WHOM = {
    Holder.PERSON: "each person",
    Holder.THREAD: "each thread",
    Holder.CHANNEL: "each channel",
    Holder.COMMUNITY: "the whole community",
}
NO_PRICES = (
    "I can't count money here, since the person who runs me hasn't set any prices. "
    "Please limit questions or tokens instead."
)
BUDGET_UNCLEAR = "Please give a number, or say that you want to lift the limit."
USED_UP = 100  # percent
AGAIN = "You can ask again in {}."


def limit_reached(reached: Reached, at: datetime) -> str:
    """Return which limit somebody is at, and when it goes on."""
    budget, wait = reached.budget, about(reached.until - at)
    if budget.period is Period.MINUTE:
        return f"That's a lot of questions in a short time. You can ask again in {wait}."
    if reached.is_passing:
        left = f"What is left of the limit for {NOW[budget.period]} is set aside for questions I'm still answering."
        return f"{left} You can try again in {wait}."
    again = AGAIN.format(f"{wait}, {moment(reached.until)}")
    if reached.is_fruitless:
        where = {Holder.PERSON: "for you", Holder.CHANNEL: "in this channel"}.get(budget.holder, "in this community")
        return f"{NOW[budget.period].capitalize()}, I've tried too often {where} without getting to an answer. {again}"
    whose = {Holder.PERSON: "You've", Holder.CHANNEL: "This channel has"}.get(budget.holder, "This community has")
    return f"{whose} reached the limit for {NOW[budget.period]}. {again}"


def budget_alert(alert: BudgetAlert) -> str:
    """Return what moderators are told once in a period: that a budget is nearly used up, or is."""
    budget = alert.budget
    limit = f"limit of {_amount(budget.measure, budget.most)} for {NOW[budget.period]}"
    if alert.in_vain:
        many, end = f"{round(alert.in_vain * budget.most):,}", moment(alert.until)
        tried = (
            f"{NOW[budget.period].capitalize()}, I've tried {many} times in this community without getting to an answer"
        )
        if alert.in_vain > 1:
            return f"{tried}, which is all that its {limit} allows. I'll answer questions again {end}."
        only = "I'll answer only mentions, replies to me and direct messages"
        return f"{tried}, mostly by looking at messages between people. {only} until its next limit begins {end}."
    if alert.percent >= USED_UP:
        return f"This community has used up its {limit}. I'll answer questions again {moment(alert.until)}."
    return (
        f"This community has used {alert.percent}% of its {limit}. "
        f"Once all of it is used, I won't answer questions until the next one begins {moment(alert.until)}."
    )


def spending_lines(spending: Spending) -> Iterator[str]:
    """Return what a community has used today and this month, of which budgets, and what the limits of others are."""
    for period, cost in spending.of_community.items():
        limits = {each.measure: each.most for each in _budgets(spending, Holder.COMMUNITY, period)}
        used = [
            _amount(measure, cost.of(measure), of=limits.get(measure))
            for measure in Measure
            if measure is Measure.QUESTIONS or measure in limits or cost.of(measure)
        ]
        searches = [f"{cost.searches:,} paid search{'' if cost.searches == 1 else 'es'}"] if cost.searches else []
        yield f"Used {NOW[period]}: {joined([*used, *searches])}."
    for holder in (Holder.PERSON, Holder.THREAD, Holder.CHANNEL):
        found = [each for period in EACH for each in _budgets(spending, holder, period)]
        if found:
            limits = joined([f"{_amount(each.measure, each.most)} {EACH[each.period]}" for each in found])
            yield f"For {WHOM[holder]}: at most {limits}."


def left_lines(spending: Spending) -> Iterator[str]:
    """Return what somebody has left of their own budgets, and which one of the community's is used up."""
    own = [use for use in spending.uses if use.budget.holder is Holder.PERSON]
    for use in own:
        left = _amount(use.budget.measure, use.left, of=use.budget.most)
        yield f"What you have left {NOW[use.budget.period]}: {left}. It starts over {moment(use.until)}."
    yield from filter(None, [used_up(spending), "" if own else "You have no limit of your own for a day or a month."])


def used_up(spending: Spending) -> str:
    """Return which budget of a community's is used up for longest; empty if none is."""
    full = [use for use in spending.uses if use.budget.holder is Holder.COMMUNITY and not use.left]
    for use in sorted(full, key=lambda use: use.until)[-1:]:
        limit = f"{_amount(use.budget.measure, use.budget.most)} for {NOW[use.budget.period]}"
        return f"This community has used up its limit of {limit}. It starts over {moment(use.until)}."
    return ""


def budget_line(budget: Budget) -> str:
    """Return how much somebody or something may use."""
    return f"For {WHOM[budget.holder]}: at most {_amount(budget.measure, budget.most)} {EACH[budget.period]}."


def budget_above(allowed: Budget) -> str:
    """Return why moderators cannot set as much as they wanted."""
    return f"That is more than the person who runs me allows. {budget_line(allowed)}"


def budget_ordered(budget: Budget, allowed: Budget | None, *, on: bool, is_new: bool) -> str:
    """Confirm a budget that moderators have set, or lifted; then what the operator *allowed* holds."""
    if on:
        return budget_line(budget) if is_new else f"{budget_line(budget)} It was already set that way."
    lifted = "That limit is lifted." if is_new else "Moderators had set no such limit."
    return f"{lifted} {budget_line(allowed)} That is what the person who runs me allows." if allowed else lifted


def _budgets(spending: Spending, holder: Holder, period: Period) -> Sequence[Budget]:
    return [each for each in spending.budgets if (each.holder, each.period) == (holder, period)]


def _amount(measure: Measure, number: float, *, of: float | None = None) -> str:
    """Return how much something is, *of* how much; the currency is that of the prices, which nobody here knows."""
    if measure is Measure.MONEY:
        return f"{number:,.2f} in money" if of is None else f"{number:,.2f} of {of:,.2f} in money"
    whole = counted(round(number if of is None else of), measure.removesuffix("s"))
    return whole if of is None else f"{round(number):,} of {whole}"
