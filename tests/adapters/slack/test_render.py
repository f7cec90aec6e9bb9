"""Answers on Slack: nothing mentions, nothing deceives, a stream only grows, and the plain text has all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.chat.posting import Part
from adapters.slack.rendering.markdown import dialect
from adapters.slack.rendering.parts import PART_LIMIT
from adapters.slack.rendering.plain_text import LIMIT, plain
from adapters.slack.rendering.render import quoted, render_answer, render_draft
from core.citations import CitationStream
from core.markdown import units
from core.model import Answer, Citation, Status
from core.sources import Sources
from tests.adapters.slack.reader import fences, labels, links, live, words

GUIDE = "https://docs.example/robots#what"
OTHER = "https://docs.example/other?a=(b)&c=*d*&lt;"
TARGETS = {"[1]": GUIDE, "[2]": OTHER}
GAP = "\u200b"


def source(number: int = 1, url: str = GUIDE, **fields: str) -> Citation:
    """A footnote to a page about robots."""
    standard = Citation(
        number=number, chapter="one", section="What they are", title="Robots", url=url, relevance_score=0.934
    )
    return standard.model_copy(update=fields)


def answer(text: str, *citations: Citation, status: Status = Status.ANSWERED, **fields: object) -> Answer:
    """An answer with its footnotes."""
    return Answer(id="a1", text=text, citations=citations, status=status).model_copy(update=fields)


def first(parts: Sequence[Part]) -> str:
    """The text of the first message, which is the one that is streamed."""
    return parts[0].text if parts else ""


def test_footnotes_are_links_and_the_sources_follow() -> None:
    """A reader can go from a statement to its section, and sees below where all of it comes from."""
    [part] = render_answer(answer("Robots act [1].", source()), remark="Sorry for the wait.")

    assert part == Part(
        f"Robots act [[1]]({GUIDE}).",
        below=f"<{GUIDE}|[1]> Robots › What they are (docs.example) 0.93\nSorry for the wait.",
    )
    assert plain(part) == (
        f"Robots act [1].\n\n[1] Robots › What they are (docs.example) 0.93 {GUIDE}\nSorry for the wait."
    )


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("# One\n#### Four\n\n- a\n- b\n\n1. c", "# One\n#### Four\n\n- a\n- b\n\n1. c"),
        ("| A | B |\n|---|:-:|\n| 1 | `<x>` |\nend", "| A | B |\n|---|:-:|\n| 1 | `&lt;x&gt;` |\nend"),
        ("```py\nif a<b: c[1]\n```\n[1]", f"```py\nif a&lt;b: c[1]\n```\n[[1]]({GUIDE})"),
        ("~~~py\nx\n~~~", "```py\nx\n```"),
        ("> ```\n> x\n> ```\nz", "```\nx\n```\nz"),
        ("> a <b>b</b> > c\n>> d", "> a b &gt; c\n>> d"),
        ("AT&T a&b;c &lt;x&gt; &amp;lt; `&lt;`", "AT&T a&amp;b;c &lt;x&gt; &amp;lt; `&amp;lt;`"),
        ("List<String> and <your-token>", "List&lt;String&gt; and &lt;your-token&gt;"),
        ("- [ ] c\n- [x] d", "- ☐ c\n- ☑ d"),
        ("![a plan](https://x.example/p.png) b<br>c <!-- d -->e", "a plan b\nc e"),
        ("a ` b [c", "a \\` b \\[c"),
        ("``a`b`` `c\nd`", "``a`b`` `c d`"),
        ("a [3](x) [4]", "a 3 [4]"),
        ("مرحبا بالعالم [1]\n\n👩‍👩‍👧‍👦 é", f"مرحبا بالعالم [[1]]({GUIDE})\n\n👩‍👩‍👧‍👦 é"),
        ("[the guide](https://docs.example/a?b=c&d=e)", "[the guide](https://docs.example/a?b=c&d=e)"),
        ("[a](https://docs.example/a_(b)|c)", "[a](https://docs.example/a_%28b%29%7Cc)"),
        ("[a](https://docs.example/?a&lt;b)", "[a](https://docs.example/?a&lt%3Bb)"),
        ("[bank.example](https://docs.example/a)", "bank.example ([docs.example/a](https://docs.example/a))"),
        ("[https://docs.example](https://docs.example/a)", "[docs.example](https://docs.example/a)"),
        ("see https://docs.example/a_b, and", "see [docs.example/a\\_b](https://docs.example/a_b), and"),
        ("slack://user slack<b></b>://user", f"slack:{GAP}//user slack:{GAP}//user"),
        ("(WWW.evil.example) awww.", f"(WWW.{GAP}evil.example) awww."),
        ("[x](mailto:a@b.example)", "x"),
    ],
)
def test_markdown_stays_markdown_and_text_stays_text(markdown: str, shown: str) -> None:
    """Slack draws headings, lists, tables and code; what it would take for a token is written as entities."""
    assert dialect(markdown, TARGETS) == shown


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
    for at in range(len(text)):
        stream = CitationStream(Sources())
        shown = stream.feed(text[:at])
        drafts = [render_draft(shown)]
        shown += stream.feed(text[at:])
        drafts.append(render_draft(shown))
        shown += stream.finish()
        drafts += [render_draft(shown), render_answer(answer(shown))]
        said = [said for parts in drafts for part in parts for said in (part.text, plain(part))]
        assert [found for message in said for found in (*live(message), *links(message))] == []


@pytest.mark.parametrize(
    ("begun", "shown"),
    [
        ("Robots <@12", "Robots"),
        ("Robots [the gui", "Robots"),
        ("Robots [1](https://docs.ex", "Robots"),
        ("Robots https://docs.exa", "Robots"),
        ("Robots `@chan", "Robots"),
        ("Robots @chan", "Robots"),
        ("Robots &l", "Robots"),
        ("Robots 1:/", "Robots 1:"),
        ("Robots\n| A | B |\n", "Robots"),
        ("Robots\n| A | B |\n|--", "Robots"),
        ("Robots\n| A |\n|---|\n| 1 |\n| 2", "Robots\n| A |\n|---|\n| 1 |"),
        ("Robots\n``", "Robots"),
        ("Robots\n```py\n", "Robots"),
        ("Robots\n```py\nx = 1\n``", "Robots\n```py\nx = 1"),
        ("Robots\n```py\nx = 1\n```\n", "Robots\n```py\nx = 1\n```"),
        ("Robots <!-- [x](https://docs.example)", "Robots"),
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

    assert (live(part.below), links(part.below), live(plain(part))) == ([], {GUIDE}, [])


def test_failures_and_answers_by_words_alone_begin_with_a_warning() -> None:
    """Whoever reads sees at once that something did not work."""
    failed = answer("I can't search the documents right now.", status=Status.UNAVAILABLE)

    assert render_answer(failed) == [Part("⚠️ I can't search the documents right now.")]
    assert render_answer(answer("Robots act.", lexical_only=True)) == [Part("⚠️ Robots act.")]


def test_nearest_sections_are_named_by_links_that_say_where_they_lead() -> None:
    """Not in the documents is an answer, and the nearest sections are there to look into."""
    missing = answer("I couldn't find that.", status=Status.NO_CONTEXT, nearest=(source(),))
    [part] = render_answer(missing)

    assert part.below == f"*Nearest sections*\n• Robots › What they are (<{GUIDE}|docs.example>) 0.93"
    assert plain(part).endswith(f"\n\nNearest sections\n• Robots › What they are (docs.example) 0.93 {GUIDE}")


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

    assert [units(part.text) <= PART_LIMIT and len(plain(part)) <= LIMIT for part in parts] == [True] * len(parts)
    assert [plain(parts[-1]).count(f"[{number}] t") for number in range(1, 6)] == [1] * 5
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


def test_a_question_is_quoted_as_text() -> None:
    """What somebody asks mentions nobody and stays on its line."""
    assert quoted("What is\n<!here> [x](y)?") == f"> What is &lt;!here&gt; [x]{GAP}(y)?\n\n"


PIECES = [
    *("word", "Sentence one. ", "[1]", "[2]", "[guide](https://docs.example/page)", "https://docs.example/x", "é👍🏽"),
    *("[bank.example](https://docs.example)", "@here", "<!channel>", "<@U1>", "<b>", "</b>", "<br>", "<!--", "-->"),
    *("<", ">", "&", "&lt;", "&amp;", "#60;", "lt;", "`", "``", "```", "~~~", "``a`b``", "\n", "\n\n", "\n```py\n"),
    *("\n```\n", "\n~~~\n", "\n> ", "\n- ", "\n- [x] ", "\n    ", "\n| a | b |\n", "|---|---|\n", "| c |", "\n# ", "|"),
    *("\n---\n", "**", "*", "_", "~~", "\\", "!", "[", "]", "(", ")", "](", " ", "https://", "\ue0000\ue001", "\u200b"),
    *("word " * 60, "longer_words_" * 30, "A sentence that fills. " * 30),
]
TEXT = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@pytest.mark.promise("streaming-is-harmless")
@given(text=TEXT, cuts=st.lists(st.floats(0, 1), min_size=2, max_size=5).map(sorted))
@settings(deadline=None, max_examples=100)
def test_the_first_message_only_grows(text: str, cuts: list[float]) -> None:
    """A stream is appended to: every draft begins with the one before it, and the whole answer with the last one."""
    drafts = [first(render_draft(text[: int(len(text) * cut)], targets=TARGETS)) for cut in cuts]
    whole = first(render_answer(answer(text, source(), source(2, OTHER))))

    assert [
        later for early, later in zip(drafts, [*drafts[1:], whole], strict=True) if not later.startswith(early)
    ] == []


def test_a_long_answer_only_grows_too() -> None:
    """Wherever the first message will be cut, what was shown of it stays."""
    code = "".join(f"line_{number}()\n" for number in range(150))
    prose = "".join(f"Sentence {number} of **many** in `one` paragraph. " for number in range(60))
    line = "One line that goes on and on, and on. " * 120
    for text in (line, f"{prose}\n\n{code}", f"```py\n{code}```\n\n{prose}", f"{prose}\n\n```py\n{code}```", prose * 2):
        shown = ""
        for at in range(0, len(text), 97):
            now = first(render_draft(text[:at]))
            assert now.startswith(shown)
            shown = now
        assert first(render_answer(answer(text))).startswith(shown)
        assert len(shown) > PART_LIMIT // 2


@pytest.mark.promise("nothing-pings")
@pytest.mark.promise("honest-links")
@given(text=TEXT)
@settings(deadline=None, max_examples=100)
def test_whatever_a_model_writes_every_message_is_harmless(text: str) -> None:
    """No message is too long, mentions anybody, deceives or leaves code open."""
    parts = render_answer(answer(text, source(), source(2, OTHER), nearest=(source(3),)))

    assert [p for p in parts if units(p.text) > PART_LIMIT or len(plain(p)) > LIMIT or fences(p.text) % 2] == []
    assert [found for part in parts for said in (part.text, part.below, plain(part)) for found in live(said)] == []
    assert [label for part in parts for label in labels(part.text) if "bank" in label] == []


def test_real_pages_keep_their_words(shared_data: Path) -> None:
    """Of pages that people wrote, no word is missing, in the drafts, the answer or the plain text."""
    for path in sorted((shared_data / "docusaurus-textbook" / "docs").rglob("*.md"))[:8]:
        page = path.read_text(encoding="utf-8").partition("\n---\n")[2]
        parts = render_answer(answer(page))
        tokens = MarkdownIt("commonmark").enable("table").parse(page)
        expected = Counter(word for word in words_of(tokens) if word != "https")  # which a label does without

        assert expected - Counter(words("\n".join(part.text for part in parts))) == Counter()
        assert expected - Counter(words("\n".join(plain(part) for part in parts))) == Counter()
        assert [found for part in parts for found in (*live(part.text), *live(plain(part)))] == []
        assert first(parts).startswith(first(render_draft(page[: len(page) // 2])))


def words_of(tokens: Sequence[Token]) -> Iterator[str]:
    """Give the words that a reader of a page sees."""
    for token in tokens:
        if token.type in ("text", "code_inline", "fence"):
            yield from words(token.content)
        yield from words_of(token.children or ())
