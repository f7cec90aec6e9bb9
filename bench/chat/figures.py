"""What the times of one load come to, as rows of a table."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.chat.load import Asked, Notes, Outcome
from bench.cohere import percentile
from bench.report import Row, at_most

ACCEPTED = 250.0  # ms, 99th percentile: until a question is put down, or an interaction is acknowledged
VISIBLE = 500.0  # ms, 95th percentile: until the first text, less the model's time and the platform's waits
FIRST_MESSAGE, WHOLE = 0.95, 2.6  # seconds, of an answer by itself, with the model's time
LAG = 50.0  # ms, 99th percentile: the event loop
LISTED = 6  # routes


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of a load, as the platform, the bot and the model saw it; *spent* are the model's seconds by number."""

    outcome: Outcome
    notes: Notes
    spent: dict[int, float]


def rows(measured: Measured, *, has_bars: bool = True) -> list[Row]:
    """Give all rows of a load; a burst is only looked at."""
    outcome, notes = measured.outcome, measured.notes
    found = [*_accepted(outcome, notes), *_visible(measured), *_process(notes), _whole(outcome)]
    kept = found if has_bars else [Row(row.what, row.figure) for row in found]
    return [*kept, *_around(outcome, notes)]


def words(measured: Measured) -> list[Row]:
    """Give what a reader waits for who asks alone."""
    asked = measured.outcome.asked
    first = [(one.first - one.at) for one in asked if one.first and not one.not_found]
    last = [(one.last - one.at) for one in asked if one.last]
    return [
        at_most("event until the first message is there, median", statistics.median(first), FIRST_MESSAGE, " s"),
        at_most("event until the whole answer, median", statistics.median(last), WHOLE, " s"),
    ]


def _accepted(outcome: Outcome, notes: Notes) -> Iterator[Row]:
    put = [(notes.put[one.message] - one.at) * 1000 for one in outcome.asked if one.message in notes.put]
    yield _bar("event until the question is put down, p99", put, 0.99, ACCEPTED)
    if outcome.acknowledging:
        heard = [(at - one.at) * 1000 for one in outcome.asked for at in one.acknowledged]
        yield _bar(f"{outcome.acknowledging}, p99", heard, 0.99, ACCEPTED)
        yield at_most("never acknowledged", outcome.unacknowledged, 0)


def _visible(measured: Measured) -> Iterator[Row]:
    """Tell the way to the first text, in all and less what others took."""
    outcome, notes, spent = measured.outcome, measured.notes, measured.spent
    shown = [(one, (one.first - one.at) * 1000) for one in outcome.asked if one.first and not one.not_found]
    waited = [notes.waited.get(one.message, 0.0) * 1000 for one, _ in shown]
    modelled = [spent.get(one.number, 0.0) * 1000 for one, _ in shown]
    ours = [took - model - wait for (_, took), model, wait in zip(shown, modelled, waited, strict=True)]
    with_waits = [took - model for (_, took), model in zip(shown, modelled, strict=True)]
    yield _bar("event until the first visible text, less the model's time and the waits, p95", ours, 0.95, VISIBLE)
    yield Row("the same with the waits, median and p95", two(with_waits))
    yield Row("event until the first visible text, median and p95", two([took for _, took in shown]))
    yield Row("the waits that the platform imposed on it, median and p95", two(waited))
    yield Row("the model's time until its first words, median and p95", two(modelled))
    seated = [(notes.claimed[one.message] - notes.put[one.message]) * 1000 for one, _ in shown if _is_noted(one, notes)]
    yield Row("of that, in the line until somebody is free, median and p95", two(seated))
    whole = [(one.last - one.at) * 1000 for one in outcome.asked if one.last]
    yield Row("event until the whole answer, median and p95", two(whole))


def _is_noted(one: Asked, notes: Notes) -> bool:
    return one.message in notes.put and one.message in notes.claimed


def _process(notes: Notes) -> Iterator[Row]:
    yield _bar("lag of the event loop, p99", notes.late, 0.99, LAG)
    yield Row("lag of the event loop, worst", f"{max(notes.late, default=0):.3g} ms")
    live, most = max(notes.resident, default=(0, 0.0))
    before = notes.resident[0][1] if notes.resident else 0.0
    if live:
        figure = f"{(most - before) * 1000 / live:.0f} kB ({before:.0f} to {most:.0f} MB with {live})"
        yield Row("resident memory per live answer", figure)


def _whole(outcome: Outcome) -> Row:
    wrong = sum(not one.is_whole for one in outcome.asked)
    return at_most(f"answers lost or doubled, of {len(outcome.asked)}", wrong, 0)


def _around(outcome: Outcome, notes: Notes) -> Iterator[Row]:
    """Tell what the load was like."""
    total, refused = sum(outcome.requests.values()), sum(outcome.refused.values())
    yield Row("requests to the platform", f"{total} in {outcome.seconds:.0f} s, {refused} of them too early")
    most = sorted(outcome.requests.items(), key=lambda each: -each[1])[:LISTED]
    yield Row("by route", "; ".join(f"{route}: {count} ({outcome.refused.get(route, 0)})" for route, count in most))
    yield Row("CPU of the bot's process for a question", f"{notes.cpu * 1000 / len(outcome.asked):.0f} ms")
    failures = "; ".join(f"{what}: {count}" for what, count in notes.failures.items())
    yield Row("what the bot reported", failures or "nothing")
    yield from (Row(what, figure) for what, figure in outcome.more)
    yield Row("questions that the documents do not answer", str(sum(one.not_found > 0 for one in outcome.asked)))


def _bar(what: str, values: Sequence[float], share: float, bar: float) -> Row:
    if not values:
        return Row(what, "nothing was measured", f"at most {bar:g} ms", held=False)
    return at_most(what, percentile(list(values), share), bar, " ms")


def two(values: Sequence[float]) -> str:
    """Give the median and the 95th percentile."""
    if not values:
        return "nothing was measured"
    return f"{statistics.median(values):.3g} and {percentile(list(values), 0.95):.3g} ms"
