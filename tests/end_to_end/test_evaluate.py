"""`footnote evaluate`: reading cases, and the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fixtures.commands import Footnote

CASE = {
    "id": "food",
    "kind": "single_topic",
    "question": "What do penguins\u2028eat?",
    "chapters": ["birds"],
}


def test_the_report_as_json_names_each_case_and_check(footnote: Footnote, tmp_path: Path) -> None:
    """A separator of lines inside of a text does not end the line of JSON."""
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(CASE, ensure_ascii=False) + "\n\n", encoding="utf-8")

    ended = footnote("evaluate", str(path), "--json")

    report = json.loads(ended.out)
    assert (ended.code, ended.err, report["passed"], report["total"]) == (0, "", 1, 1)
    assert [(case["id"], case["status"], case["cited"]) for case in report["cases"]] == [
        ("food", "answered", ["https://zoo.example/birds/penguins#food"])
    ]


@pytest.mark.promise("documents-apart")
def test_the_operator_evaluates_all_sources_whoever_may_read_them(footnote: Footnote, tmp_path: Path) -> None:
    """What nobody may read, and what is another community's: what an answer cites is told to the operator alone."""
    path, found = tmp_path / "cases.jsonl", list[object]()
    path.write_text(json.dumps(CASE), encoding="utf-8")
    for audience in (("--nobody",), ("--with", "discord:81384788765712384")):
        shared = footnote("sources", "share", "zoo", *audience)
        report = json.loads(footnote("evaluate", str(path), "--json").out)
        found.append((shared.code, [(case["status"], case["cited"]) for case in report["cases"]]))

    assert found == [(0, [("answered", ["https://zoo.example/birds/penguins#food"])])] * 2


def test_cases_that_cannot_be_read_are_told_in_words(footnote: Footnote, tmp_path: Path) -> None:
    """A missing file is wrong input."""
    ended = footnote("evaluate", str(tmp_path / "none.jsonl"))

    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"The cases in {tmp_path / 'none.jsonl'} cannot be read. Check the path.\n"
