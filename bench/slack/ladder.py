"""How delivery degrades where a workspace asks more than Slack lets be streamed: a table, and a plot of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.chat.figures import two
from bench.chat.load import Asked
from bench.report import Row, at_most
from bench.slack.load import Step, Way


@dataclass(frozen=True, slots=True)
class Rung:
    """One rate, in questions a minute: the share of answers shown in each way, and times in seconds."""

    rate: int
    shares: tuple[float, ...]
    first: tuple[float, ...]
    whole: tuple[float, ...]


def rungs(steps: Sequence[Step]) -> list[Rung]:
    """Give what the plot shows; the documents answer most questions, and only those are counted."""
    return [_rung(step) for step in steps]


def _rung(step: Step) -> Rung:
    found = [one for one in step.outcome.asked if one.is_answered and not one.not_found]
    shares = tuple(sum(one.way == way for one in found) / max(len(found), 1) for way in Way)
    return Rung(step.rate, shares, _times(found, lambda one: one.first), _times(found, lambda one: one.last))


def _times(found: Sequence[Asked], end: Callable[[Asked], float | None]) -> tuple[float, ...]:
    return tuple((at - one.at) for one in found if (at := end(one)) is not None)


def rows(steps: Sequence[Step]) -> list[Row]:
    """Give the rows of all rates, and what was lost or doubled in all."""
    found = [row for step, rung in zip(steps, rungs(steps), strict=True) for row in _of_rate(step, rung)]
    wrong = sum(not one.is_whole for step in steps for one in step.outcome.asked)
    asked = sum(len(step.outcome.asked) for step in steps)
    return [*found, at_most(f"answers lost or doubled, of {asked}", wrong, 0)]


def _of_rate(step: Step, rung: Rung) -> list[Row]:
    rate, outcome = f"{step.rate} a minute", step.outcome
    shown = ", ".join(f"{share:.0%} {way}" for share, way in zip(rung.shares, Way, strict=True))
    refused = "; ".join(f"{method}: {count}" for method, count in outcome.refused.items())
    return [
        Row(f"{rate}: answers of {len(outcome.asked)}", shown),
        Row(f"{rate}: event until the first text, median and p95", two([each * 1000 for each in rung.first])),
        Row(f"{rate}: event until the whole answer, median and p95", two([each * 1000 for each in rung.whole])),
        *(Row(f"{rate}: {what}", figure) for what, figure in outcome.more[1:]),
        Row(f"{rate}: requests, of these too early", f"{sum(outcome.requests.values())} ({refused or 'none'})"),
    ]
