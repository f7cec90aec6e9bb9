"""The command line itself: its version, its completion, and words without quotes."""

from __future__ import annotations

import re

import pytest

from bot.version import version
from tests.fixtures.commands import Footnote, Here


def test_the_version_names_the_code(footnote: Footnote, here: Here) -> None:
    """The number, and a fingerprint of the code, which the log of a bot has too."""
    ended = here(footnote, "--version")

    assert (ended.code, ended.out, ended.err) == (0, f"footnote {version()}\n", "")
    assert re.fullmatch(r"footnote \d+\.\d+\.\d+\+[0-9a-f]{7}\n", ended.out)


@pytest.mark.parametrize(
    ("typed", "offered"), [("footnote in", {"ingest", "inbox", "init"}), ("footnote inbox re", {"retry"})]
)
def test_a_shell_completes_commands(footnote: Footnote, typed: str, offered: set[str]) -> None:
    """As the script asks that `footnote --install-completion` puts into the shell's start-up file."""
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    ended = footnote.apart(_FOOTNOTE_COMPLETE="complete_bash", **words)

    assert offered >= set(ended.out.split()) > set()


def test_a_question_needs_no_quotes(footnote: Footnote) -> None:
    """Its words may stand there as they are; options go before or after them."""
    bare = footnote("ask", "What", "do", "penguins", "eat", "--source", "zoo")
    quoted = footnote("ask", "What do penguins eat", "--source", "zoo")

    assert (bare.code, bare.out) == (0, quoted.out)


def test_nothing_to_ask_is_told(footnote: Footnote, here: Here) -> None:
    """Blank words are no question."""
    ended = here(footnote, "ask", "", " ")

    assert (ended.code, ended.err) == (2, "Please provide a question to ask about the documents.\n")
