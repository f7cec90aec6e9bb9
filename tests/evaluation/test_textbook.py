"""The questions of `textbook.jsonl`, asked of the real textbook with nothing configured."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.fixtures.commands import Footnote

CASES = Path(__file__).with_name("textbook.jsonl")


@pytest.mark.promise("textbook")
@pytest.mark.timeout(300)  # nearly all of it is work, which a busy machine does slowly
def test_the_textbook_questions_are_answered_as_expected(shared_data: Path, fresh: Footnote) -> None:
    """Each of the five kinds of question retrieves, cites and abstains as it should, by the quoting model."""
    book = shared_data / "docusaurus-textbook" / "docs"
    read = fresh("ingest", str(book), "--base-url", "https://book.example/docs")
    asked = fresh("evaluate", str(CASES), "--json")

    assert (read.code, asked.code) == (0, 0), read.err + asked.err
    report = json.loads(asked.out)
    wrong = {case["id"]: [name for name, held in case["checks"].items() if not held] for case in report["cases"]}
    assert {name: checks for name, checks in wrong.items() if checks} == {}
    assert Counter(case["kind"] for case in report["cases"]) == {
        "single_topic": 5,
        "across_modules": 3,
        "follow_up": 2,
        "out_of_scope": 3,
        "not_in_documents": 2,
    }
