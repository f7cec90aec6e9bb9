"""`footnote chat`: a conversation that goes on, its commands, and Ctrl-C on a real terminal."""

from __future__ import annotations

import asyncio
import os
import re
import termios
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any, Protocol

import pexpect
import pytest
from pexpect.fdpexpect import fdspawn

from tests.fixtures.commands import Footnote
from tests.fixtures.nursery import forks, on_terminal
from tests.servers.openai import MODEL, ChatServer
from tests.servers.service import Hang

FORKS = forks(__name__)
PATIENCE = 60  # seconds, also on a busy machine


class Starting(Protocol):
    """Starts the command on a terminal of its own."""

    def __call__(self, *words: str, columns: int = 100, **env: str) -> Any:
        """Return the child."""
        ...


class Child:
    """A command on a terminal of its own, in a process that is forked, and need not load everything."""

    def __init__(self, footnote: Footnote, words: tuple[str, ...], columns: int, env: dict[str, str]) -> None:
        self._screen, terminal = os.openpty()
        termios.tcsetwinsize(terminal, (24, columns))
        modes = termios.tcgetattr(terminal)
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(terminal, termios.TCSANOW, modes)
        environment = footnote.env(TERM="xterm-256color", **env)
        del environment["COLUMNS"]
        opening, opened = FORKS.Pipe(duplex=False)
        self._process = FORKS.Process(target=on_terminal, args=(words, environment, os.ttyname(terminal), opened))
        with opening:
            with opened:
                self._process.start()
            assert opening.poll(PATIENCE)
        os.close(terminal)
        spawn: Any = fdspawn  # untyped
        self._shown = spawn(self._screen, timeout=PATIENCE, encoding="utf-8")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shown, name)

    def sendintr(self) -> None:
        """Press Ctrl-C."""
        os.write(self._screen, b"\x03")

    def sendeof(self) -> None:
        """Press Ctrl-D."""
        os.write(self._screen, b"\x04")

    def close(self, *, force: bool = False) -> None:
        """Wait for its end, or end it."""
        if force:
            self._process.kill()
        self._process.join(PATIENCE)
        self._shown.close()

    @property
    def exitstatus(self) -> int | None:
        """How it ended."""
        return self._process.exitcode


@pytest.fixture(name="terminal")
def _terminal(footnote: Footnote) -> Iterator[Starting]:
    """Start commands, and end those that are there after a test has failed: servers wait for whoever talks to them."""
    children = list[Any]()

    def start(*words: str, columns: int = 100, **env: str) -> Any:
        children.append(Child(footnote, words, columns, env))
        return children[-1]

    yield start
    for child in children:
        child.close(force=True)


class Hanging:
    """A chat model that does not answer the first question, so that there is time to stop it."""

    def __init__(self, server: ChatServer) -> None:
        server.faults.append(Hang())
        self._server = server
        self.settings: dict[str, Any] = {
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": server.key,
            "OPENAI_MODEL": MODEL,
        }

    async def asked(self, child: Any) -> None:
        """Wait until it is asked something, and read what the terminal shows: a full one would hold up the command."""
        async with asyncio.timeout(PATIENCE):
            while not self._server.received:
                await asyncio.to_thread(child.expect, pexpect.TIMEOUT, 0.05)


@pytest.fixture(name="hanging")
async def _hanging() -> AsyncGenerator[Hanging]:
    """Run such a model."""
    async with ChatServer() as server:
        yield Hanging(server)


async def shows(child: Any, words: str) -> None:
    """Wait until the terminal shows some words, while servers of this process go on."""
    await asyncio.to_thread(child.expect, words)


def end(child: Any) -> int:
    """Wait for the end of the command and give its exit code."""
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus


def leave(child: Any) -> int:
    """Press Ctrl-C at the prompt, as often as it takes, and give the exit code.

    Python's readline misses one that comes after it has shown the prompt and before it waits for a key.
    """
    for _ in range(3):
        child.sendintr()
        if child.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=10) == 0:
            break
    child.close()
    return child.exitstatus


@pytest.mark.promise("follow-ups")
def test_a_conversation_goes_on_in_the_next_process(footnote: Footnote) -> None:
    """What a follow-up leans on may have been asked yesterday."""
    footnote("chat", stdin="What is a lighthouse?\n")

    ended = footnote("chat", stdin="From how far away is its lamp visible?\n/sources\n")

    assert (ended.code, ended.err) == (0, "")
    assert "Continuing this conversation (1 question so far); /forget starts over." in ended.out
    assert "thirty kilometres" in ended.out
    assert re.search(
        r"^\[1\] Lighthouses › Lamps  https://zoo\.example/sea/lighthouses#lamps  [01]\.\d\d$", ended.out, re.MULTILINE
    )


@pytest.mark.promise("forget")
def test_a_forgotten_conversation_starts_anew(footnote: Footnote) -> None:
    """The next process knows nothing of it, and forgetting twice is no error."""
    first = footnote("chat", stdin="What is a lighthouse?\n/forget\n/forget\n/sources\n")
    second = footnote("chat")

    assert first.out.endswith("Forgotten.\nThere was nothing to forget.\nThe last answer has no sources.\n")
    assert second.out == "Ask about the documents. /help shows what else you can type.\n"


def test_every_line_that_is_no_question_gets_an_answer_too(footnote: Footnote) -> None:
    """Blank lines are skipped; unknown commands and wrong questions are told, and the chat goes on."""
    lines = ["", "/sources", "/nonsense", "x" * 2001, "\x01", "/help", "What do penguins eat?", "/quit", "never read"]

    ended = footnote("chat", stdin="\n".join(lines))

    assert (ended.code, ended.err) == (0, "")
    assert "The last answer has no sources.\nThere is no command /nonsense. /help shows" in ended.out
    assert "The question has 2,001 characters; the limit is 2,000." in ended.out
    assert "Please provide a question to ask about the documents." in ended.out
    assert "Ctrl-C stops an answer." in ended.out
    assert ended.out.endswith(")\n")
    assert "Penguins eat fish" in ended.out


def test_a_chat_without_its_store_answers_without_memory(footnote: Footnote) -> None:
    """With Redis away, every answer comes; a line says that nothing is remembered."""
    ended = footnote("chat", stdin="What do penguins eat?\n/forget\n", REDIS_URL="redis://127.0.0.1:1/0")

    assert ended.code == 0
    assert "Until then, nothing is remembered." in ended.out
    assert "Penguins eat fish" in ended.out
    assert "Nothing was forgotten." in ended.out


def test_an_empty_index_says_what_to_run(fresh: Footnote) -> None:
    """A chat about nothing does not begin."""
    ended = fresh("chat", stdin="What do penguins eat?\n")

    assert (ended.code, ended.err) == (2, "There are no documents yet. Read some first: footnote ingest FOLDER\n")


async def test_ctrl_c_stops_the_answer_and_the_chat_goes_on(
    footnote: Footnote, hanging: Hanging, terminal: Starting
) -> None:
    """During an answer it stops the answer; at the prompt it leaves, with code 130."""
    child = terminal("chat", **hanging.settings)
    await shows(child, "> ")
    child.sendline("What do penguins eat?")
    await hanging.asked(child)
    child.sendintr()
    await shows(child, "Stopped")
    await shows(child, "> ")
    child.sendline("What is a lighthouse?")
    await shows(child, "Sources")
    await shows(child, "> ")

    assert await asyncio.to_thread(leave, child) == 130
    assert "Traceback" not in child.before
    assert "1 question so far" in footnote("chat").out


def test_an_unfinished_line_survives_ctrl_c_once(terminal: Starting) -> None:
    """It is there again to be finished; a second time, or with nothing typed, Ctrl-C leaves."""
    child = terminal("chat")
    child.expect("> ")
    child.send("What do penguins")
    child.expect(pexpect.TIMEOUT, 0.5)
    child.sendintr()
    child.expect("Press Ctrl-C again to leave")
    child.expect("> ")
    child.sendline(" eat?")
    child.expect("Penguins eat fish")
    child.expect("> ")
    child.send("What is")
    child.expect(pexpect.TIMEOUT, 0.5)
    child.sendintr()
    child.expect("Press Ctrl-C again to leave")
    child.expect("> ")

    assert leave(child) == 130


def test_ctrl_d_leaves_the_chat(terminal: Starting) -> None:
    """It is the usual end."""
    child = terminal("chat")
    child.expect("> ")

    child.sendeof()

    assert end(child) == 0


async def test_ctrl_c_stops_a_question(footnote: Footnote, hanging: Hanging, terminal: Starting) -> None:
    """`ask` ends with code 130 and one word, and the index is as it was."""
    child = terminal("ask", "What do penguins eat?", **hanging.settings)
    await hanging.asked(child)

    child.sendintr()

    await shows(child, "Stopped")
    assert await asyncio.to_thread(end, child) == 130
    assert "Penguins eat fish" in footnote("ask", "What do penguins eat?").out


def test_ctrl_c_while_the_command_line_loads_is_no_traceback(footnote: Footnote, tmp_path: Path) -> None:
    """The library behind the command line is what takes time first; here it is stopped in its midst."""
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")

    ended = footnote.apart("ask", "What do penguins eat?", PYTHONPATH=str(tmp_path))

    assert (ended.code, ended.out, ended.err) == (130, "", "Stopped.\n")


@pytest.mark.promise("footnotes")
def test_a_terminal_gets_links_to_click(terminal: Starting) -> None:
    """The mark in the text leads to the section."""
    child = terminal("ask", "What do penguins eat?")

    assert end(child) == 0
    assert re.search(r"\x1b\]8;[^;]*;https://zoo\.example/birds/penguins#food\x1b\\\x1b\[[0-9;]*m\[1\]", child.before)


def test_a_narrow_terminal_without_colour_gets_the_whole_answer(terminal: Starting) -> None:
    """Lines are folded at 20 columns, and `NO_COLOR` is obeyed."""
    child = terminal("ask", "What do penguins eat?", columns=20, NO_COLOR="1")

    assert end(child) == 0
    assert re.findall(r"\x1b\[[0-9;]*3[0-7]m", child.before) == []
    assert {"krill", "squid"} <= set(re.findall(r"\w+", child.before))


def test_several_pasted_lines_are_one_question(footnote: Footnote, terminal: Starting) -> None:
    """Whether the terminal says that they were pasted, or they only come all at once."""
    child = terminal("chat")
    child.expect("> ")
    child.send("\x1b[200~What do\npenguins eat?\x1b[201~\r")
    child.expect("Sources")
    child.expect("> ")
    child.sendline("/quit")

    assert end(child) == 0
    assert "1 question so far" in footnote("chat").out


def test_a_question_with_square_brackets_is_only_a_question(terminal: Starting) -> None:
    """Nothing that is typed is read as markup."""
    child = terminal("ask", "What do [/url] penguins [bold] eat?")

    assert end(child) == 0
    assert "penguins" in child.before
