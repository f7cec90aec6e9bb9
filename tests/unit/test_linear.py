"""Whatever is read or written takes twice as long where it is twice as long, whoever made it up.

Times are taken in `make soak` alone: the longer text against the shorter one, in one run.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.chat.dialect import heading
from adapters.discord.dialect import DISCORD, DiscordRenderer
from adapters.extractive.quotes import ScoredUnit, compose, standing
from adapters.extractive.units import AskedWords, Source, units
from adapters.openai.calls import MOST_ARGUMENTS, begins_call, written_calls
from adapters.openai.reading import Reading
from adapters.openai.thoughts import TextFilter
from adapters.slack.dialect import SLACK, SPOKEN, SlackRenderer
from adapters.slack.events import words
from core.answering.citations import Quoted, selected_text, trim_url
from core.answering.claims import Evidence, Statement
from core.answering.context import history
from core.answering.deeds import deeds, undecided
from core.answering.dialect import MARKDOWN, one_line
from core.answering.markup import read
from core.answering.smalltalk import is_small_talk, matter_of, reply_to, wants_writing
from core.community.addressing import is_acknowledgement, reads_as_question
from core.community.question_words import (
    ACKNOWLEDGED,
    ACKNOWLEDGED_APART,
    GOES_ON,
    NOT_NAMES,
    REACTION,
    SCRIPTS,
    SPACED,
    THANKS_APART,
)
from core.documents.excerpt import excerpt, sentences
from core.model import Conversation, without_controls
from tests.answers import PIECES, answered, make_sources, written
from tests.builders import thread, turn_of
from tests.portion import WHOLE, portion

SHORT, LONG, ROUNDS = 12_000, 24_000, 3
ALWAYS_QUICK = 0.1  # seconds, below which no ratio means anything
A_STEP = 0.4  # the same where the longer text may be the first that takes a second message
A_LONG_ANSWER = 2.0  # seconds, three times what the worst one takes
A_MESSAGE = 0.25  # seconds, many times what the worst one takes
A_WHILE = 1_200  # seconds for what is nearly all work, which a busy machine does slowly
MOST = 3.0  # times, where reading everything twice would be four
MARKS = [
    "`",
    "a`",
    "[",
    "[a](",
    "](",
    "*",
    "*a ",
    "_",
    "~~a",
    "> ",
    "- ",
    "1. ",
    "\t",
    " ",
    "\n",
    "|",
    "<!--",
    "<a ",
    "&",
    "www.",
    "[!",
    ".",
    "…",
    "!?",
    "\n ",
    "$$",
    '"',
    "A. robot ",
    "Sources\n",
    "0x",
    "5",
]
BEGINNINGS = ["", "a", "# a", "Sources:\n\n", "| a | b |\n|---|---|\n", "```py\n", "\n- a\n"]


def _remembered(text: str) -> None:
    history(Conversation(thread=thread(), turns=(turn_of("?", text),)), budget=1e9)


@lru_cache(maxsize=2)
def _calls(text: str) -> bytes:
    """Give an event for each character of what a call is given, as the services that send the least at once do."""
    begun = {"index": 0, "id": "c", "function": {"name": "search_documents", "arguments": ""}}
    pieces = [begun, *({"index": 0, "function": {"arguments": piece}} for piece in text[:MOST_ARGUMENTS])]
    events = [{"choices": [{"delta": {"tool_calls": [piece]}}]} for piece in pieces]
    return b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)


def _weighed(text: str) -> None:
    found = tuple(units(text))
    asked, source = AskedWords("What is a robot?"), Source(1, 1.0, "", "", found)
    for unit in found:
        standing(asked, source, unit)
    compose(asked, [ScoredUnit(source, unit, 1.0) for unit in found[:3]])


def _is_asked(text: str, *, follows_answer: bool = False) -> bool:
    return reads_as_question(text, names=["Kim"], follows_answer=follows_answer)


def _evidence(text: str) -> Evidence:
    evidence = Evidence()
    evidence.add(1, text)
    return evidence


CLAIM = Statement("The robot R2 lifts 5 kg with `lift_arm()`.")
EVIDENCE = _evidence("The robot R2 lifts 5 kg.")
READERS: Mapping[str, Callable[[str], Any]] = {
    "an answer": lambda text: MARKDOWN.write(read(text, make_sources())),
    "a quoted text": lambda text: read(text, Quoted()),
    "a selected text": selected_text,
    "a draft": lambda text: written(text).read(),
    "a remembered answer": _remembered,
    "an address": trim_url,
    "unseen characters": without_controls,
    "small talk": lambda text: (is_small_talk(text), reply_to(text)),
    "what is asked of the bot itself": lambda text: (matter_of(text), wants_writing(text)),
    "an acknowledgement": is_acknowledgement,
    "a question among people": lambda text: (_is_asked(text), _is_asked(text, follows_answer=True)),
    "claims of a deed": lambda text: (list(deeds(text)), undecided(text)),
    "a claim": lambda text: EVIDENCE.held(Statement(text), enough=0.5),
    "a passage": lambda text: _evidence(text).held(CLAIM, enough=0.5),
    "a passage of a footnote": lambda text: _evidence(text).support(CLAIM, 1),
    "a title": lambda text: (one_line(text, 120), heading(text, 80)),
    "text on Discord": DISCORD.text,
    "text on Slack": lambda text: (SLACK.text(text), SPOKEN.text(text)),
    "code": lambda text: (DISCORD.code(text), SLACK.code_line(text)),
    "sentences": sentences,
    "an excerpt": lambda text: excerpt(text, "What is a robot?", limit=800),
    "quotes": units,
    "what a quote is about": _weighed,
    "a message of Slack": words,
    "an event of a stream": lambda text: Reading("m", ()).read(text.encode(errors="replace")),
    "thoughts": lambda text: TextFilter(("look_up",)).shown("<think>a</think>" * (len(text) // 16) + text),
    "thoughts that nothing opens": lambda text: (TextFilter(is_heard=True).shown(text), TextFilter().shown(text)),
    "marks in an answer": lambda text: TextFilter(("look_up",)).shown("A robot acts. " + text),
    "a call in words": lambda text: (begins_call(text, ("look_up",)), written_calls(text, ("look_up",))),
    "calls of tools": lambda text: Reading("m", ()).read(_calls(text)),
    "messages on Discord": lambda text: DiscordRenderer().whole(answered(text)),
    "messages on Slack": lambda text: SlackRenderer().whole(answered(text)),
}
OF_PEOPLE = ("small talk", "an acknowledgement", "a question among people")
MESSAGES = (READERS["messages on Discord"], READERS["messages on Slack"])


def least(reader: Callable[[str], Any], text: str, *, enough: float = 0.0) -> float:
    """Give the least CPU time of several runs: others only ever add to it. One below what is *enough* is the last."""
    times = list[float]()
    for _ in range(ROUNDS):
        begun = time.process_time()
        reader(text)
        times.append(time.process_time() - begun)
        if times[-1] < enough:
            break
    return min(times)


def seconds(reader: Callable[[str], Any], beginning: str, unit: str, length: int, *, enough: float = 0.0) -> float:
    """Give the least CPU time for a text that repeats a unit."""
    return least(reader, beginning + (unit * (length // len(unit) + 1))[:length] + "x", enough=enough)


def takes_twice(reader: Callable[[str], Any], beginning: str, unit: str) -> bool:
    """Say whether twice the text takes about twice the time, or hardly any."""
    quick = A_STEP if reader in MESSAGES else ALWAYS_QUICK
    long = seconds(reader, beginning, unit, LONG, enough=quick)
    return long < quick or long / seconds(reader, beginning, unit, SHORT) < MOST


@pytest.mark.timeout(A_WHILE)
@pytest.mark.skipif(not WHOLE, reason="it takes time, which a busy machine has not")
@pytest.mark.parametrize("reader", READERS.values(), ids=list(READERS))
@example(beginning="", unit="www.>。")
@example(beginning="", unit="](![")  # which once took four times as long where it is asked what a quote is about
@given(
    beginning=st.sampled_from(BEGINNINGS),
    unit=st.lists(st.sampled_from([*MARKS, *PIECES]), min_size=1, max_size=4).map("".join),
)
@settings(max_examples=150, deadline=None)
def test_twice_the_text_takes_about_twice_the_time(reader: Callable[[str], Any], beginning: str, unit: str) -> None:
    """Of any text, in every reader; a machine that was busy with others meanwhile is given another chance."""
    assert any(takes_twice(reader, beginning, unit) for _ in range(ROUNDS))


def _patterns() -> Iterator[str]:
    """Yield whatever people's words are compared with."""
    for wording in (*SPACED, *(wording for _, wording in SCRIPTS)):
        each = wording.asks, wording.seeks, wording.requests, wording.personal, wording.chatty, wording.general
        yield from each
        yield from wording.common
    yield from (each.pattern for each in (ACKNOWLEDGED_APART, GOES_ON, REACTION, THANKS_APART))
    yield from (*ACKNOWLEDGED, *NOT_NAMES)


WORDS = sorted({word for pattern in _patterns() for word in re.findall(r"[^\W_]+(?: [^\W_]+)?", pattern)})
UNHARMED = [  # each of them took seconds once, or could have
    *["h", "ha", "ah ", "bye ", "ok bot ", "了解です", "몇", "何", "ですか", "さん", "क्या ", "支持", "comment a", "A'"],
    *[
        "1。",
        "a? ",
        "'",
        "ja",
        "k",
        "lol",
        "1",
        "@a",
        ":a",
        "`",
        "```",
        "a.",
        "> ",
        "www.",
        "hi, ",
        "A, ",
        "\ufdfa",
        "İ",
        "ne var mı ",
        "có gì là ",
        "kya hai ",
        "هل ي ",
        "چیست ",
        "למה ",
        "ไหม",
    ],
]
LENGTHS = (36, 60, 120, 2_000, 40_000)  # so that what takes for ever is noticed before it does


def _assert_quick(name: str, unit: str, *, beginning: str = "") -> None:
    for length in LENGTHS:
        for end in ("q!", " q?"):
            text = (beginning + unit * (length // len(unit) + 1))[:length] + end
            assert least(READERS[name], text, enough=A_MESSAGE) < A_MESSAGE, (name, beginning, unit, length, end)


@pytest.mark.parametrize("unit", UNHARMED)
@pytest.mark.parametrize("name", OF_PEOPLE)
def test_a_message_of_people_is_read_at_once(name: str, unit: str) -> None:
    """Whatever it repeats: whoever listens reads every message, and hears nothing meanwhile."""
    _assert_quick(name, unit)


@pytest.mark.timeout(A_WHILE)
@pytest.mark.parametrize("name", OF_PEOPLE)
def test_a_message_that_repeats_what_people_say_is_read_at_once(name: str) -> None:
    """Each word that is looked for in messages can be what somebody repeats."""
    for word in portion(portion(WORDS)):
        _assert_quick(name, word)
        _assert_quick(name, f"{word} ")


@pytest.mark.timeout(A_WHILE)
@pytest.mark.skipif(not WHOLE, reason="it takes time, which a busy machine has not")
@pytest.mark.parametrize("name", OF_PEOPLE)
@given(
    words=st.lists(st.sampled_from([*WORDS, *MARKS]), min_size=2, max_size=5), apart=st.sampled_from(["", " ", ", "])
)
@settings(max_examples=2_000, deadline=None)
def test_a_message_of_any_words_is_read_at_once(name: str, words: list[str], apart: str) -> None:
    """Also behind a word that is said once."""
    _assert_quick(name, apart.join(words[1:]) + apart, beginning=words[0] + apart)


@pytest.mark.parametrize("unit", [".", "…", "!?", '"'])
@pytest.mark.parametrize("name", ["sentences", "an excerpt", "quotes", "what a quote is about"])
def test_a_run_of_marks_is_read_once(name: str, unit: str) -> None:
    """Not from each of its characters on, which took seconds; the CPU's time, so that a busy machine changes little."""
    assert seconds(READERS[name], "", unit, 40_000, enough=1.0) < 1.0


@pytest.mark.parametrize("unit", ["`", "[", "*a ", "$a "])
@pytest.mark.parametrize("name", ["an answer", "a draft", "messages on Slack"])
def test_marks_that_nothing_closes_are_read_once(name: str, unit: str) -> None:
    """A lone backtick before much text once took seconds, too."""
    for text in (unit * (40_000 // len(unit)), f"{unit}{'word ' * 8_000}"):
        assert least(READERS[name], text, enough=A_LONG_ANSWER) < A_LONG_ANSWER


@pytest.mark.parametrize("unit", ["0x", "5", "aB", "_"])
@pytest.mark.parametrize("name", ["a claim", "a passage"])
def test_one_long_word_is_read_once(name: str, unit: str) -> None:
    """A name in code was once looked for from each of its characters on, which took seconds."""
    assert seconds(READERS[name], "", unit, 20_000, enough=1.0) < 1.0


def test_lines_with_footnotes_are_read_once() -> None:
    """All that stood before a footnote was once put together anew for each of them."""
    assert seconds(READERS["an answer"], "", "[1] a\n", 30_000, enough=1.0) < 1.0


@pytest.mark.parametrize("unit", ["> ", "- ", "> - ", "1. "])
def test_nothing_is_nested_without_an_end(unit: str) -> None:
    """The marks of what is too deep are words, and every line of code has few quotes and items around it."""
    text = unit * 2_000 + "```py\n" + "x\n" * 2_000

    blocks = read(text, make_sources())
    assert max(len(block.path) for block in blocks) < 10
    assert len(MARKDOWN.write(blocks)) < 40 * len(text)
    answer = answered(text)
    assert [make().whole(answer) == [] for make in (DiscordRenderer, SlackRenderer)] == [False, False]


@pytest.mark.parametrize(
    ("written_as", "said"),
    [("# C#", "C#"), ("# a # b ##", "a # b"), ("#", ""), ("# #", ""), ("#\ta\t#", "a"), ("# a#\t", "a#")],
)
def test_the_marks_behind_a_heading_are_no_words(written_as: str, said: str) -> None:
    """They are if they touch one."""
    assert MARKDOWN.write(read(written_as, make_sources())) == (f"# {said}" if said else "")
