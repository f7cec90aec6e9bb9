"""Answers on Slack: nothing mentions, nothing deceives, a stream only grows, and the plain text has all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.chat.pager import units
from adapters.chat.platform import Part
from adapters.slack.dialect import LONGEST_TEXT, SLACK, SlackRenderer
from core.answering.citations import Quoted, Remembered
from core.answering.markup import read
from core.model import Answer, Citation, Status
from tests.adapters.slack.reader import fences, labels, links, live, words
from tests.answers import GROWING, TEXT, answered, make_sources, written
from tests.portion import examples

GUIDE = "https://docs.example/robots#what"
OTHER = "https://docs.example/other?a=(b)&c=*d*&lt;"
GAP = "\u200b"
PART_LIMIT = SLACK.limit


def source(number: int = 1, url: str = GUIDE, **fields: str) -> Citation:
    """A footnote to a page about robots."""
    standard = Citation(
        number=number, chapter="one", section="What they are", title="Robots", url=url, relevance_score=0.934
    )
    return standard.model_copy(update=fields)


def answer(text: str, *citations: Citation, status: Status = Status.ANSWERED, **fields: object) -> Answer:
    """An answer with its footnotes."""
    return Answer(id="a1", text=text, citations=citations, status=status).model_copy(update=fields)


def render_answer(whole: Answer, *, remark: str = "") -> Sequence[Part]:
    """Draw a whole answer."""
    return SlackRenderer(remark=remark).whole(whole)


def render_draft(text: str) -> Sequence[Part]:
    """Draw an answer of which so much has been written."""
    return SlackRenderer().sketch(written(text))


def dialect(text: str, *citations: Citation) -> str:
    """Write a text as Slack reads it."""
    return SLACK.write(read(text, Remembered(citations)))


def first(parts: Sequence[Part]) -> str:
    """The text of the first message, which is the one that is streamed."""
    return parts[0].text if parts else ""


def test_footnotes_are_links_and_the_sources_follow() -> None:
    """A reader can go from a statement to its section, and sees below where all of it comes from."""
    [part] = render_answer(answer("Robots act [1].", source()), remark="Sorry for the wait.")

    assert part == Part(
        f"Robots act [[1]]({GUIDE}).",
        below=f"<{GUIDE}|[1]> Robots › What they are (docs.example)\nSorry for the wait.",
        plain=f"Robots act [1].\n\n[1] Robots › What they are (docs.example) {GUIDE}\nSorry for the wait.",
    )


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("# One\n#### Four\n\n- a\n- b\n\n1. c", "# One\n#### Four\n\n- a\n- b\n\n1. c"),
        ("| A | B |\n|---|:-:|\n| 1 | `<x>` |\nend", "| A | B |\n|---|---|\n| 1 | `&lt;x&gt;` |\nend"),
        ("```py\nif a<b: c[1]\n```\n[1]", f"```py\nif a&lt;b: c[1]\n```\n[[1]]({GUIDE})"),
        ("~~~py\nx\n~~~", "```py\nx\n```"),
        ("> ```\n> x\n> ```\nz", "```\nx\n```\nz"),
        ("> a <b>b</b> > c\n>> d", "> a b &gt; c\n> > d"),
        ("AT&T a&b;c &lt;x&gt; &amp;lt; `&lt;`", "AT&T a&amp;b;c &lt;x&gt; &amp;lt; `&amp;lt;`"),
        ("List<String> and <your-token>", "List&lt;String&gt; and &lt;your-token&gt;"),
        ("- [ ] c\n- [x] d", "- ☐ c\n- ☑ d"),
        ("![a plan](https://x.example/p.png) b<br>c <!-- d -->e", "a plan b\nc e"),
        ("a ` b [c", "a \\` b \\[c"),
        ("``a`b`` `c\nd`", "``a`b`` `c d`"),
        ("a [3](x) [4]", "a"),
        ("مرحبا بالعالم [1]\n\n👩‍👩‍👧‍👦 é", f"مرحبا بالعالم [[1]]({GUIDE})\n\n👩‍👩‍👧‍👦 é"),
        ("see [2], and", "see [[2]](https://docs.example/other?a=%28b%29&c=%2Ad%2A&lt%3B), and"),
        (f"see [it]({GUIDE})", f"see [it]({GUIDE})"),
        ("see https://docs.example/a_b, and", "see `https://docs.example/a_b`, and"),
        ("slack://user slack<b></b>://user", "`slack://user` `slack://user`"),
        ("(WWW.evil.example) awww. a@b.example", "(`WWW.evil.example`) awww. `a@b.example`"),
        ("[x](mailto:a@b.example)", "x"),
    ],
)
def test_markdown_stays_markdown_and_text_stays_text(markdown: str, shown: str) -> None:
    """Slack draws headings, lists, tables and code; what it would take for a token is written as entities."""
    assert dialect(markdown, source(), source(2, OTHER)) == shown


HOSTILE = [
    "<!channel>",
    "<!here|x>",
    "<!everyone>",
    "<@U1>",
    "<#C1>",
    "<!subteam^S1>",
    "<!date^1^{date}^https://evil.example|x>",
    "<https://evil.example|docs>",
    "[x](https://evil.example)",
    "[a\nb](https://evil.example)",
    "&lt;!channel&gt;",
    "&#60;!channel&#62;",
    "@channel",
    "`<!here>`",
    "```\n<@U1>\n```",
    "~~~\n[x](https://evil.example)\n~~~",
    "<<b>!channel>",
    "<!<!-- -->channel>",
    "@<b></b>here",
    "\ue0000\ue001<@U1>",
]


@pytest.mark.promise("nothing-pings")
@pytest.mark.promise("streaming-is-harmless")
@pytest.mark.parametrize("token", HOSTILE)
def test_no_token_is_live_however_it_is_cut_into_pieces(token: str) -> None:
    """Mentions and links of a model's own are text, in every draft on the way and in the end."""
    text = f"See {token} now [1]."
    for at in range(len(text) + 1):
        drafts = [render_draft(text[:at]), render_answer(answered(text[:at]))]
        said = [said for parts in drafts for part in parts for said in (part.text, part.plain)]
        sources = make_sources()
        assert [found for message in said for found in live(message)] == []
        assert [url for message in said for url in links(message) if url and url not in sources.urls] == []


@pytest.mark.parametrize(
    ("begun", "shown"),
    [
        ("Robots @chan", "Robots"),
        ("Robots `@chan", "Robots"),
        ("Robots 1:/", "Robots"),
        ("Robots\n| A |\n|---|\n| 1 |\n| 2", "Robots\n| A |\n|---|\n| 1 |"),
        ("Robots\n```py\n", "Robots"),
        ("Robots\n```py\nx = 1\n``", "Robots\n```py\nx = 1"),
        ("Robots\n```py\nx = 1\n```\n", "Robots\n```py\nx = 1"),
        ("Robots\n```py\nx = 1\n```\nThen ", "Robots\n```py\nx = 1\n```\nThen"),
        ("", ""),
    ],
)
def test_an_unfinished_end_is_held_back_and_code_stays_open(begun: str, shown: str) -> None:
    """What the next word may turn into something else is not shown yet, and nothing is closed that goes on."""
    assert first(render_draft(begun)) == shown


@pytest.mark.promise("nothing-pings")
def test_titles_cannot_write_tokens() -> None:
    """A page with a strange title is named by it, and no more."""
    strange = source(title="<!channel> @here <https://evil.example|x> [x](https://evil.example)", section="")
    [part] = render_answer(answer("It acts [1].", strange))

    assert (live(part.below), links(part.below), live(part.plain)) == ([], {GUIDE}, [])


def test_failures_and_answers_by_words_alone_begin_with_a_warning() -> None:
    """Whoever reads sees at once that something did not work."""
    failed = answer("I can't search the documents right now.", status=Status.UNAVAILABLE)

    assert first(render_answer(failed)) == "⚠️ I can't search the documents right now."
    assert first(render_answer(answer("Robots act.", lexical_only=True))) == "⚠️ Robots act."


def test_nearest_sections_are_named_by_links_that_say_where_they_lead() -> None:
    """Not in the documents is an answer, and the nearest sections are there to look into."""
    missing = answer("I couldn't find that.", status=Status.NO_CONTEXT, nearest=(source(),))
    [part] = render_answer(missing)

    assert part.below == f"*Nearest sections*\n• Robots › What they are (<{GUIDE}|docs.example>)"
    assert part.plain.endswith(f"\n\nNearest sections\n• Robots › What they are (docs.example) {GUIDE}")


def test_a_list_of_sources_is_short_and_an_answer_without_words_shows_it() -> None:
    """Five sources are shown, and how many there are besides; a source without an address has a name."""
    [part] = render_answer(answer("", source(1, ""), *(source(number, f"{GUIDE}{number}") for number in range(2, 9))))

    assert part.text == "…"
    assert [line[:4] for line in part.below.split("\n")] == ["[1] ", "<htt", "<htt", "<htt", "<htt", "and "]


@pytest.mark.promise("messages-stand-alone")
def test_a_full_answer_leaves_the_plain_text_room_for_its_sources() -> None:
    """Screen readers read every source of a long answer, and addresses as far as there is room."""
    sources = [source(number, f"https://docs.example/{'x' * 150}{number}", title="t" * 200) for number in range(1, 6)]
    parts = render_answer(answer("Robots act. " * 285, *sources))

    assert [units(part.text) <= PART_LIMIT and len(part.plain) <= LONGEST_TEXT for part in parts] == [True] * len(parts)
    assert [parts[-1].plain.count(f"[{number}] t") for number in range(1, 6)] == [1] * 5
    assert len(parts[-1].below) <= 2_000


@pytest.mark.promise("messages-stand-alone")
def test_code_and_tables_go_on_as_such_in_the_next_message() -> None:
    """A fence is closed and opened again, a table has its head again, and no row is torn."""
    code = "\n".join(f"line_{number}()" for number in range(500))
    rows = "\n".join(f"| {number} | {'x' * 90} |" for number in range(60))

    one, two = render_answer(answer(f"Run this:\n\n```py\n{code}\n```\nDone."))
    three, four = render_answer(answer(f"Look:\n\n| A | B |\n|---|---|\n{rows}"))

    assert (one.text.endswith("()\n```"), two.text.startswith("```py\nline_")) == (True, True)
    assert (three.text.endswith("x |"), four.text.startswith("| A | B |\n|---|---|\n| ")) == (True, True)
    assert sum(part.text.count("x |") for part in (three, four)) == 60


@pytest.mark.parametrize("emoji", ["👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "é", "क्ष"])
def test_no_cut_falls_within_a_character(emoji: str) -> None:
    """Families, flags, skin tones and accents arrive whole."""
    parts = render_answer(answer(emoji * 2_500))

    assert [units(part.text) <= PART_LIMIT and not part.text.replace(emoji, "") for part in parts] == [True] * len(
        parts
    )


@pytest.mark.promise("streaming-is-harmless")
@pytest.mark.promise("streaming-is-exact")
@given(text=TEXT, cuts=st.lists(st.floats(0, 1), min_size=2, max_size=8).map(sorted))
@example(text=f"{'A sentence that fills. ' * 30}&amp;#60;word", cuts=[0.9, 0.993])
@settings(deadline=None, max_examples=examples(400))
def test_the_first_message_only_grows(text: str, cuts: list[float]) -> None:
    """A stream is appended to: every draft begins with the one before it, and the whole answer with the last one."""
    document, renderer, at, shown = written(""), SlackRenderer(), 0, ""
    for cut in cuts:
        document.feed(text[at : int(len(text) * cut)])
        at = int(len(text) * cut)
        now = first(renderer.sketch(document))
        assert now.startswith(shown)
        shown = now

    assert first(render_answer(answered(text))).startswith(shown)


@pytest.mark.parametrize("text", GROWING)
def test_the_first_message_grows_by_every_character(text: str) -> None:
    """However the platform writes an end, what follows changes nothing of what was shown of it."""
    document, renderer, shown = written(""), SlackRenderer(), ""
    for character in text:
        document.feed(character)
        now = first(renderer.sketch(document))
        assert now.startswith(shown)
        shown = now

    assert first(render_answer(answered(text))).startswith(shown)


def test_a_long_answer_only_grows_too() -> None:
    """Wherever the first message will be cut, what was shown of it stays."""
    code = "".join(f"line_{number}()\n" for number in range(150))
    prose = "".join(f"Sentence {number} of **many** in `one` paragraph. " for number in range(60))
    line = "One line that goes on and on, and on. " * 120
    items = "".join(f"- Item {number} with some words and a number [{number % 4 + 1}].\n" for number in range(150))
    for text in (line, f"{prose}\n\n{code}", f"```py\n{code}```\n\n{prose}", prose * 2, items, "x" * 9_000):
        shown, document, renderer = "", written(""), SlackRenderer()
        for at in range(0, len(text), 193):
            document.feed(text[at : at + 193])
            now = first(renderer.sketch(document))
            assert now.startswith(shown)
            shown = now
        assert first(render_answer(answered(text))).startswith(shown)
        assert len(shown) > PART_LIMIT // 3


@pytest.mark.promise("nothing-pings")
@pytest.mark.promise("honest-links")
@given(text=TEXT)
@example("@here@x.example/y")
@example("@ev*eryone*")
@settings(deadline=None, max_examples=examples(400))
def test_whatever_a_model_writes_every_message_is_harmless(text: str) -> None:
    """No message is too long, mentions anybody, deceives, leaves code open or leads anywhere but to the index."""
    parts, sources = render_answer(answered(text, nearest=(source(3),))), make_sources()

    assert [p for p in parts if units(p.text) > PART_LIMIT or len(p.plain) > LONGEST_TEXT or fences(p.text) % 2] == []
    assert [found for part in parts for said in (part.text, part.below, part.plain) for found in live(said)] == []
    assert [label for part in parts for label in labels(part.text) if "bank" in label] == []
    assert [url for part in parts for url in links(part.text) if url not in sources.urls] == []


def test_real_pages_keep_their_words(shared_data: Path) -> None:
    """Of pages that people wrote, no word is missing, in the answer or the plain text."""
    for path in sorted((shared_data / "docusaurus-textbook" / "docs").rglob("*.md"))[:8]:
        page = path.read_text(encoding="utf-8").partition("\n---\n")[2]
        parts = render_answer(answer(page, blocks=read(page, Quoted())))
        tokens = MarkdownIt("commonmark").enable("table").parse(page)
        expected = Counter(words_of(tokens))

        assert expected - Counter(words("\n".join(part.text for part in parts))) == Counter()
        assert expected - Counter(words("\n".join(part.plain for part in parts))) == Counter()
        assert [found for part in parts for found in (*live(part.text), *live(part.plain))] == []


def words_of(tokens: Sequence[Token]) -> Iterator[str]:
    """Give the words that a reader of a page sees."""
    for token in tokens:
        if token.type in ("text", "code_inline", "fence"):
            yield from words(token.content)
        yield from words_of(token.children or ())
