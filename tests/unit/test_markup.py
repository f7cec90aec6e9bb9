"""The tree of an answer: what the reader sees of what the model wrote, however it arrives."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from core.answering.citations import Footnotes, Quoted, Sources
from core.answering.dialect import MARKDOWN
from core.answering.markup import MarkupReader, read, shown_blocks
from core.model import Answer, Citation, Status
from core.model.markup import Block, CodeLine, Heading, ListItem, Paragraph, Quote, TableRow, visible
from tests.answers import GROWING, TEXT, make_sources
from tests.portion import examples, portion

FALSE_MARK = re.compile(r"[\[［【〔⟦⁅❲〚]\s*\^?\d[\d\s,;^–—/†-]*[\]］】〕⟧⁆❳〛]")


def document(text: str, sources: Sources | None = None) -> MarkupReader:
    """Read a text at once."""
    whole = MarkupReader(Footnotes(sources or make_sources()))
    whole.feed(text, is_last=True)
    return whole


def certain(reader: MarkupReader) -> list[Block]:
    """Give what may be shown of an answer that is being written."""
    return [*chain(*reader.read())]


def rewrite(text: str) -> str:
    """Give all that is shown of a text."""
    return MARKDOWN.write(document(text).blocks)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Robots sense [2] and act [1].", "Robots sense [1] and act [2]."),
        ("Twice [3], the same [3].", "Twice [1], the same [1]."),
        ("Both [4][2].", "Both [1][2]."),
        ('<data kind="passages">\nBoth [4][2].\n</data>', "Both [1][2]."),
        ("Both [4] [2].", "Both [1][2]."),
        ("Both [4, 2].", "Both [1][2]."),
        ("All [1-3].", "All [1][2][3]."),
        ("All [1\N{EN DASH}3; 5].", "All [1][2][3][4]."),
        ("Doubled [1][1].", "Doubled [1]."),
        ("Doubled [1][2][1].", "Doubled [1][2]."),
        ("Footnote style [^2].", "Footnote style [1]."),
        ("Lenticular \u30102\u2020source\u3011 and ［3］.", "Lenticular [1] and [2]."),
        ("Bold **act [2]**, *[1]*.", "Bold **act [1]**, _[2]_."),
        ("Unknown [9].", "Unknown."),
        ("Unknown [0] and [77] here.", "Unknown and here."),
        ("Half known [2, 9].", "Half known [1]."),
        ("A huge range [1-9999].", "A huge range [1][2][3][4][5]."),
        ("Backwards [3-1].", "Backwards."),
        ("In code `a[1]` and ``b`[2]`` stay.", "In code `a[1]` and ``b`[2]`` stay."),
        ("```py\nx[1] = y[2]\n```\nThen [2].", "```py\nx[1] = y[2]\n```\nThen [1]."),
        ("~~~\n[1]\n```\n[2]\n~~~\n[3]", "````\n[1]\n```\n[2]\n````\n[1]"),
        ("An open fence\n```\nx[9]", "An open fence\n```\nx[9]\n```"),
        ("One ` backtick [9] only.", "One \\` backtick only."),
        ("A task [ ] and [x] and [name].", "A task [ ] and [x] and [name]."),
        ("Go to https://evil.example/x?q=1.", "Go to."),
        ("Go to www.evil.example now.", "Go to now."),
        ("See [the page](https://evil.example).", "See the page."),
        ("See [https://evil.example](https://evil.example).", "See ."),
        ("See ![a picture](https://evil.example/p.png).", "See a picture."),
        ("See ![known](https://docs.example/page1).", "See known."),
        ("See <https://evil.example/a>.", "See."),
        ("See [1](https://evil.example) and [[2]](https://evil.example).", "See [1] and [2]."),
        ("See [this](javascript:alert) and [that](/etc/passwd).", "See this and that."),
        ("See [it](https://docs.example/page1#part).", "See [it](<https://docs.example/page1#part>)."),
        ("Get it at https://tools.example/get.", "Get it at `https://tools.example/get`."),
        ("Get [it](https://tools.example/get).", "Get it."),
        ("Text.\n[1]: https://evil.example\nMore.", "Text.\nMore."),
        ("htt\u200bps:/\u200b/evil.example x", "x"),
        ("a < b and 1 <2", "a < b and 1 <2"),
        ("snake_case and 2 * 3 and C# and a | b", "snake_case and 2 * 3 and C# and a | b"),
        ("***a*** ~~b~~ __c__ *d*e", "**_a_** ~~b~~ **c** *d*e"),
        ("مرحبا\u200fبك نمی\u200cخواهم 👩\u200d👧 a\u200db", "مرحبابك نمی\u200cخواهم 👩\u200d👧 ab"),
        ("", ""),
    ],
)
def test_what_the_model_writes_becomes_footnotes(written: str, shown: str) -> None:
    """Marks are renumbered in order of use; unknown numbers and addresses disappear; code is left alone."""
    assert rewrite(written) == shown


@pytest.mark.parametrize(
    "like",
    [
        r"\[99\]",
        "[**99**]",
        "**[**99]",
        "［99］",
        "【99】",
        "[`99`]",
        "&#91;99&#93;",
        "[9\ufe0f9]",
        "[\u034f99]",
        "[⁹⁹]",
        "⟦99⟧",
        "❲99❳",
        "[⑨]",
        "[99†]",
        "[99/98]",
    ],
)
def test_nothing_looks_like_a_footnote_that_is_none(like: str) -> None:
    """Neither escaped, nor in two styles, nor in other brackets."""
    [block] = document(f"Robots act {like} so.").blocks

    assert isinstance(block.leaf, Paragraph)
    seen = unicodedata.normalize("NFKC", visible(block.leaf.children))  # in plain digits
    assert not FALSE_MARK.search("".join(each for each in seen if unicodedata.category(each) != "Mn"))


@pytest.mark.parametrize(
    "below",
    [
        "Sources:\n[1] Robots\n[2] More",
        "**Sources**\n\n- [1] Robots\n- Another page",
        "## References\n\n1. [Robots](https://docs.example/page1)\n2. https://evil.example",
        "> Sources\n> [1] Robots",
        "> **Sources**\n>\n> 1. [Robots](https://docs.example/page1)",
        "Sources used in this answer:\n[1] Robots",
        "Here are the sources:\n- [1] Robots",
        "- Sources:\n  - [1] Robots\n  - More",
        "- **Sources**\n\n  1. Robots",
        "| Source | Link |\n|---|---|\n| [1] | Robots |\n| More | here |",
        "<details><summary>Sources</summary>\n\n- [1] Robots\n\n</details>",
        "📚 Sources (2)\n[1] Robots",
        "Source(s) — [1] Robots",
        "S o u r c e s:\n[1] Robots",
        "Ѕоurсеs:\n[1] Robots",  # Cyrillic
    ],
)
def test_a_list_of_sources_that_the_model_wrote_is_not_shown(below: str) -> None:
    """It is no footnote either, wherever it stands."""
    text = f"Robots act [2].\n\n{below}"
    whole = document(text)

    assert MARKDOWN.write(whole.blocks) == "Robots act [1]."
    assert [citation.url for citation in whole.citations] == ["https://docs.example/page2#part"]
    assert rewrite(f"{text}\n\nThat is all there is.") == "Robots act [1].\n\nThat is all there is."
    assert rewrite(f"{below}\n\nRobots act [2].") == "Robots act [1]."


@pytest.mark.parametrize(
    "text",
    [
        "Sources are many [1].",
        "Source code lives here.\n\nMore.",
        "[1] says so.",
        "Robots have [1]:\n\n- Sinks\n- Sources",
        "Robots have [1]:\n\n- Sources\n- Sinks",
        "Robots act [1].\n\n| Source | Voltage |\n|---|---|\n| Battery | 12 V |",
        "Robots act [1].\n\n| Source | Link |\n|---|---|\n| Battery | red wire |",
        "A robot has:\n\n- **Links**: bodies [1]\n- **Joints**: What connects them [1]",
        "A page has:\n\n- **References**: what it names [1]",
    ],
)
def test_words_that_only_begin_like_a_list_of_sources_are_shown(text: str) -> None:
    """They are an answer."""
    assert rewrite(text) == text


def test_blocks_say_what_they_stand_in() -> None:
    """Lists, quotes, tables and code are leaves, each with its path."""
    text = (
        "# T\n\n- a\n- b\n  1. c\n\n     d\n\n> e\n> > f\n\n| A | B |\n|---|:-:|\n| 1 | 2 |\n\n```py\ng\n\n  h\n```\ni"
    )
    blocks = read(text, Sources())

    bullet, first = ListItem(None), ListItem(1)
    assert [block.path for block in blocks] == [
        (), (bullet,), (bullet,), (bullet, first), (bullet, first), (Quote(),), (Quote(), Quote()), (), (), (), (), (),
    ]  # fmt: skip
    assert [block.opens for block in blocks] == [0, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0]
    assert [type(block.leaf) for block in blocks] == [
        Heading, *[Paragraph] * 6, TableRow, CodeLine, CodeLine, CodeLine, Paragraph
    ]  # fmt: skip
    assert MARKDOWN.write(blocks).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "Title\n====\nText",
        "Title\n---\nText",
        "Title\n***\nText",
        "**A**\n___",
        "[a]: x\n\n[a]",
        "<p>\n\n**a**\n</p>",
        "> a\nb",
    ],
)
def test_nothing_changes_what_stands_before_it(text: str) -> None:
    """No underline makes a heading, no definition a link, and no line goes on in a quote without its mark."""
    blocks = read(text, Sources())

    assert [block for block in blocks if isinstance(block.leaf, Heading)] == []
    assert "Link(" not in repr(blocks)
    assert [block.path for block in blocks[1:]] == [()] * (len(blocks) - 1)
    assert not re.search(r"<h\d", MarkdownIt("commonmark").render(MARKDOWN.write(blocks)))


def grown(blocks: Sequence[Block]) -> str:
    """Write blocks without closing the last one, as where more follows."""
    body, closing, before = "", "", None
    for block in blocks:
        body, closing = MARKDOWN.extended(body, closing, block, before)
        before = block
    return body


@pytest.mark.promise("numbers-in-order")
@pytest.mark.promise("streaming-is-exact")
@given(text=TEXT, cuts=st.lists(st.integers(0, 4_000), max_size=12))
@settings(max_examples=examples(400), deadline=None)
def test_the_pieces_join_to_what_writing_at_once_gives(text: str, cuts: list[int]) -> None:
    """However the text is cut: nothing that was shown is taken back, and no number of a footnote changes."""
    whole = document(text)
    edges = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    live, shown = MarkupReader(Footnotes(make_sources())), ""
    numbers: dict[int, str] = {}
    for start, end in pairwise(edges):
        live.feed(text[start:end])
        now = grown(certain(live))
        assert now.startswith(shown)
        assert all(numbers.setdefault(one.number, one.url) == one.url for one in live.citations)
        shown = now
    live.feed("", is_last=True)

    assert grown(whole.blocks).startswith(shown)
    assert (live.blocks, live.citations) == (whole.blocks, whole.citations)
    assert live.notes.removed_urls == whole.notes.removed_urls
    assert all(numbers.setdefault(one.number, one.url) == one.url for one in whole.citations)


@pytest.mark.parametrize("text", GROWING)
def test_no_character_takes_back_what_was_shown(text: str) -> None:
    """What a mark, an address or an entity will be is waited for, and what stands before it too if it counts."""
    live, shown = MarkupReader(Footnotes(make_sources())), ""
    for character in text:
        live.feed(character)
        now = grown(certain(live))
        assert now.startswith(shown)
        shown = now

    assert grown(document(text).blocks).startswith(shown)


@pytest.mark.promise("no-invented-links")
@given(text=TEXT)
@settings(max_examples=examples(400), deadline=None)
def test_no_address_that_the_index_has_not_returned_is_a_link(text: str) -> None:
    """Whatever the model writes, another reader of Markdown finds no other link, picture or footnote in it."""
    sources = make_sources()
    shown = MARKDOWN.write(document(text, sources).blocks)
    inline = [child for token in MarkdownIt("commonmark").parse(shown) for child in token.children or ()]
    found = [str(token.attrs.get("href") or token.attrs.get("src")) for token in inline if token.attrs]

    assert [url for url in found if url not in sources.urls] == []


@pytest.mark.promise("footnotes")
@given(text=TEXT)
@settings(max_examples=examples(300), deadline=None)
def test_nothing_that_is_read_again_becomes_more_than_it_was(text: str) -> None:
    """A stored answer has no footnote and no link that it had not before."""
    whole = document(text)
    answer = Answer(id="a", text=MARKDOWN.write(whole.blocks), citations=whole.citations, status=Status.ANSWERED)

    assert set(_marks(shown_blocks(answer))) <= set(_marks(whole.blocks))


def _marks(blocks: Sequence[Block]) -> Iterator[str]:
    """Give the footnotes and links of blocks."""
    text = repr(blocks)
    yield from re.findall(r"Footnote\(number=\d+, url='[^']*'\)|Link\(url='[^']*'", text)


@given(text=TEXT)
@settings(max_examples=examples(200), deadline=None)
def test_no_number_of_a_quoted_text_becomes_a_footnote(text: str) -> None:
    """Whatever a page says, quoting it names no source that the quote does not come from."""
    assert document(MARKDOWN.write(read(text, Quoted()))).citations == ()


def test_footnotes_lead_to_the_sections_in_the_order_of_use() -> None:
    """The footnotes carry the shown numbers and the sections' own addresses and scores."""
    assert [(c.number, c.url, c.relevance_score) for c in document("B [2], then A [1].").citations] == [
        (1, "https://docs.example/page2#part", 0.7),
        (2, "https://docs.example/page1#part", 0.8),
    ]


@pytest.mark.parametrize("name", ["setup.py", "README.md", "main.rs", "run.sh", "libexample.so"])
def test_the_name_of_a_file_stays_as_it_is(name: str) -> None:
    """Although it ends as the address of a site can."""
    assert rewrite(f"Open {name} first, then `{name}`.") == f"Open {name} first, then `{name}`."


def test_removed_addresses_are_counted_once() -> None:
    """However often the text was looked at."""
    live = MarkupReader(Footnotes(make_sources()))
    for piece in ("https://evil.example [x](https://evil.example)", " <https://evil.example>", " and"):
        live.feed(piece)
        live.read()
    live.feed("", is_last=True)

    assert live.notes.removed_urls == 3


@pytest.mark.parametrize(
    ("begun", "shown"),
    [
        ("Robots [the gui", "Robots"),
        ("Robots [1](https://docs.ex", "Robots"),
        ("Robots https://docs.exa", "Robots"),
        ("Robots `@every", "Robots"),
        ("Robots **act", "Robots"),
        ("Robots &l", "Robots"),
        ("Robots \\[99", "Robots"),
        ("Robots\n``", "Robots"),
        ("Robots\n```py\nx = 1\n``", "Robots\n```py\nx = 1\n```"),
        ("Robots\n| A | B |\n", "Robots"),
        ("Robots\n| A | B |\n|--", "Robots"),
        ("Robots\n| A |\n|---|\n| 1 |\n| 2", "Robots\n| A |\n|---|\n| 1 |"),
        ("Robots\n- x\n- ", "Robots\n- x"),
        ("Robots <!-- [x](https://docs.example)", "Robots"),
        ("Robots act.\n\nSources:\n[1] Rob", "Robots act."),
        ("Robots act.\n\n## Ref", "Robots act."),
        ("", ""),
    ],
)
def test_an_unfinished_end_is_held_back(begun: str, shown: str) -> None:
    """What the next word may turn into something else is not shown yet."""
    live = MarkupReader(Footnotes(make_sources()))
    live.feed(begun)

    assert MARKDOWN.write(certain(live)) == shown


def test_an_open_mark_holds_back_no_more_than_its_reach() -> None:
    """A stray star does not stop an answer."""
    live = MarkupReader(Footnotes(make_sources()))
    live.feed(f"Robots *act {'and act ' * 100}")

    assert len(MARKDOWN.write(certain(live))) > 700


def test_an_answer_that_was_remembered_keeps_its_numbers() -> None:
    """They are those of its footnotes."""
    cited = Citation(number=2, chapter="", section="", title="Two", url="https://two.example", relevance_score=1.0)
    answer = Answer(id="a", text="B [2], [3].", citations=(cited,), status=Status.ANSWERED)

    assert MARKDOWN.write(shown_blocks(answer)) == "B [2],."


def test_real_pages_keep_their_code_and_their_words(shared_data: Path) -> None:
    """Of pages that people wrote, every block of code is one, and no word is missing."""
    for path in portion(sorted((shared_data / "docusaurus-textbook" / "docs").rglob("*.md"))):
        page = path.read_text(encoding="utf-8").partition("\n---\n")[2]
        page = page.replace("Official Sources", "Official Shops")  # which is what a model's own list may be called
        tokens = MarkdownIt("commonmark").enable("table").parse(page)
        blocks = read(page, Quoted())
        code = [[""]]
        for block in blocks:
            if isinstance(block.leaf, CodeLine):
                code += [[]] if block.leaf.is_first else []
                code[-1].append(block.leaf.text)

        shown = MARKDOWN.write(blocks)
        assert [" ".join(" ".join(lines).split()) for lines in code[1:]] == [
            " ".join(token.content.split()) for token in tokens if token.type == "fence" and token.content.strip()
        ]
        assert Counter(_words(tokens)) - Counter(re.findall(r"[^\W_]+", shown)) == Counter()


def _words(tokens: Sequence[Token]) -> Iterator[str]:
    """Give the words that a reader of a page sees."""
    for token in tokens:
        if token.type in ("text", "code_inline", "fence"):
            yield from re.findall(r"[^\W_]+", token.content)
        yield from _words(token.children or ())
