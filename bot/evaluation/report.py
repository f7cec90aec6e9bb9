"""The report of an evaluation, as JSON that can be compared with later ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from bot.evaluation.cases import Result
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


class _KnownCase(BaseModel):
    id: str
    values: dict[str, float]


class _KnownRun(BaseModel):
    at: datetime
    cases: tuple[_KnownCase, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a run differs from one that was made *at* an earlier time, and which measures are worse by too much."""

    at: datetime
    differences: Mapping[str, Difference]
    margin: float

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

    @classmethod
    def of(cls, results: Sequence[Result]) -> EvaluationRun:
        """Return a run that has just ended."""
        return cls(results, datetime.now(UTC).replace(microsecond=0))

    @property
    def values(self) -> Mapping[str, Values]:
        """What was measured of each case, by its id."""
        return {result.case.id: values(result) for result in self.results}

    @property
    def passed(self) -> int:
        """How many cases passed."""
        return sum(result.passed for result in self.results)

    @property
    def measured(self) -> Mapping[str, Measured]:
        """What was measured of all cases."""
        return measured(list(self.values.values()))

    def against(self, path: Path, margin: float) -> Comparison:
        """Compare it with a report that was kept. Raises `InvalidInput` for a file that is none."""
        try:
            known = _KnownRun.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            message = f"{path} is not a report of `footnote evaluate --json`. Check the path, or write a new one."
            raise InvalidInput(message, field="against") from error
        return Comparison(known.at, compared(self.values, {case.id: case.values for case in known.cases}), margin)

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
                "worse": list(comparison.worse),
                "differences": {name: asdict(each) for name, each in comparison.differences.items()},
            }
        return json.dumps(report, ensure_ascii=False)


def _told(result: Result) -> dict[str, Any]:
    case, answer = result.case, result.answer
    return {
        "id": case.id,
        "kind": case.kind,
        "question": case.question,
        "status": answer.status.value,
        "passed": result.passed,
        "checks": result.checks,
        "values": values(result),
        "answer": answer.text,
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
            between = f"{shown(kind, each.low)} to {shown(kind, each.high)}"
            yield kind.name, shown(kind, each.mean), between, str(each.cases)


def differences(comparison: Comparison) -> Iterator[Sequence[str]]:
    """Yield a row for each measure that both runs have, after the names of the columns."""
    yield "measure", f"{comparison.at:%d %B %H:%M}", "now", "change", "95% interval", "cases"
    for kind in MEASURES:
        if each := comparison.differences.get(kind.name):
            change = [f"{'+' if one >= 0 else '−'}{shown(kind, abs(one))}" for one in _ends(each.change)]
            before_and_now = shown(kind, each.before), shown(kind, each.now)
            yield kind.name, *before_and_now, change[0], f"{change[1]} to {change[2]}", str(each.change.cases)


def _ends(each: Measured) -> tuple[float, float, float]:
    return each.mean, each.low, each.high
