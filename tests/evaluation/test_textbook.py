"""The questions of `textbook.jsonl`, asked of the real textbook with nothing configured."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("textbook.jsonl")


def run(data: Path, *words: str) -> str:
    """Run the real command on a data folder and give what it prints."""
    command = [sys.executable, "-m", "bot", *words]
    done = subprocess.run(command, env={"FOOTNOTE_DATA_DIR": str(data)}, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.promise("textbook")
@pytest.mark.timeout(300)  # nearly all of it is work, which a busy machine does slowly
def test_the_textbook_questions_are_answered_as_expected(shared_data: Path, tmp_path: Path) -> None:
    """Each of the five kinds of question retrieves, cites and abstains as it should, by the quoting model."""
    run(
        tmp_path, "ingest", str(shared_data / "docusaurus-textbook" / "docs"), "--base-url", "https://book.example/docs"
    )

    report = json.loads(run(tmp_path, "evaluate", str(CASES), "--json"))

    wrong = {case["id"]: [name for name, held in case["checks"].items() if not held] for case in report["cases"]}
    assert {name: checks for name, checks in wrong.items() if checks} == {}
    assert Counter(case["kind"] for case in report["cases"]) == {
        "single_topic": 5,
        "across_modules": 3,
        "follow_up": 2,
        "out_of_scope": 3,
        "not_in_documents": 2,
    }
