"""`footnote init`: questions, a file of the answers, and what comes next."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests.end_to_end.test_chat import leave
from tests.fixtures.commands import Footnote, write_documents

KEY = "sk-#it's secret".replace(" ", "-")


@pytest.fixture(name="place", autouse=True)
def _place(tmp_path: Path) -> Iterator[Path]:
    """Work in a folder without settings."""
    (tmp_path / "place").mkdir()
    with contextlib.chdir(tmp_path / "place"):
        yield tmp_path / "place"


@pytest.mark.promise("first-setup")
def test_the_answers_become_settings_and_the_documents_are_read(fresh: Footnote, place: Path, tmp_path: Path) -> None:
    """From a pipe as well: a line for each question; the file is for its owner's eyes alone."""
    write_documents(tmp_path / "zoo")
    lines = ["", "", KEY, "http://127.0.0.1:1/v1", "some-model", str(tmp_path / "zoo"), "https://zoo.example"]

    ended = fresh("init", stdin="\n".join(lines))

    written = (place / ".env").read_text()
    assert written.splitlines()[1:] == [
        "OPENAI_API_KEY='sk-#it\\'s-secret'",
        "OPENAI_BASE_URL=http://127.0.0.1:1/v1",
        "OPENAI_MODEL=some-model",
    ]
    assert (place / ".env").stat().st_mode & 0o777 == 0o600
    assert "zoo: 2 added" in ended.err
    assert re.search(r"^!!  chat model  .*OPENAI_BASE_URL", ended.out, re.MULTILINE)
    assert "ok  index  2 pages" in ended.out
    assert ended.out.endswith("Next, do what the lines with !! say, and type: footnote doctor\n")
    assert (ended.code, KEY in ended.out + ended.err) == (1, False)


def test_enter_alone_is_enough(footnote: Footnote, place: Path) -> None:
    """Nothing is needed to begin; where all is well, the next step is named."""
    ended = footnote("init")

    assert (ended.code, (place / ".env").read_text().count("\n")) == (0, 1)
    assert ended.out.endswith("Next, type: footnote chat\n")


def test_nothing_is_overwritten_without_a_word(footnote: Footnote, place: Path) -> None:
    """Neither at the end of a pipe nor by a no; a yes keeps what was there."""
    (place / ".env").write_text("FOOTNOTE_TOP_K=7\n")

    ended, no = footnote("init"), footnote("init", stdin="n\n")
    before = (place / ".env").read_text()
    footnote("init", stdin="y\n")

    assert (ended.code, no.code, before) == (0, 0, "FOOTNOTE_TOP_K=7\n")
    assert "Nothing was changed." in ended.out
    assert (place / ".env.before").read_text() == before
    assert "FOOTNOTE_TOP_K" not in (place / ".env").read_text()


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["", "xapp-1"], "SLACK_BOT_TOKEN: this is not a bot token"),
        (["", "", "", "", "nowhere"], "There is no folder or file at nowhere."),
    ],
)
def test_a_wrong_answer_in_a_pipe_ends_it(footnote: Footnote, place: Path, lines: list[str], says: str) -> None:
    """Nothing is written then."""
    ended = footnote("init", stdin="\n".join(lines) + "\n")

    assert (ended.code, ended.err.startswith(says), (place / ".env").exists()) == (2, True, False)


def test_at_a_terminal_a_wrong_answer_is_asked_again_and_no_key_is_shown(footnote: Footnote, place: Path) -> None:
    """As it is typed, a token stays invisible."""
    program, *rest = footnote.command("init")
    spawn: Any = pexpect.spawn  # untyped
    child = spawn(program, rest, env=footnote.env(), encoding="utf-8", timeout=60)
    for _ in range(2):
        child.expect("on Slack, xoxb|on Discord")
        child.sendline("" if "Discord" in child.after else "xapp-hunter2")
    child.expect("this is not a bot token")
    child.expect("on Slack, xoxb")
    child.sendline("xoxb-hunter2")
    child.expect("App-level token")

    assert leave(child) == 130
    assert "hunter2" not in child.before
    assert not (place / ".env").exists()
