"""PDF, Word, notebook and HTML files that were made from real lessons hold what the lessons say."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
import typst

from adapters.documents import notebook, pdf
from adapters.documents.folder import Folder
from adapters.documents.page import NotReadable
from core.model import Document

PAGE_HEADING = re.compile(r"^#+ (.*) \{#page=\d+\}$", re.MULTILINE)
PASSWORD = b"""%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [] /Count 0>> endobj
3 0 obj <</Filter /Standard /V 1 /R 2 /P -4 /O <28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A>
/U <28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A>>> endobj
trailer <</Root 1 0 R /Encrypt 3 0 R /ID [<01> <01>] /Size 4>>
%%EOF"""


def letters(text: str) -> str:
    """Give only the letters, so that line breaks, hyphens and quotation marks do not matter."""
    return re.sub(r"[^a-z]", "", text.lower())


def sentences(lesson: Path) -> list[str]:
    """Give the plain sentences of a lesson: no code, formulas, tables, links or marks."""
    body = re.sub(r"\A---\n.*?\n---\n|```.*?```|\$\$.*?\$\$", "", lesson.read_text(encoding="utf-8"), flags=re.DOTALL)
    paragraphs = [part for part in body.split("\n\n") if not re.search(r"[$`|\[\]<>]", part)]
    return [sentence for part in paragraphs for sentence in re.split(r"(?<=[.!?])\s", part) if len(sentence) > 20]


def without_page_breaks(text: str) -> str:
    """Take out the headings under which a section goes on on its next page, or a page has no section."""
    seen = {"Page 1"}

    def first(match: re.Match[str]) -> str:
        is_again = match[1] in seen or match[1].startswith("Page ")
        seen.add(match[1])
        return "" if is_again else match[1]

    return PAGE_HEADING.sub(first, text)


async def documents(folder: Path) -> dict[str, Document]:
    """Read a folder, by name of file."""
    items = [item async for item in Folder(folder, name="made", base_url="https://x.example").documents()]
    return {item.url.rpartition("/")[2]: item for item in items if isinstance(item, Document)}


@pytest.fixture(name="found", scope="module")
def _found(made: Path) -> dict[str, Document]:
    """Read what was made of the lessons, once."""
    return asyncio.run(documents(made))


@pytest.mark.promise("formats")
@pytest.mark.parametrize("kind", ["pdf", "docx", "ipynb", "html"])
def test_every_sentence_of_a_lesson_is_found_in_the_file_made_of_it(
    kind: str, lessons: list[Path], found: dict[str, Document]
) -> None:
    """Nothing that the lesson says in words is lost on the way."""
    for lesson in lessons:
        expected = sentences(lesson)
        text = letters(without_page_breaks(found[f"{lesson.stem}.{kind}"].text))
        assert len(expected) > 20
        assert [sentence for sentence in expected if letters(sentence) not in text] == []


def test_titles_and_anchors_fit_the_kind(found: dict[str, Document]) -> None:
    """A PDF leads to pages, a notebook to headings as Jupyter names them."""
    title = "The Twin’s State: Mirroring the World-State Model"

    assert found["lesson05_twin_state.pdf"].title == title.replace("’", "'")
    assert found["lesson05_twin_state.docx"].title == title
    assert "### 1. Why This Matters {#page=1}" in found["lesson05_twin_state.pdf"].text
    assert "## 1. Why This Matters {#1.-Why-This-Matters}" in found["lesson05_twin_state.ipynb"].text
    assert "\n## 1. Why This Matters\n" in found["lesson05_twin_state.docx"].text
    assert "{#why-this-matters}" in found["lesson05_twin_state.html"].text


BOOK = """
#outline()
#pagebreak()
= Robots
Robots act in the world.
== Grippers
Grippers hold fruit.
#pagebreak()
They let go of it too.
= Wheels
Wheels turn.
"""


def test_the_outline_of_a_pdf_gives_its_sections(tmp_path: Path) -> None:
    """Each leads to its page, and goes on on the next one; the table of contents is not quoted."""
    (tmp_path / "book.typ").write_text(BOOK.replace("#outline()", "#outline()\n" + "= A\n= B\n= C\n= D\n"))

    page = pdf.read(typst.compile(tmp_path / "book.typ"))

    assert page.text.split("\n\n") == [
        "## Robots {#page=2}",
        "Robots act in the world.",
        "### Grippers {#page=2}",
        "Grippers hold fruit.",
        "### Grippers {#page=3}",
        "They let go of it too.",
        "## Wheels {#page=3}",
        "Wheels turn.\n",
    ]


def test_a_pdf_without_an_outline_has_its_pages(tmp_path: Path) -> None:
    """Each under its number."""
    (tmp_path / "book.typ").write_text("Robots act.\n#pagebreak()\nWheels turn.")

    page = pdf.read(typst.compile(tmp_path / "book.typ"))

    assert page.text == "## Page 1 {#page=1}\n\nRobots act.\n\n## Page 2 {#page=2}\n\nWheels turn.\n"


def test_a_pdf_without_text_asks_for_text_recognition(tmp_path: Path) -> None:
    """Scanned pages hold pictures only."""
    library: Any = pypdfium2
    document = library.PdfDocument.new()
    document.new_page(200, 200).close()
    document.save(tmp_path / "scan.pdf")
    document.close()

    with pytest.raises(NotReadable, match=r"^has no text, only pictures; run text recognition \(OCR\) on it first\.$"):
        pdf.read((tmp_path / "scan.pdf").read_bytes())


def test_a_pdf_with_a_password_says_so() -> None:
    """The reason tells what to do."""
    with pytest.raises(NotReadable, match=r"^is protected by a password; save it without one\.$"):
        pdf.read(PASSWORD)


def test_a_notebook_shows_text_code_and_short_results_only() -> None:
    """Pictures and long logs would drown what people wrote."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "source": ["# Title\n", "\n", "## Set up **it**\n", "\n", "Text"]},
        {
            "cell_type": "code",
            "source": "print(1)\n",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["\x1b[31m1\x1b[0m\n"]},
                {"output_type": "display_data", "data": {"image/png": "aGk=", "text/plain": "<Figure>"}},
                {"output_type": "execute_result", "data": {"text/plain": ["'fine'"]}},
                {"output_type": "stream", "text": "\n".join(map(str, range(100)))},
                {"output_type": "error", "ename": "E", "traceback": ["x"]},
            ],
        },
        {"cell_type": "raw", "source": "raw"},
        {"cell_type": "code", "source": "  "},
    ]
    book = {"cells": cells, "metadata": {"kernelspec": {"language": "R"}}, "nbformat": 4}

    page = notebook.read(json.dumps(book).encode())

    numbers = "\n".join(map(str, range(12)))
    results = f"```text\n1\n```\n\n```text\n'fine'\n```\n\n```text\n{numbers}\n...\n```"
    assert page.title == "Title"
    assert page.text == (
        f"# Title\n\n## Set up **it** {{#Set-up-it}}\n\nText\n\n```r\nprint(1)\n```\n\n{results}\n\nraw\n"
    )
