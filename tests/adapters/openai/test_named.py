"""The page about chat models promises nothing that is not tested."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "models.md"
ASKING = HERE.parents[1] / "unit" / "test_abstaining.py"  # of what the core asks of any model


def test_each_row_of_the_page_about_models_names_a_test() -> None:
    """The test is there, and is one of the model's."""
    rows = re.findall(r"^\| .+ \|$", PAGE.read_text(), re.MULTILINE)
    named = [re.search(r"`(test_\w+)` \|$", row) for row in rows if not row.startswith(("| service |", "| what the"))]
    tests = {
        node.name
        for path in (*HERE.glob("test_*.py"), ASKING)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }

    assert (len(named) > 25, all(named)) == (True, True)
    assert {found[1] for found in named if found} - tests == set()
