"""Formulas of Word files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pypandoc
import pytest

from adapters.documents.formulas import LONGEST, _tex_of  # pyright: ignore[reportPrivateUsage] - what no writer makes
from adapters.documents.html import read_word

FORMULAS = {
    r"x^2 + y_1 = z_i^2": "$x^{2} + y_{1} = z_{i}^{2}$",
    r"\frac{a+b}{2}": r"$\frac{a + b}{2}$",
    r"\sqrt{x} + \sqrt[3]{y}": r"$\sqrt{x} + \sqrt[3]{y}$",
    r"\sum_{i=1}^{n} i": r"$∑_{i = 1}^{n} i$",
    r"\left( a \right)": "$(a)$",
    r"\begin{matrix} a & b \\ c & d \end{matrix}": r"$\begin{matrix} a & b \\ c & d \end{matrix}$",
    r"a < b": "$a < b$",
}


@pytest.mark.promise("formats")
@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("mark", ["$", "$$"])
def test_a_formula_of_a_word_file_can_be_read(tmp_path: Path, formula: str, mark: str) -> None:
    """In a line and on its own, with the words around it."""
    pandoc: Any = pypandoc
    file = tmp_path / "a.docx"
    pandoc.convert_text(f"Before {mark}{formula}{mark} after.", "docx", format="markdown", outputfile=str(file))

    text = " ".join(read_word(file.read_bytes()).text.replace("&lt;", "<").split())

    assert text.replace("\u2061", "").replace(" ", "") == f"Before{FORMULAS[formula]}after.".replace(" ", "")


@pytest.mark.parametrize(
    ("xml", "tex"),
    [
        ("<m:r><m:t>a</m:t>", "a"),
        ('<m:r w14:id="1"><w:rPr/><m:t>a</m:t></m:r><m:unknown><m:r><m:t>b</m:t></m:r></m:unknown>', "ab"),
        ("<m:e>" * 5_000 + "<m:t>a</m:t>" + "</m:e>" * 5_000, "a"),
        ("<m:t>a</m:t>" + " " * LONGEST, "a"),
        ("", ""),
    ],
)
def test_what_is_no_formula_keeps_its_letters(xml: str, tex: str) -> None:
    """Cut off, of unknown parts, nested without end, or endless."""
    assert _tex_of(xml) == tex
