"""Passages: under their headings, within the limit, and nothing lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.documents.chunking import Chunker, embedding_text
from core.errors import InvalidInput
from core.model import Document, Passage
from tests.portion import examples, portion

CORPORA = {"course-physical-ai/lessons": 325, "docusaurus-textbook/docs": 44}


def count(text: str) -> int:
    """Count words and other marks, as a WordPiece tokenizer does before it looks into words."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def page(text: str, title: str = "Robots") -> Document:
    """A page about robots."""
    return Document(source="docs", url="https://docs.example/robots", title=title, text=text, chapter="one")


def chunk(text: str, limit: int = 60, title: str = "Robots") -> tuple[Passage, ...]:
    """Cut a page about robots."""
    return Chunker(limit, count).chunk(page(text, title), content_hash="h")


def texts(text: str, limit: int = 60) -> list[str]:
    """Cut a page and give the texts of its passages."""
    return [passage.text for passage in chunk(text, limit)]


def words(text: str) -> list[str]:
    """Give the words of a text."""
    return re.findall(r"\w+", text)


def letters(text: str) -> str:
    """Give all letters and digits of a text: what a cut within a word leaves in its place."""
    return "".join(words(text))


def is_part(part: str, whole: str) -> bool:
    """Whether *part* occurs in *whole*, in order, with anything between."""
    rest = iter(whole)
    return all(letter in rest for letter in part)


def body(text: str) -> str:
    """Give all that stands under the headings of a page, as an independent reading of it sees it."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    headings = {i + 1 for i, token in enumerate(tokens) if token.type == "heading_open" and token.level == 0}
    kinds = ("inline", "fence", "code_block")
    return " ".join(t.content for i, t in enumerate(tokens) if t.type in kinds and i not in headings)


def has_open_fence(text: str) -> bool:
    """Whether a fence runs to the end of the text, or of what holds it, without being closed."""
    lines = text.split("\n")
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "fence" and token.map:
            last = lines[token.map[1] - 1].strip(" >\t")
            if token.map[1] - token.map[0] < 2 or set(last) != {token.markup[0]} or len(last) < len(token.markup):
                return True
    return False


def test_a_passage_knows_its_place() -> None:
    """Everything that a footnote and a filter need travels with the passage, under a deterministic id."""
    passages = chunk("# Robots\n\nThey act.\n\n## Sensing\n\nThey see.\n\n### Cameras {#eyes}\n\nTwo of them.")

    assert [(p.section_title, p.source_url, p.text, p.position, p.page_length) for p in passages] == [
        ("", "https://docs.example/robots", "They act.", 0, 3),
        ("Sensing", "https://docs.example/robots#sensing", "They see.", 1, 3),
        ("Sensing › Cameras", "https://docs.example/robots#eyes", "Two of them.", 2, 3),
    ]
    assert {(p.source, p.page_url, p.page_title, p.chapter, p.content_hash) for p in passages} == {
        ("docs", "https://docs.example/robots", "Robots", "one", "h")
    }
    assert len({p.passage_id for p in passages}) == 3
    assert chunk("They act.")[0].passage_id == passages[0].passage_id


def test_the_heading_path_is_embedded_in_front_of_the_text() -> None:
    """What a passage is about often stands only in its headings."""
    (passage,) = chunk("## Sensing\n\nThey see.")

    assert embedding_text(passage) == "Robots › Sensing\n\nThey see."


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("# Robots\n\na", [""]),
        ("# Lesson 1 — Robots\n\na\n\n## B\n\nb", ["", "B"]),
        ("# Machines\n\na\n\n## B\n\nb", ["Machines", "Machines › B"]),
        ("a\n\n# Robots\n\nb", ["", "Robots"]),
        ("## B\n\nb\n\n#### D\n\nd\n\n### C\n\nc", ["B", "B › D", "B › C"]),
        ("## B\n\n## C\n\nc", ["C"]),
        ("Setext\n---\n\nc", ["Setext"]),
        ("## **Bold** and `code` and [a link](x) ##\n\nc", ["Bold and code and a link"]),
        ("```\n# no heading\n```", [""]),
    ],
)
def test_sections_are_named_by_the_headings_below_the_title(text: str, paths: list[str]) -> None:
    """A first heading that repeats the title is no section, and a heading without text makes no passage."""
    assert [passage.section_title for passage in chunk(text)] == paths


def test_anchors_count_headings_everywhere() -> None:
    """A heading in a quote opens no section but takes its anchor away from the next one of the same name."""
    passages = chunk("## A\n\n> ## B\n\n## B\n\nb\n\n## !\n\nc")

    assert [p.source_url.partition("#")[2] for p in passages] == ["a", "b-1", ""]


def test_an_anchor_cannot_break_out_of_a_link() -> None:
    """An explicit anchor is somebody's text: it is percent-encoded."""
    (passage,) = chunk("## A {#a) [x](evil}\n\na")

    assert passage.source_url == "https://docs.example/robots#a%29%20%5Bx%5D%28evil"


def test_small_neighbours_share_a_passage() -> None:
    """Paragraph, list, code and table of one section stay together and as they were written."""
    text = "Do this:\n\n1. one\n2. two\n\n```py\nrun()\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted"

    assert texts(text, 80) == [text]


def test_a_long_fence_is_cut_between_lines_and_fenced_again() -> None:
    """Each piece of a program is a fence of its language."""
    lines = [f"step_{n}(a, b)" for n in range(10)]

    pieces = texts("```python title='x.py'\n" + "\n".join(lines) + "\n```", 60)

    assert all(re.fullmatch(r"```python title='x.py'\n(?:step_\d\(a, b\)\n)+```", piece) for piece in pieces)
    assert words(" ".join(re.sub("```.*", "", piece) for piece in pieces)) == words(" ".join(lines))


def test_a_program_that_shows_fences_stays_inside_its_own() -> None:
    """Marks of one kind inside are closed in by the other; where both are inside, a line of tildes is shortened."""
    assert texts("````\n```\ncode\n```\n````") == ["~~~\n```\ncode\n```\n~~~"]
    assert texts("`````\n```\n~~~~\n`````") == ["~~~\n```\n~~\n~~~"]


def test_a_long_table_is_cut_between_rows_under_its_header() -> None:
    """Each piece of a table can be read by itself."""
    rows = [f"| joint{n} | {n} |" for n in range(12)]

    pieces = texts("\n".join(["| name | id |", "|------|------|", *rows]), 60)

    assert all(piece.startswith("| name | id |\n|---|---|\n| joint") for piece in pieces)
    assert [row for piece in pieces for row in piece.split("\n")[2:]] == rows


def test_a_table_header_as_wide_as_a_passage_is_cut_like_a_row() -> None:
    """It stands once, in front of the rows, and nothing of it is lost."""
    names = [f"name{n}" for n in range(40)]
    table = f"| {' | '.join(names)} |\n|{'---|' * 40}\n| first | second |"

    pieces = texts(table, 40)

    assert words(" ".join(pieces)) == [*names, "first", "second"]
    assert all(count(piece) <= 40 for piece in pieces)


def test_a_long_list_is_cut_between_its_items() -> None:
    """An item stays whole, with what is nested in it."""
    items = [f"- item {n} has some words\n  - and a nested one" for n in range(8)]

    pieces = texts("\n".join(items), 60)

    assert len(pieces) > 1
    assert "\n".join(pieces) == "\n".join(items)


def test_deeply_nested_items_are_kept() -> None:
    """Outlines of many levels exist."""
    text = "\n".join(f"{'  ' * level}- level {level}" for level in range(30))

    assert words(" ".join(texts(text, 60))) == words(text)


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    """No sentence that fits is torn apart, and the parts are of like size."""
    sentences = [f"Sentence {n} says something of its own." for n in range(12)]

    pieces = texts(" ".join(sentences), 60)

    assert " ".join(pieces) == " ".join(sentences)
    assert all(piece.endswith(".") for piece in pieces)
    assert max(map(count, pieces)) - min(map(count, pieces)) <= 8


def test_an_endless_word_is_cut() -> None:
    """A blob that a tokenizer counts as one token does not become one passage."""
    pieces = texts("x" * 100_000)

    assert "".join(pieces) == "x" * 100_000
    assert max(map(len, pieces)) <= 60 * 32


def test_html_blocks_lose_their_tags_and_keep_their_text() -> None:
    """Tags, comments, scripts and styles are not read; fences inside HTML stay fences."""
    text = (
        "<div>\n  <p>Kept <b>text</b></p>\n</div>\n\n<!-- not this -->\n\n<script>\nnot()\n</script>\n\n"
        "<details>\n<summary>More</summary>\n\n```\n<kept>\n```\n\n</details>"
    )

    assert texts(text) == ["Kept text\n\nMore\n\n```\n<kept>\n```"]


def test_html_around_a_fence_leaves_its_indentation() -> None:
    """Indentation is part of a program."""
    assert texts("<div>\n```py\nif a:\n    b\n```\n</div>") == ["```py\nif a:\n    b\n```"]


def test_a_long_program_in_a_list_is_taken_out_of_it() -> None:
    """The number of the item stays, and each piece of the program is a fence."""
    code = "\n".join(f"   step_{n}(a, b)" for n in range(10))

    first, *rest = texts(f"1. ```py\n{code}\n   ```\n2. Done.", 60)

    assert first.startswith("1.\n\n```py\nstep_0(a, b)\n")
    assert rest[-1].endswith("step_9(a, b)\n```\n\n2. Done.")


def test_an_info_string_gives_way_to_the_code() -> None:
    """Where it would fill half of each piece, it is not repeated."""
    pieces = texts("```py a b c d e f g h i j\n" + "x = 1\n" * 20 + "```", 32)

    assert all(re.fullmatch(r"```\n(?:x = 1\n)+```", piece) for piece in pieces)
    assert "".join(pieces).count("x = 1") == 20


def test_sentences_without_spaces_are_told_apart() -> None:
    """Chinese and Japanese put none behind a full stop."""
    text = "".join(f"{n}" + "机器人" * 9 + "。" for n in range(9))

    pieces = [p.text for p in Chunker(80, len).chunk(page(text), content_hash="h")]

    assert "".join(pieces) == text
    assert all(piece.endswith("。") for piece in pieces)


def test_a_fence_that_was_never_closed_is_closed() -> None:
    """A page that forgets to close a fence does not spoil the answer that quotes it."""
    assert texts("- a\n  ```\n  b\n\nc") == ["- a\n\n```\nb\n```\n\nc"]


@pytest.mark.parametrize(
    "text", ["", "\n \n", "## Only\n\n### Headings", "---", "<!-- a comment -->", "```\n```", "\u00a0"]
)
def test_a_page_without_text_has_no_passages(text: str) -> None:
    """There is nothing to find on it."""
    assert chunk(text) == ()


def test_an_overlong_heading_path_leaves_room_for_the_text() -> None:
    """The outer levels go first, then the end of what is left."""
    passages = chunk("## " + "outer " * 50 + "\n\n### Inner\n\na\n\n### " + "x y " * 100 + "\n\nb", title="t " * 80)

    assert passages[0].section_title == "Inner"
    assert passages[1].section_title.endswith("…")
    assert passages[1].page_title.endswith("…")
    assert all(count(embedding_text(passage)) <= 60 for passage in passages)


MADE_UP: Sequence[Callable[[int], str]] = [
    lambda size: "# " + "a " * (size // 4) + "\n\n" + "## b\n\nx\n\n" * (size // 20),
    lambda size: "# " + "a" * (size // 2) + "\n\n" + "x y " * (size // 8),
    lambda size: "# a {#" + "b" * (size // 2) + "}\n\n" + "x y " * (size // 8),
    lambda size: ("#" * 6 + " " + "[" * 500 + "\n\na\n\n") * (size // 510),
    lambda size: "| " + "a " * 20 + "|\n|---|\n" + "| b |\n" * (size // 6),
    lambda size: "- a\n\n" + "  - b\n\n    ```\n    c\n    ```\n" * (size // 40),
    lambda size: "。" * size,
    lambda size: "a" * size,
]


@pytest.mark.promise("bounded-reading")
@pytest.mark.parametrize("made", MADE_UP)
def test_what_is_made_of_a_page_grows_with_it(made: Callable[[int], str]) -> None:
    """What is measured of a page, and what its passages hold, is so many times the page, whoever made it up."""
    text, measured = made(10_000), 0

    def measure(text: str) -> int:
        nonlocal measured
        measured += len(text)
        return count(text)

    passages = Chunker(254, measure).chunk(page(text, title=text), content_hash="h")

    assert measured < 15 * len(text)
    assert sum(len(each.source_url) + len(embedding_text(each)) for each in passages) < 15 * len(text)


def test_of_a_page_with_very_many_passages_only_the_first_are_made() -> None:
    """Whoever asks for so many of them."""
    text = "## a\n\nb\n\n" * 100
    whole = Chunker(60, count).chunk(page(text), content_hash="h")
    first = Chunker(60, count).chunk(page(text), content_hash="h", most=3)

    assert len(whole) == 100
    assert [each.text for each in first] == ["b"] * 3


def test_what_is_too_long_for_a_heading_has_no_anchor() -> None:
    """Its passages lead to the page, and bear the beginning of its words."""
    passages = chunk("# " + "word " * 200 + "\n\na\n\n## Next\n\nb")

    assert [each.source_url for each in passages] == [page("").url, page("").url + "#next"]
    assert passages[0].section_title.startswith("word word")


def test_a_limit_without_room_is_refused() -> None:
    """The message says what is possible."""
    with pytest.raises(InvalidInput, match="31 tokens; it has to be at least 32") as caught:
        Chunker(31, count)

    assert caught.value.field == "limit"


BLOCKS = st.one_of(
    st.text(alphabet="ab1 .\n#>-*|`~\t\\", max_size=60),
    st.sampled_from(
        [
            "# A",
            "## B {#c}",
            "```py\nrun()\n\nrun(2)\n```",
            "~~~\n```\n~~~",
            "````\n```\nx\n~~~\n````",
            "- a\n  ```\n  code\n  ```\n- b",
            "1. one\n\n   two\n   1. three",
            "> quote\n> ```\n> open",
            "| a | b |\n|---|---|\n" + "| one | two three |\n" * 8,
            "    indented ```\n    code",
            "$$ x = y $$",
            ":::note\nText\n:::",
            "Sentence one. " * 12,
            "word ``` word ~~~ " * 10,
        ]
    ),
)
MARKDOWN = st.lists(BLOCKS, max_size=8).map("\n\n".join)


@pytest.mark.promise("whole-passages")
@given(text=MARKDOWN, limit=st.integers(32, 80), measure=st.sampled_from([count, len]))
@settings(deadline=None, max_examples=examples(200))
def test_every_page_keeps_the_rules(text: str, limit: int, measure: Callable[[str], int]) -> None:
    """For every page, limit and measure: no word is lost, nothing is too long, every fence is closed."""
    passages = Chunker(limit, measure).chunk(page(text), content_hash="h")

    check_rules(text, passages)
    assert [p.text for p in passages if measure(embedding_text(p)) > limit] == []


def check_rules(text: str, passages: tuple[Passage, ...]) -> None:
    """Assert what holds for every page."""
    assert [p.text for p in passages if has_open_fence(p.text)] == []
    assert [p.text for p in passages if not p.text.strip()] == []
    assert [p.position for p in passages] == list(range(len(passages)))
    assert is_part(letters(body(text)), letters("".join(p.text for p in passages)))


@pytest.mark.parametrize("folder", CORPORA)
def test_real_pages_keep_the_rules(shared_data: Path, folder: str) -> None:
    """Every page of the real corpora is cut without loss, and within the limit of the embedded default."""
    documents = list(corpus(shared_data / folder))

    for document in portion(documents):
        passages = Chunker(240, count).chunk(document, content_hash="h")
        check_rules(document.text, passages)
        assert [p.text for p in passages if count(embedding_text(p)) > 240] == []
    assert len(documents) == CORPORA[folder]


def corpus(folder: Path) -> Iterator[Document]:
    """Give the pages of a folder without their front matter."""
    for path in sorted(folder.rglob("*.md")):
        text = re.sub(r"\A---\n.*?\n---\n", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        yield page(text, title=path.stem)
