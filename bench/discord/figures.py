"""What the times of one load come to, as rows of a table."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from bench.cohere import percentile
from bench.discord.load import Means, Notes, Outcome
from bench.report import Row, at_most

ACCEPTED = 250.0  # ms, 99th percentile: until a question is put down, or an interaction is acknowledged
VISIBLE = 500.0  # ms, 95th percentile: until the first text, less the model's time and the platform's waits
LAG = 50.0  # ms, 99th percentile: the event loop
OPENINGS, LISTED = "threads", 6


def rows(outcome: Outcome, notes: Notes, spent: dict[int, float], *, means: Means, has_bars: bool) -> list[Row]:
    """Give all rows of a load; a burst is only looked at."""
    found = [*_accepted(outcome, notes, means), *_visible(outcome, notes, spent), *_process(notes), _whole(outcome)]
    kept = found if has_bars else [Row(row.what, row.figure) for row in found]
    return [*kept, *_around(outcome, notes)]


def _accepted(outcome: Outcome, notes: Notes, means: Means) -> Iterator[Row]:
    put = [(notes.put[one.message] - one.at) * 1000 for one in outcome.asked if one.message in notes.put]
    yield _bar("event on the gateway until the question is put down, p99", put, 0.99, ACCEPTED)
    if means is Means.COMMAND:
        deferred = [(one.deferred - one.at) * 1000 for one in outcome.asked if one.deferred]
        yield _bar("interaction until it is deferred, p99", deferred, 0.99, ACCEPTED)


def _visible(outcome: Outcome, notes: Notes, spent: dict[int, float]) -> Iterator[Row]:
    """Tell the way to the first text, in all and less what others took."""
    shown = [(one, (one.first - one.at) * 1000) for one in outcome.asked if one.first and not one.not_found]
    waited = [notes.waited.get(one.message, 0.0) * 1000 for one, _ in shown]
    modelled = [spent.get(one.number, 0.0) * 1000 for one, _ in shown]
    ours = [took - model - wait for (_, took), model, wait in zip(shown, modelled, waited, strict=True)]
    with_waits = [took - model for (_, took), model in zip(shown, modelled, strict=True)]
    yield _bar("event until the first visible text, less the model's time and the waits, p95", ours, 0.95, VISIBLE)
    yield Row("the same with the waits, median and p95", _two(with_waits))
    yield Row("the waits that the platform imposed on it, median and p95", _two(waited))
    yield Row("the model's time until its first words, median and p95", _two(modelled))
    seated = [(notes.claimed[one.message] - notes.put[one.message]) * 1000 for one, _ in shown if _is_noted(one, notes)]
    yield Row("of that, in the line until somebody is free, median and p95", _two(seated))
    whole = [(one.last - one.at) * 1000 for one in outcome.asked if one.last]
    yield Row("event until the whole answer, median and p95", _two(whole))


def _is_noted(one: object, notes: Notes) -> bool:
    message = getattr(one, "message", 0)
    return message in notes.put and message in notes.claimed


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
    yield Row("requests to Discord", f"{total} in {outcome.seconds:.0f} s, {refused} of them too early")
    most = sorted(outcome.requests.items(), key=lambda each: -each[1])[:LISTED]
    yield Row("by route", "; ".join(f"{route}: {count} ({outcome.refused.get(route, 0)})" for route, count in most))
    yield Row("CPU of the bot's process for a question", f"{notes.cpu * 1000 / len(outcome.asked):.0f} ms")
    failures = "; ".join(f"{what}: {count}" for what, count in notes.failures.items())
    yield Row("what the bot reported", failures or "nothing")
    yield Row("questions that the documents do not answer", str(sum(one.not_found > 0 for one in outcome.asked)))


def _bar(what: str, values: Sequence[float], share: float, bar: float) -> Row:
    if not values:
        return Row(what, "nothing was measured", f"at most {bar:g} ms", held=False)
    return at_most(what, percentile(list(values), share), bar, " ms")


def _two(values: Sequence[float]) -> str:
    if not values:
        return "nothing was measured"
    return f"{statistics.median(values):.3g} and {percentile(list(values), 0.95):.3g} ms"
