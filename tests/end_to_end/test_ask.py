"""`footnote ask`: answers, abstaining, JSON, exit codes and wrong input."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.fixtures.commands import Footnote, Here

KEYS = [
    "answer",
    "status",
    "sources",
    "has_relevant_context",
    "nearest",
    "tool_calls",
    "usage",
    "retrieval_time_ms",
    "generation_time_ms",
    "total_time_ms",
    "error",
]


@pytest.mark.promise("footnotes")
def test_an_answer_quotes_the_page_and_links_to_its_section(footnote: Footnote) -> None:
    """The whole text of an answer in a pipe: quote, mark, notice, source with address and score."""
    ended = footnote.apart("ask", "What do penguins eat?")

    quote, notice, sources = ended.out.strip().split("\n\n")
    assert quote == "Penguins eat fish, krill and squid that they catch under water. [1]"
    assert notice == "_These are quotes from the documents, since no chat model is configured._"
    assert sources.startswith("Sources:\n[1] Penguins › Food https://zoo.example/birds/penguins#food (")
    assert (ended.code, ended.err) == (0, "")


def test_what_is_misspelled_is_found_as_the_documents_spell_it(footnote: Footnote) -> None:
    """The embedder knows no such word, and no passage has it."""
    food = footnote("ask", "which food do peguins eat").out
    tower = footnote("ask", "what is a lihgthouse for").out

    assert food.startswith("Penguins eat fish, krill and squid that they catch under water. [1]")
    assert tower.startswith("A lighthouse is a tower with a bright lamp that guides ships at night. [1]")


@pytest.mark.promise("json")
def test_the_answer_as_json_has_every_key_and_nothing_else_is_printed(footnote: Footnote) -> None:
    """Programs get one object with the promised keys."""
    ended = footnote("ask", "Which lens does a lighthouse lamp use?", "--json")

    answer = json.loads(ended.out)
    assert list(answer) == KEYS
    assert answer["status"] == "answered"
    assert answer["error"] is None
    assert [(s["number"], s["chapter"], s["url"]) for s in answer["sources"]] == [
        (1, "sea", "https://zoo.example/sea/lighthouses#lamps")
    ]
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.promise("abstains")
@pytest.mark.parametrize(
    ("question", "nearest"),
    [("How tall is the Eiffel tower?", ["Lighthouses"]), ("How do I file my income taxes?", [])],
)
def test_what_is_not_in_the_documents_is_said_plainly(footnote: Footnote, question: str, nearest: list[str]) -> None:
    """Nothing is made up: a sentence, the nearest sections if any come near, and exit code 0."""
    ended = footnote("ask", question, "--json")

    answer = json.loads(ended.out)
    assert (ended.code, answer["status"], answer["sources"]) == (0, "no_context", [])
    assert answer["answer"].startswith("I couldn't find anything about that in the documents.")
    assert answer["error"]["error_type"] == "no_context"
    assert [section["title"] for section in answer["nearest"]] == nearest


@pytest.mark.promise("documents-apart")
def test_the_operator_asks_about_all_sources_whoever_may_read_them(footnote: Footnote) -> None:
    """At the terminal, what is shared with nobody is answered from and listed; what is picked narrows that alone."""
    shared = footnote("sources", "share", "zoo", "--nobody")

    answer = json.loads(footnote("ask", "What do penguins eat?", "--json").out)
    listed = footnote("ask", "What can I ask you?")
    picked = footnote("ask", "What can I ask you?", "--chapter", "sea")

    assert (shared.code, answer["status"]) == (0, "answered")
    assert re.findall(r"^- (.+)$", listed.out, re.MULTILINE) == ["birds", "sea"]
    assert re.findall(r"^- (.+)$", picked.out, re.MULTILINE) == ["sea"]


@pytest.mark.promise("selection-only")
def test_a_selection_is_the_only_source(footnote: Footnote) -> None:
    """The answer comes from the selected text, or the sentence that it is not there."""
    text = "The museum opens at nine. Tickets cost eight euros for adults."

    found = json.loads(footnote("ask", "How much do tickets cost?", "--selection", text, "--json").out)
    missing = json.loads(footnote("ask", "What do penguins eat?", "--selection", text, "--json").out)

    assert (found["answer"], found["tool_calls"]) == (
        "The museum opens at nine. Tickets cost eight euros for adults. [1]",
        [],
    )
    assert [source["title"] for source in found["sources"]] == ["The selected text"]
    assert missing["answer"] == 'The selected text doesn\'t contain information about "What do penguins eat".'


@pytest.mark.promise("follow-ups")
def test_a_follow_up_in_a_thread_knows_what_it_is_about(footnote: Footnote) -> None:
    """A later command continues the conversation of the same name; another thread does not."""
    footnote("ask", "What is a lighthouse?", "--thread", "one")

    follow_up = footnote("ask", "From how far away is its lamp visible?", "--thread", "one")

    assert "thirty kilometres" in follow_up.out
    assert "no chat model" not in follow_up.out


@pytest.mark.promise("scope")
def test_a_chapter_limits_what_is_searched(footnote: Footnote) -> None:
    """What lies in another chapter is not found."""
    answer = json.loads(footnote("ask", "What do penguins eat?", "--chapter", "sea", "--json").out)

    assert answer["status"] == "no_context"


@pytest.mark.promise("says-what-to-do")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["x" * 2001], "The question has 2,001 characters; the limit is 2,000. Please shorten it and ask again."),
        (["   "], "Please provide a question to ask about the documents."),
        (["\x01\x02\x1b"], "Please provide a question to ask about the documents."),
        (["Why?", "--top-k", "0"], "The number of passages (top_k) is 0; it has to be between 1 and 20."),
        (["Why?", "--top-k", "21"], "The number of passages (top_k) is 21; it has to be between 1 and 20."),
        (["Why?", "--threshold", "nan"], "The relevance threshold is nan; it has to be between 0 and 1."),
        (["Why?", "--threshold", "1.1"], "The relevance threshold is 1.1; it has to be between 0 and 1."),
        (["Why?", "--chapter", "moon"], "There is no chapter 'moon'. The chapters are: birds, sea."),
        (["Why?", "--source", "moon"], "There is no source 'moon'. The sources are: zoo."),
        (["Why?", "--thread", " "], "The thread's name is empty. Give it one, such as --thread homework."),
        (["Why?", "--thread", ""], "The thread's name is empty. Give it one, such as --thread homework."),
        (["Why?", "--thread", "\udcff"], "The thread's name is empty. Give it one, such as --thread homework."),
        (["Why?", "--selection", " "], "The selected text is empty. Select some text, or ask without a selection."),
    ],
)
def test_wrong_input_gets_a_sentence_that_says_what_to_do(
    footnote: Footnote, here: Here, words: list[str], sentence: str
) -> None:
    """It comes on standard error, with exit code 2."""
    ended = here(footnote, "ask", *words)

    assert (ended.code, ended.out, ended.err) == (2, "", sentence + "\n")


@pytest.mark.promise("json")
def test_wrong_input_is_told_to_programs_with_the_same_keys(footnote: Footnote) -> None:
    """With `--json`, an error is one object on standard output too."""
    ended = footnote("ask", " ", "--json")

    answer = json.loads(ended.out)
    assert (ended.code, ended.err, list(answer)) == (2, "", KEYS)
    assert answer["error"] == {
        "error_type": "validation",
        "message": "Please provide a question to ask about the documents.",
    }


@pytest.mark.parametrize("words", [["ask"], ["ask", "a", "b"], ["ask", "a", "--top-k", "many"], ["nonsense"]])
def test_wrong_usage_ends_with_code_2(fresh: Footnote, here: Here, words: list[str]) -> None:
    """The parser says what is wrong."""
    assert here(fresh, *words).code == 2


@pytest.mark.promise("says-what-to-do")
def test_an_empty_index_says_what_to_run(fresh: Footnote) -> None:
    """Before the first ingestion there is nothing to ask."""
    ended = fresh("ask", "What do penguins eat?")

    assert (ended.code, ended.err) == (2, "There are no documents yet. Read some first: footnote ingest FOLDER\n")


@pytest.mark.promise("answers-without-memory")
def test_an_unreachable_store_costs_the_memory_not_the_answer(footnote: Footnote) -> None:
    """With Redis away the answer comes all the same, and a line says what is missing."""
    ended = footnote("ask", "What do penguins eat?", "--thread", "t", REDIS_URL="redis://:s3cret@127.0.0.1:1/0")

    assert (ended.code, ended.out.startswith("Penguins eat fish")) == (0, True)
    assert ended.err.count("without memory") == 1
    assert "s3cret" not in ended.err + (footnote.data / "footnote.log").read_text()


@pytest.mark.parametrize(
    ("setting", "value", "sentence"),
    [
        ("REDIS_URL", "nonsense", "REDIS_URL is not an address."),
        ("FOOTNOTE_TOP_K", "99", "FOOTNOTE_TOP_K: this has to be a whole number, at least 1 and at most 20."),
        ("FOOTNOTE_SECRET_KEY", "short", "FOOTNOTE_SECRET_KEY"),
        ("FOOTNOTE_DATA_DIR", "/dev/null/x", "The data folder /dev/null/x cannot be written"),
    ],
)
def test_a_wrong_setting_is_named(footnote: Footnote, here: Here, setting: str, value: str, sentence: str) -> None:
    """The sentence says which setting and what it may be."""
    ended = here(footnote, "ask", "What do penguins eat?", "--thread", "t", **{setting: value})

    assert (ended.code, sentence in ended.err) == (2, True)


def test_a_reader_that_has_seen_enough_is_no_error(footnote: Footnote) -> None:
    """`footnote ask … | head` does not complain."""
    with subprocess.Popen(
        footnote.command("ask", "What do penguins eat?"),
        env=footnote.env(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""


@pytest.mark.promise("full-disk")
@pytest.mark.parametrize(("words", "code"), [(["What do penguins eat?"], 3), ([" ", "--json"], 2)])
def test_an_output_without_room_is_told_in_words(footnote: Footnote, words: list[str], code: int) -> None:
    """What cannot be written on standard output is said on the other one; exit code and sentence are as usual."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            footnote.command("ask", *words),
            env=footnote.env(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    sentence = {2: "Please provide a question to ask about the documents.", 3: "There is no space left to write."}[code]
    assert (done.returncode, done.stderr.startswith(sentence), done.stderr.count("\n")) == (code, True, 1)


def test_a_terminal_that_knows_only_ascii_gets_an_answer(footnote: Footnote) -> None:
    """Characters that cannot be shown are replaced."""
    ended = footnote.apart("ask", "What do penguins eat?", PYTHONIOENCODING="ascii", LC_ALL="C")

    assert (ended.code, "Penguins ? Food" in ended.out) == (0, True)


@pytest.mark.promise("logs-without-texts")
def test_the_log_holds_no_words_that_somebody_wrote(footnote: Footnote) -> None:
    """Each line is one JSON object; question, documents and answer stay out of it."""
    footnote("ask", "What do penguins eat, please, xylophone?", "--thread", "t")

    log = (footnote.data / "footnote.log").read_text()
    events = [json.loads(line)["event"] for line in log.splitlines()]
    assert {"state_changed", "tool_called", "tokens_used"} <= set(events)
    assert not [word for word in ("xylophone", "penguin", "krill") if word in log.casefold()]
