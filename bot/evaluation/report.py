"""The report of an evaluation, as JSON that can be compared with later ones."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from bot.evaluation.cases import Case, Result, missing, unwanted
from bot.evaluation.measures import (
    MEASURES,
    Difference,
    Measured,
    QualityMeasure,
    Values,
    compared,
    measured,
    times,
    values,
)
from core.errors import InvalidInput
from core.messages import counted
from core.model.question import QuestionText


class _KnownCase(BaseModel):
    id: str
    question: QuestionText
    before: tuple[QuestionText, ...] | None = None  # which earlier versions did not tell
    values: dict[str, float]

    def is_same(self, case: Case) -> bool:
        """Return whether a case of this id asks the same."""
        return self.question == case.question and self.before in (None, case.before)


class KnownRun(BaseModel):
    """What is known of an earlier run."""

    at: datetime
    cases: tuple[_KnownCase, ...]

    @classmethod
    def read(cls, path: Path) -> KnownRun:
        """Return the run of which a report was kept. Raises `InvalidInput` for a file that is none."""
        try:
            return cls.model_validate_json(path.read_bytes().removeprefix(BOM_UTF8))
        except (OSError, ValidationError) as error:
            message = f"{path} is not a report of `footnote evaluate --json`. Check the path, or write a new one."
            raise InvalidInput(message, field="against") from error

    def values_of(self, cases: Iterable[Case]) -> Mapping[str, Values]:
        """Return what was measured of those that were asked then as now. Raises `InvalidInput` if there are none."""
        now = {case.id: case for case in cases}
        if both := {each.id: each.values for each in self.cases if each.id in now and each.is_same(now[each.id])}:
            return both
        message = "The earlier run has no case with the id and the question of one of these. Name another report."
        raise InvalidInput(message, field="against")


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a run differs from one that was made *at* an earlier time, and which measures are worse by too much.

    It is made over the `cases` that both have; of those that only one has, it knows how many there are.
    """

    at: datetime
    differences: Mapping[str, Difference]
    margin: float
    cases: int
    only_now: int
    only_before: int

    @property
    def said(self) -> str:
        """Over which cases it is made, and what is worse, in words."""
        over = f"Compared over {counted(self.cases, 'case')}"
        if self.only_now + self.only_before:
            over += f"; left out, as the other run does not ask them: {self.only_now} now, {self.only_before} before"
        return f"{over}. Worse by more than {self.margin:.0%}: {', '.join(self.worse) or 'nothing'}."

    @property
    def worse(self) -> Sequence[str]:
        """The names of the measures that fell by more than the margin."""
        kinds = (kind for kind in MEASURES if kind.name in self.differences)
        return [kind.name for kind in kinds if self.differences[kind.name].is_worse(kind, self.margin)]


@dataclass(frozen=True)
class EvaluationRun:
    """What became of all cases, with what can be said of them together."""

    results: Sequence[Result]
    at: datetime

    @cached_property
    def values(self) -> Mapping[str, Values]:
        """What was measured of each case, by its id."""
        return {result.case.id: values(result) for result in self.results}

    @property
    def passed(self) -> int:
        """How many cases passed."""
        return sum(result.passed for result in self.results)

    @cached_property
    def measured(self) -> Mapping[str, Measured]:
        """What was measured of all cases."""
        return measured(list(self.values.values()))

    def against(self, known: KnownRun, margin: float) -> Comparison:
        """Compare it with an earlier one. Raises `InvalidInput` if they have no case in common."""
        before = known.values_of(result.case for result in self.results)
        both, now, then = len(before), len(self.results), len(known.cases)
        return Comparison(known.at, compared(self.values, before), margin, both, now - both, then - both)

    def as_json(self, comparison: Comparison | None) -> str:
        """Return all of it as one JSON object."""
        report: dict[str, Any] = {
            "at": self.at.isoformat(),
            "passed": self.passed,
            "total": len(self.results),
            "measures": {name: asdict(each) for name, each in self.measured.items()},
            "milliseconds": {name: {"p50": p50, "p95": p95} for name, (p50, p95) in times(self.results).items()},
            "cases": [_told(result) for result in self.results],
        }
        if comparison is not None:
            report["against"] = {
                "at": comparison.at.isoformat(),
                "cases": comparison.cases,
                "left_out": {"now": comparison.only_now, "before": comparison.only_before},
                "worse": list(comparison.worse),
                "differences": {name: asdict(each) for name, each in comparison.differences.items()},
            }
        return json.dumps(report, ensure_ascii=False)


def _told(result: Result) -> dict[str, Any]:
    case, answer = result.case, result.answer
    return {
        "id": case.id,
        "kind": case.kind,
        "before": case.before,
        "question": case.question,
        "reference": case.reference,
        "status": answer.status.value,
        "passed": result.passed,
        "checks": result.checks,
        "missing": missing(case, answer.text),
        "unwanted": unwanted(case, answer.text),
        "values": values(result),
        "answer": answer.text,
        "tool_calls": [each.model_dump() for each in answer.tool_calls],
        "cited": [citation.url for citation in answer.citations],
        "found": list(result.found or ()),
        "sentences": [asdict(each) for each in answer.sentences],
        "milliseconds": {
            "search": answer.retrieval_time_ms,
            "first words": answer.first_token_time_ms,
            "model": answer.generation_time_ms,
            "in total": answer.total_time_ms,
        },
        "usage": {**answer.usage.model_dump(), "cost": answer.cost},
    }


def shown(kind: QualityMeasure, value: float) -> str:
    """Return a value as people read it."""
    return f"{value:.1%}" if kind.is_share else f"{value:,.4g}{kind.unit}"


def measures_of(run: EvaluationRun) -> Iterator[Sequence[str]]:
    """Yield a row for each measure, after the names of the columns."""
    found = run.measured
    yield "measure", "mean", "95% interval", "cases"
    for kind in MEASURES:
        if each := found.get(kind.name):
            yield kind.name, shown(kind, each.mean), _between(each, partial(shown, kind)), str(each.cases)


def differences(comparison: Comparison) -> Iterator[Sequence[str]]:
    """Yield a row for each measure that both runs have, after the names of the columns."""
    yield "measure", f"{comparison.at:%d %B %H:%M}", "now", "change", "95% interval", "cases"
    for kind in MEASURES:
        if each := comparison.differences.get(kind.name):
            change, before_and_now = partial(_change, kind), (shown(kind, each.before), shown(kind, each.now))
            between = _between(each.change, change)
            yield kind.name, *before_and_now, change(each.change.mean), between, str(each.change.cases)


def _change(kind: QualityMeasure, value: float) -> str:
    return f"{'+' if value >= 0 else '−'}{shown(kind, abs(value))}"


def _between(each: Measured, say: Callable[[float], str]) -> str:
    return "–" if each.low is None or each.high is None else f"{say(each.low)} to {say(each.high)}"
