"""How good a set of answers is in numbers, each with an interval, and how two sets differ."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from statistics import fmean, quantiles
from typing import TypeAlias

from bot.evaluation.cases import Result, is_of
from core.model import Status

RECALL_AT, NDCG_AT = 5, 10
SAID = 0.1  # of the words of a sentence that passages hold; below that readers are told
RESAMPLES = 1_000
FEWEST = 10  # cases of which an interval says something
SURE = 0.95


@dataclass(frozen=True, slots=True)
class QualityMeasure:
    """What is measured: its name, whether more of it is better, and whether it is a share of what could be."""

    name: str
    of: Callable[[Result], float | None]
    is_better: bool = True
    is_share: bool = True
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """The mean of so many cases, and the interval in which it lies in 95 of 100 samples of such cases.

    There is no interval of fewer than `FEWEST` cases: drawn again, one case always has the same mean.
    """

    mean: float
    low: float | None
    high: float | None
    cases: int


def recall(found: Sequence[str], pages: Sequence[str], *, at: int = RECALL_AT) -> float:
    """Return the share of the expected pages that the first sections found belong to."""
    return fmean(any(is_of(page, url) for url in found[:at]) for page in pages)


def ndcg(found: Sequence[str], pages: Sequence[str], *, at: int = NDCG_AT) -> float:
    """Return the normalised discounted cumulative gain of a ranking in which each expected page counts once.

    As in Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques" (2002).
    """
    left, gain, all_of_them = set(pages), 0.0, len(set(pages))
    for rank, url in enumerate(found[:at]):
        hit = {page for page in left if is_of(page, url)}
        gain += len(hit) / log2(rank + 2)
        left -= hit
    return min(gain / sum(1 / log2(rank + 2) for rank in range(min(all_of_them, at))), 1.0)


def _precision(result: Result) -> float | None:
    cited = [citation.url for citation in result.answer.citations]
    return fmean(bool(result.case.names(url)) for url in cited) if cited and result.case.pages else None


def _cited(result: Result) -> float | None:
    urls = [citation.url for citation in result.answer.citations]
    return recall(urls, result.case.pages, at=len(urls)) if result.case.pages else None


def _unsupported(result: Result) -> float | None:
    said = result.answer.sentences
    return fmean(each.support < SAID for each in said) if said else None


def _abstained(result: Result) -> float | None:
    return float(result.answer.status is Status.NO_CONTEXT) if result.case.should_abstain else None


def _answered(result: Result) -> float | None:
    return float(result.answer.status is Status.ANSWERED) if result.case.should_answer else None


def _tokens(result: Result) -> float | None:
    return result.answer.usage.prompt_tokens + result.answer.usage.completion_tokens or None


def _with_pages(measure: Callable[[Sequence[str], Sequence[str]], float]) -> Callable[[Result], float | None]:
    return lambda result: None if result.found is None else measure(result.found, result.case.pages)


MEASURES = (
    QualityMeasure("acceptable", lambda result: float(result.passed)),
    QualityMeasure(f"recall@{RECALL_AT}", _with_pages(recall)),
    QualityMeasure(f"nDCG@{NDCG_AT}", _with_pages(ndcg)),
    QualityMeasure("citation precision", _precision),
    QualityMeasure("citation recall", _cited),
    QualityMeasure("unsupported sentences", _unsupported, is_better=False),
    QualityMeasure("abstained where it should", _abstained),
    QualityMeasure("answered where it should", _answered),
    QualityMeasure(
        "seconds", lambda result: result.answer.total_time_ms / 1000, is_better=False, is_share=False, unit="\u00a0s"
    ),
    QualityMeasure("tokens", _tokens, is_better=False, is_share=False),
    QualityMeasure("cost", lambda result: result.answer.cost, is_better=False, is_share=False),
)
STAGES: Mapping[str, Callable[[Result], float]] = {
    "search": lambda result: result.answer.retrieval_time_ms,
    "first words": lambda result: result.answer.first_token_time_ms,
    "writing": lambda result: result.answer.generation_time_ms - result.answer.first_token_time_ms,
    "in total": lambda result: result.answer.total_time_ms,
}
Values: TypeAlias = Mapping[str, float]


def values(result: Result) -> Values:
    """Return what can be measured of one case."""
    found = {kind.name: kind.of(result) for kind in MEASURES}
    return {name: round(value, 6) for name, value in found.items() if value is not None}


def measured(all_values: Sequence[Values]) -> Mapping[str, Measured]:
    """Return the mean of each measure, of the cases where it can be measured."""
    of_kinds = {kind.name: [each[kind.name] for each in all_values if kind.name in each] for kind in MEASURES}
    return {name: interval(found) for name, found in of_kinds.items() if found}


def times(results: Sequence[Result]) -> Mapping[str, tuple[float, float]]:
    """Return the median and the 95th percentile of each stage, in milliseconds."""
    found: dict[str, tuple[float, float]] = {}
    for name, of in STAGES.items():
        took = [max(of(result), 0.0) for result in results]
        cuts = quantiles(took, n=20, method="inclusive") if len(took) > 1 else took * 19
        found[name] = cuts[9], cuts[18]
    return found


@dataclass(frozen=True, slots=True)
class Difference:
    """How a measure changed from another run *before*, over the cases that both have."""

    before: float
    now: float
    change: Measured

    def is_worse(self, kind: QualityMeasure, margin: float) -> bool:
        """Return whether it got worse by more than the margin.

        What is no share varies from run to run, as machines and services do: there the margin is one of what it was,
        and the whole interval has to be worse, so few cases never are.
        """
        sign = -1 if kind.is_better else 1
        if kind.is_share:
            return sign * self.change.mean > margin
        ends = self.change.low, self.change.high
        is_sure = all(end is not None and sign * end > 0 for end in ends)
        return is_sure and sign * self.change.mean > margin * abs(self.before)


def compared(now: Mapping[str, Values], before: Mapping[str, Values]) -> Mapping[str, Difference]:
    """Return how each measure differs, by the cases (by their ids) where both runs have it."""
    found: dict[str, Difference] = {}
    for kind in MEASURES:
        both = [
            (values[kind.name], before[name][kind.name])
            for name, values in now.items()
            if kind.name in values and kind.name in before.get(name, {})
        ]
        if both:
            change = interval([one - other for one, other in both])
            found[kind.name] = Difference(fmean(other for _, other in both), fmean(one for one, _ in both), change)
    return found


def interval(sample: Sequence[float]) -> Measured:
    """Return the mean, and the percentile interval of its bootstrap, which is the same at each call."""
    if len(sample) < FEWEST:
        return Measured(fmean(sample), None, None, len(sample))
    draw = random.Random(0)  # noqa: S311 - nothing secret
    means = sorted(fmean(draw.choices(sample, k=len(sample))) for _ in range(RESAMPLES))
    tail = round(RESAMPLES * (1 - SURE) / 2)
    return Measured(fmean(sample), means[tail], means[-tail - 1], len(sample))
