"""How good a set of answers is in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import Qrel, R, ScoredDoc, nDCG

from bot.evaluation.cases import Case, Result
from bot.evaluation.measures import MEASURES, compared, measured, ndcg, recall, times, values
from core.model import Answer, CheckedSentence, Citation, Status, Usage

PAGES = [f"p{number}" for number in range(20)]
BY_NAME = {kind.name: kind for kind in MEASURES}


def result(*cited: str, found: Sequence[str] | None = None, pages: Sequence[str] = (), **fields: Any) -> Result:
    """What became of a case in which these addresses are cited."""
    citations = tuple(
        Citation(number=number, chapter="", section="", title="", url=url, relevance_score=1.0)
        for number, url in enumerate(cited, 1)
    )
    case = Case.model_validate({"id": "1", "question": "?", "pages": tuple(pages), **fields.pop("case", {})})
    fields = {"id": "a", "text": "", "status": Status.ANSWERED, **fields}
    return Result(
        case=case,
        answer=Answer(citations=citations, **fields),
        checks={},
        found=None if found is None else tuple(found),
    )


@given(found=st.lists(st.sampled_from(PAGES), unique=True), pages=st.sets(st.sampled_from(PAGES), min_size=1))
def test_rankings_are_measured_as_others_do(found: list[str], pages: set[str]) -> None:
    """With a library that is widely used for that."""
    wanted = [Qrel("q", page, 1) for page in pages]
    run = [ScoredDoc("q", page, -rank) for rank, page in enumerate(found)] or [ScoredDoc("q", "none", 0)]
    others: Any = ir_measures.calc_aggregate([R @ 5, nDCG @ 10], wanted, run)  # pyright: ignore[reportUnknownMemberType] - it also takes data frames

    assert recall(found, sorted(pages)) == pytest.approx(others[R @ 5])
    assert ndcg(found, sorted(pages)) == pytest.approx(others[nDCG @ 10])


def test_a_page_that_is_found_twice_counts_once() -> None:
    """Two of its sections are no two pages."""
    assert ndcg(["a/b#1", "a/b#2"], ["b"]) == 1.0
    assert ndcg(["x", "a/b#2"], ["b"]) == pytest.approx(0.63, abs=0.001)
    assert ndcg(["a/b#2", "x"], ["b", "b", "b#2"]) == 1.0


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (result(), {"acceptable": 1.0, "seconds": 0.0}),
        (result("g/a", "g/c", pages=["a", "b"]), {"citation precision": 0.5, "citation recall": 0.5}),
        (result(found=[], pages=["a"]), {"citation recall": 0.0, "recall@5": 0.0, "answered where it should": 1.0}),
        (result(found=["g/a#1"], pages=["a"]), {"recall@5": 1.0, "nDCG@10": 1.0}),
        (result(sentences=(CheckedSentence("A", 0.5), CheckedSentence("B", 0.0))), {"unsupported sentences": 0.5}),
        (result(case={"should_abstain": True}), {"abstained where it should": 0.0}),
        (result(usage=Usage(prompt_tokens=3, completion_tokens=4), cost=0.5), {"tokens": 7.0, "cost": 0.5}),
    ],
)
def test_what_is_measured_of_one_case(one: Result, expected: dict[str, float]) -> None:
    """Only what it says something about."""
    found = values(one)

    assert {name: found[name] for name in expected} == expected
    assert one.case.pages or not {"recall@5", "nDCG@10", "citation recall", "citation precision"} & found.keys()


def test_the_mean_comes_with_its_interval() -> None:
    """As one draws such cases again; cases of which it says nothing do not count."""
    found = measured([{"acceptable": float(number < 80)} for number in range(100)] + [{}])["acceptable"]
    sure = measured([{"acceptable": 1.0}] * 10)["acceptable"]
    few = measured([{"acceptable": 1.0}] * 9)["acceptable"]

    assert (found.mean, found.cases, sure.low, sure.high) == (0.8, 100, 1.0, 1.0)
    assert (few.mean, few.low, few.high) == (1.0, None, None)
    assert (found.low, found.high) == (pytest.approx(0.72, abs=0.02), pytest.approx(0.88, abs=0.02))


def test_two_runs_are_compared_by_the_cases_that_both_have() -> None:
    """More is better, or worse, by the measure; of what is no share, the margin is one of what it was."""
    ids = "0123456789"
    before = {each: {"acceptable": 1.0, "seconds": 10.0, "tokens": 9.0} for each in ids} | {"old": {"cost": 1.0}}
    now = {
        **{each: {"acceptable": float(each > "4"), "seconds": 10.8, "tokens": 9.0} for each in ids},
        "1": {"acceptable": 0.0, "seconds": 10.8, "tokens": 90.0},
        "new": {"cost": 9.0},
    }
    found = compared(now, before)

    assert found.keys() == {"acceptable", "seconds", "tokens"}
    assert (found["acceptable"].before, found["acceptable"].now) == (1.0, 0.5)
    assert found["acceptable"].change.low == pytest.approx(-0.8, abs=0.1)
    assert found["acceptable"].is_worse(BY_NAME["acceptable"], 0.4)
    assert not found["acceptable"].is_worse(BY_NAME["acceptable"], 0.5)
    assert found["seconds"].is_worse(BY_NAME["seconds"], 0.05)
    assert not found["seconds"].is_worse(BY_NAME["seconds"], 0.1)
    assert not found["tokens"].is_worse(BY_NAME["tokens"], 0.1)  # not surely: one case says so


def test_few_cases_are_not_worse_by_the_clock() -> None:
    """However long they took; what they were worth still counts."""
    before, now = {"acceptable": 1.0, "seconds": 0.1}, {"acceptable": 0.0, "seconds": 9.0}
    found = compared(dict.fromkeys("123456789", now), dict.fromkeys("123456789", before))

    assert not found["seconds"].is_worse(BY_NAME["seconds"], 0.05)
    assert found["acceptable"].is_worse(BY_NAME["acceptable"], 0.05)


def test_the_time_of_each_stage() -> None:
    """The time of writing is what comes after the first words."""
    took: dict[str, Any] = {"retrieval_time_ms": 10.0, "first_token_time_ms": 100.0}

    assert times([result(**took, generation_time_ms=300.0, total_time_ms=320.0)]) == {
        "search": (10.0, 10.0),
        "first words": (100.0, 100.0),
        "writing": (200.0, 200.0),
        "in total": (320.0, 320.0),
    }
