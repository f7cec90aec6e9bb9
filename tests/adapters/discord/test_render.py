"""Answers on Discord: nothing pings, nothing deceives, every message stands alone, and no word is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.chat.pager import units
from adapters.discord.dialect import DISCORD, DiscordRenderer
from core.answering.citations import Quoted, Remembered
from core.answering.markup import read
from core.messages import MENTION_TO_CONTINUE
from core.model import Answer, Citation, Status
from tests.adapters.discord.reader import BLOCK, fences, labels, links, live, previews, words
from tests.answers import TEXT, answered, make_sources, written
from tests.portion import examples, portion

GUIDE = "https://docs.example/robots#what"
GAP = "\u200b"
PART_LIMIT = DISCORD.limit


def source(number: int = 1, url: str = GUIDE, **fields: str) -> Citation:
    """A footnote to a page about robots."""
    standard = Citation(
        number=number, chapter="one", section="What they are", title="Robots", url=url, relevance_score=0.934
    )
    return standard.model_copy(update=fields)


def answer(text: str, *citations: Citation, status: Status = Status.ANSWERED, **fields: object) -> Answer:
    """An answer with its footnotes."""
    return Answer(id="a1", text=text, citations=citations, status=status).model_copy(update=fields)


def render_answer(whole: Answer, *, hint: str = "") -> list[str]:
    """Draw a whole answer."""
    return [part.text for part in DiscordRenderer(hint=hint).whole(whole)]


def render_draft(text: str) -> list[str]:
    """Draw an answer of which so much has been written."""
    return [part.text for part in DiscordRenderer().sketch(written(text))]


def dialect(text: str, *citations: Citation) -> str:
    """Write a text as Discord reads it."""
    return DISCORD.write(read(text, Remembered(citations)))


def test_footnotes_are_links_and_the_sources_follow() -> None:
    """A reader can go from a statement to its section, and sees below where all of it comes from."""
    assert render_answer(answer("Robots act [1].", source())) == [
        f"Robots act [[1]](<{GUIDE}>).\n\n-# [[1]](<{GUIDE}>) Robots › What they are (docs.example)"
    ]


def test_a_number_in_code_is_no_footnote() -> None:
    """Code is left alone."""
    assert dialect("`a[1]` and\n\n```py\na[1]\n```\n[1]", source()) == (
        f"`a[1]` and\n\n```py\na[1]\n```\n[[1]](<{GUIDE}>)"
    )


@pytest.mark.promise("tables-are-lists")
@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("# One\n#### Four #\n###### C#", "# One\n**Four**\n**C#**"),
        ("a\n\n***\n\nb", "a\n\nb"),
        ("> #### Deep\n> text", "> **Deep**\n> text"),
        ("| A | B |\n|---|:-:|\n| 1 | `x` |\n| 2 | |\nend", "- A: 1 · B: `x`\n- A: 2\nend"),
        ("| A | B |\n|--|--|", "- A · B"),
        ("| A |\n|---|\n| x \\| y |", "- A: x | y"),
        ("![a plan](https://x.example/p.png) b", "a plan b"),
        ("a<br>b <b>c</b> <!-- d -->e", "a\nb c e"),
        ("x &lt; y &amp;&amp; z", "x < y && z"),
        ("List<String> and <your-token>", f"List<{GAP}String> and <{GAP}your-token>"),
        ("+ a\n1) b\n- [ ] c\n- [x] d", "- a\n1. b\n- ☐ c\n- ☑ d"),
        ("100+ m, a + b, (5) c, 6) d, see [ ] e", "100+ m, a + b, (5) c, 6) d, see \\[ \\] e"),
        ("-# not ours", "\\-# not ours"),
        ("a || b || c", "a \\|\\| b \\|\\| c"),
        ("a_b __init__ 2*3", "a_b **init** 2\\*3"),
        ("a\n\n\n\n\nb", "a\n\nb"),
        ("- a\n  1. b\n     c\n\n> d\n>\n> e", "- a\n  1. b\n     c\n\n> d\n>\n> e"),
    ],
)
def test_what_discord_cannot_draw_is_drawn_with_what_it_can(markdown: str, shown: str) -> None:
    """Tables are lists, deep headings are bold, HTML is plain, and nothing hides or imitates small print."""
    assert dialect(markdown) == shown


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("~~~py\nx\n~~~", "```py\nx\n```"),
        ('```py title="x"\ny\n```', "```py\ny\n```"),
        ("````md\n```\nx\n```\n````", f"```md\n`{GAP}`{GAP}`\nx\n`{GAP}`{GAP}`\n```"),
        ("> ```\n> x\n>\n> y\n> ```\nz", "```\nx\n\ny\n```\nz"),
        ("> ```\n> x\nz", "```\nx\n```\nz"),
        ("- ```py\n  x\n  ```", "```py\nx\n```"),
        ("- a\n\n      ```py\n      x\n\n        y\n      ```", "- a\n\n```py\nx\n\n  y\n```"),
        ("```\n```\nx", "x"),
        ("```py\nx", "```py\nx\n```"),
        ("`a\nb`", "`a b`"),
        ("``a`b``", "``a`b``"),
        ("a ` b", "a \\` b"),
        ("```a`b```", "``a`b``"),
        ("`a`<b></b>``b``", f"`a`{GAP}`b`"),
    ],
)
def test_code_is_written_as_discord_reads_it(markdown: str, shown: str) -> None:
    """Fences of tildes, of many marks, in quotes and in lists are blocks on Discord too."""
    assert dialect(markdown) == shown


@pytest.mark.promise("nothing-pings")
@pytest.mark.parametrize(
    "text",
    [
        *("@everyone", "@here", "<@1>", "<@!1>", "<@&1>", "<#1>", "</ask:1>", "<id:customize>", "<t:1:R>", "<:a:1>"),
        *("<a:b:1>", "discord.gg/abc", "||x||", "@<b></b>everyone", "@![](x)here", "&lt;@1&gt;", "`a\n\n@here`"),
        *("@everyonehttps://docs.example", "@heremailto://x", "[@here](https://docs.example)"),
        *("~~~\n@here\n~~~ x `\n@here", "> `a\n> @here`", "```\n\n```@here```x", "```a````@here```b", "<<b>@1>"),
    ],
)
def test_nothing_that_a_model_writes_is_live(text: str) -> None:
    """Mentions, times, emoji and invitations are shown as they were written and do nothing."""
    shown = dialect(text)

    assert live(shown) == []
    assert dialect(f"`{text}`" if "`" not in text else text).strip()


@pytest.mark.promise("honest-links")
@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("[the guide](https://docs.example/a)", "[the guide](<https://docs.example/a>)"),
        ('[a](https://docs.example/a "title")', "[a](<https://docs.example/a>)"),
        ("[docs.example/a](https://docs.example/a)", "[docs.example/a](<https://docs.example/a>)"),
        ("[https://docs.example](https://docs.example/a)", "[docs.example/a](<https://docs.example/a>)"),
        ("[setup.py](https://docs.example/a)", "[setup.py](<https://docs.example/a>)"),
        ("[`asyncio.run()`](https://docs.example/a)", "[`asyncio.run()`](<https://docs.example/a>)"),
        ("[bank.zip/login](https://docs.example/a)", "`bank.zip/login` ([docs.example/a](<https://docs.example/a>))"),
        ("[bank.example](https://docs.example/a)", "bank.example ([docs.example/a](<https://docs.example/a>))"),
        ("https://docs.example/a, and", "[docs.example/a](<https://docs.example/a>), and"),
        ("[](https://docs.example/a)", "[docs.example/a](<https://docs.example/a>)"),
        ("[x](https://docs.example/b)", "x"),
        ("https://docs.example/b", "`https://docs.example/b`"),
        ("discord://-/channels/1", "`discord://-/channels/1`"),
        ("[x](mailto:a@b.example)", "x"),
        ("[us](https://discord.gg/abc)", "us"),
        ("htt<b></b>ps://docs.example", "`https://docs.example`"),
    ],
)
def test_links_lead_to_the_index_and_say_so(markdown: str, shown: str) -> None:
    """A label that names another place stands beside the true address, and no other address can be clicked."""
    drawn = dialect(markdown, source(url="https://docs.example/a"))

    assert drawn == shown
    assert previews(drawn) == []


@pytest.mark.promise("honest-links")
def test_a_bracket_before_a_footnote_is_no_part_of_it() -> None:
    """Discord takes the first bracket that fits for the beginning of a label."""
    [message] = render_answer(answer("See [bank.example [1]", source()))

    assert labels(message) == ["[1]", "[1]"]


def test_a_failure_begins_with_a_warning() -> None:
    """Whoever reads sees at once that something did not work."""
    failed = answer("I can't search the documents right now.", status=Status.UNAVAILABLE)
    by_words = answer("Robots act.", lexical_only=True)

    assert render_answer(failed) == ["⚠️ I can't search the documents right now."]
    assert render_answer(by_words) == ["⚠️ Robots act."]


def test_nearest_sections_are_named_without_a_warning() -> None:
    """Not in the documents is an answer, and the nearest sections are there to look into."""
    missing = answer("I couldn't find that.", status=Status.NO_CONTEXT, nearest=(source(),))

    assert render_answer(missing) == [
        f"I couldn't find that.\n\n**Nearest sections**\n- Robots › What they are (docs.example) <{GUIDE}>"
    ]


def test_titles_cannot_write_marks_or_mentions() -> None:
    """A page with a strange title is named by it, and no more."""
    strange = source(title="@everyone **[x](https://evil.example)**", section="")

    [message] = render_answer(answer("Robots act [1].", strange))

    assert (live(message), links(message), previews(message)) == ([], {GUIDE}, [])


def test_a_long_list_of_sources_is_shortened() -> None:
    """Five sources are shown, and how many there are besides."""
    citations = [source(number, f"{GUIDE}{number}") for number in range(1, 9)]

    [message] = render_answer(answer("Robots act.", *citations))

    assert message.count("\n-# [[") == 5
    assert message.endswith("\n-# and 3 more")


def test_sources_with_long_addresses_leave_room_for_the_answer() -> None:
    """The list has a share of the message; the footnotes in the text lead to all of them."""
    citations = [source(number, f"{GUIDE}{'x' * 400}{number}") for number in range(1, 4)]

    [message] = render_answer(answer("Robots act.", *citations))

    assert message.count("\n-# [[") == 1
    assert message.endswith("\n-# and 2 more")


@pytest.mark.parametrize("length", [850, 2_000])
def test_a_source_with_too_long_an_address_is_named(length: int) -> None:
    """It is no link then, but a list that only says that there is one more source says nothing."""
    citations = [source(number, f"{GUIDE}{'x' * length}{number}") for number in (1, 2)]

    below = render_answer(answer("Robots act.", *citations))[-1].partition("\n\n")[2].split("\n")

    assert below == [below[0], "-# and 1 more"]
    assert below[0].startswith("-# [1] ")


def test_a_source_without_an_address_has_a_name() -> None:
    """A selected text is a source that leads nowhere."""
    selected = source(url="", title="The selected text", section="")

    assert render_answer(answer("It acts [1].", selected)) == ["It acts [1].\n\n-# [1] The selected text"]


def test_the_hint_stands_last() -> None:
    """Where follow-ups need a mention, the answer says so."""
    [message] = render_answer(answer("Robots act [1].", source()), hint=MENTION_TO_CONTINUE)

    assert message.endswith(f"(docs.example)\n-# {MENTION_TO_CONTINUE}")


@pytest.mark.promise("messages-stand-alone")
def test_a_long_answer_is_cut_between_paragraphs_and_fences_are_repaired() -> None:
    """Code goes on as code of the same language in the next message."""
    code = "\n".join(f"line_{number}()" for number in range(200))

    first, second = render_answer(answer(f"Run this:\n\n```py\n{code}\n```\nDone.\n"))

    assert (first.startswith("Run this:\n\n```py\nline_0()"), first.endswith("\n```")) == (True, True)
    assert (second.startswith("```py\nline_"), second.endswith("line_199()\n```\nDone.")) == (True, True)


@pytest.mark.promise("messages-stand-alone")
def test_the_sources_stay_with_the_end_of_the_answer() -> None:
    """A message that is full gives its last paragraphs to the one with the sources."""
    paragraphs = [f"{number} " + "word " * 60 for number in range(6)]
    text = "\n\n".join(paragraph.strip() for paragraph in paragraphs)

    messages = render_answer(answer(f"{text} [1]", source()))

    assert [units(message) <= PART_LIMIT for message in messages] == [True, True]
    assert messages[-1].startswith("5 word")
    assert "-# [[1]]" in messages[-1]


def test_an_answer_without_words_still_shows_its_foot() -> None:
    """Discord refuses messages without text."""
    assert render_answer(answer("", source())) == [f"-# [[1]](<{GUIDE}>) Robots › What they are (docs.example)"]


@pytest.mark.parametrize("emoji", ["👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "❤️", "é", "क्ष"])
def test_no_cut_falls_within_a_character(emoji: str) -> None:
    """Families, flags, skin tones and accents arrive whole, counted as the strictest count would."""
    messages = render_answer(answer(emoji * 1_500))

    assert [units(message) <= PART_LIMIT for message in messages] == [True] * len(messages)
    assert [message.replace(emoji, "") for message in messages] == [""] * len(messages)


@pytest.mark.promise("streaming-is-harmless")
def test_an_unfinished_message_closes_its_code() -> None:
    """What stands there for a moment stands alone too."""
    assert render_draft("Robots\n\n```py\nx = 1\ny") == ["Robots\n\n```py\nx = 1\n```"]


def test_real_pages_keep_their_code_and_their_words(shared_data: Path) -> None:
    """Of pages that people wrote, every block of code is a block on Discord, and no word is missing."""
    for path in portion(sorted((shared_data / "docusaurus-textbook" / "docs").rglob("*.md"))):
        page = path.read_text(encoding="utf-8").partition("\n---\n")[2]
        page = page.replace("Official Sources", "Official Shops")  # which is what a model's own list may be called
        tokens = MarkdownIt("commonmark").enable("table").parse(page)
        blocks = read(page, Quoted())
        pieces = [blocks[at : at + 40] for at in range(0, len(blocks), 40)]  # none has more messages than an answer
        shown = [message for piece in pieces for message in render_answer(answer(page, blocks=piece))]

        assert [flat(found[2]) for found in BLOCK.finditer(DISCORD.write(blocks))] == [
            flat(t.content) for t in tokens if t.type == "fence" and t.content.strip()
        ]
        assert Counter(words_of(tokens)) - Counter(words("\n".join(shown))) == Counter()
        assert [found for message in shown for found in (*live(message), *previews(message))] == []


def flat(text: str) -> str:
    """Give a text without the white space and the gaps that nobody sees."""
    return " ".join(text.replace(GAP, "").split())


def words_of(tokens: Sequence[Token]) -> Iterator[str]:
    """Give the words that a reader of a page sees."""
    for token in tokens:
        if token.type in ("text", "code_inline", "fence"):
            yield from words(token.content)
        yield from words_of(token.children or ())


@pytest.mark.promise("nothing-pings")
@given(text=TEXT)
@settings(deadline=None, max_examples=examples(200))
def test_whatever_a_model_writes_every_message_is_harmless(text: str) -> None:
    """No message is too long, pings, shows a preview, leaves code open or leads anywhere but to the index."""
    messages = render_answer(answered(text, nearest=(source(3),)))
    sources = make_sources()

    assert [m for m in messages if units(m) > PART_LIMIT or not m.strip() or fences(m) % 2] == []
    assert [found for message in messages for found in (*live(message), *previews(message))] == []
    assert [label for message in messages for label in labels(message) if "bank" in label] == []
    assert [url for m in messages for url in links(m) if url != GUIDE and url not in sources.urls] == []


@given(words_=st.lists(st.text(alphabet="abcdefgh", min_size=1, max_size=12), min_size=1, max_size=800))
@settings(deadline=None, max_examples=examples(50))
def test_no_word_is_lost(words_: list[str]) -> None:
    """The messages joined hold every word of the answer, in its order."""
    text = " ".join(word + ("." if n % 9 == 0 else "\n\n" if n % 31 == 0 else "") for n, word in enumerate(words_))

    assert [word for message in render_answer(answer(text)) for word in words(message)] == words_


@pytest.mark.promise("streaming-is-harmless")
@given(text=TEXT, cuts=st.lists(st.floats(0, 1), min_size=2, max_size=5).map(sorted))
@settings(deadline=None, max_examples=examples(200))
def test_what_is_shown_early_is_no_more_than_what_is_shown_in_the_end(text: str, cuts: list[float]) -> None:
    """No draft shows something live, or a link that the whole answer does not have; one renderer draws all of them."""
    document, renderer, at = written(""), DiscordRenderer(), 0
    whole = "\n".join(render_answer(answered(text)))
    for cut in cuts:
        document.feed(text[at : int(len(text) * cut)])
        at = int(len(text) * cut)
        early = [part.text for part in renderer.sketch(document)]
        assert early == render_draft(text[:at])
        assert [found for message in early for found in (*live(message), *previews(message))] == []
        assert {link for message in early for link in links(message)} - links(whole) == set()
        assert [message for message in early if units(message) > PART_LIMIT or fences(message) % 2] == []


@given(text=TEXT)
@settings(deadline=None, max_examples=examples(50))
def test_rendering_what_was_rendered_frees_nothing(text: str) -> None:
    """A message that is read back, as context for one, is as harmless as it was."""
    once = dialect(text)

    assert [*live(once), *live(dialect(once))] == []
