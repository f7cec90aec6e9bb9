"""The questions of `textbook.jsonl`, asked of the real textbook with nothing configured.

Nearly all of the time goes into reading it: the usual run leaves out twelve long pages that no question is about.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.fixtures.commands import Footnote
from tests.portion import WHOLE

CASES = Path(__file__).with_name("textbook.jsonl")
LONG_AND_BESIDE = (
    "setup",
    "resources",
    "troubleshooting-faq.md",
    "week-3-lesson-2-nodes-packages.md",
    "week-4-lesson-1-services-actions.md",
    "isaac-perception-pipeline.md",
    "capstone-simulated-humanoid.md",
)


@pytest.mark.promise("textbook")
@pytest.mark.timeout(300)  # nearly all of it is work, which a busy machine does slowly
def test_the_textbook_questions_are_answered_as_expected(shared_data: Path, fresh: Footnote, tmp_path: Path) -> None:
    """Each of the five kinds of question retrieves, cites and abstains as it should, by the quoting model."""
    whole, book = shared_data / "docusaurus-textbook" / "docs", tmp_path / "docs"
    shutil.copytree(whole, book, ignore=None if WHOLE else shutil.ignore_patterns(*LONG_AND_BESIDE))
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
