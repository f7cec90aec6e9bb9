"""What the documents tell people to type can be typed: commands, settings, processes, services and tools."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.core import TyperGroup

from adapters.chat.commands import COMMANDS, command_named
from adapters.slack.slash import parsed
from bot.cli import app
from bot.settings import Settings
from tests.fixtures.commands import Footnote, Here, write_documents
from tests.test_docs import CODE, MARKDOWN, ROOT, names

COMMAND = re.compile(r"(?<![\w/.-])(?:\.venv/bin/|/opt/footnote/bin/)?footnote(?= |$)")
INLINE = re.compile(r"`([^`\n]+)`")
MISUSED = typer.BadParameter.__mro__[1]
# What people replace, by something that could stand there.
EXAMPLES = {
    "...": "x",
    "ADDRESS": "https://docs.example.org",
    "CASES": "cases.jsonl",
    "COMMUNITY": "discord:42",
    "FOLDER": ".",
    "NAME": "homework",
    "ROLE": "worker",
}
NAMED_ALONE = {"/footnote admin forget", "/footnote admin moderators"}
ADDRESSES = {"/live", "/ready", "/metrics", "/data"}
IN_TERMINALS = {"/quit"}
OF_SLACK = {"/footnote", "/footnote-admin", "/invite", "/remove"}
ELSEWHERE = {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "APPLICATION_ID"}
OF_TESTS = {"FOOTNOTE_SHARED_DATA", "FOOTNOTE_RECORD"}
# Each changes nothing but the data folder that it is run over, and ends; in the order of a first day.
RUNS = (
    "footnote --version",
    "footnote docs configuring",
    "footnote manifest --http https://bot.example.org",
    "footnote ingest ./book --source course",
    "footnote ask what is a quaternion",
    'footnote ask --thread homework "What is VLA?"',
    "footnote sources list",
    "footnote sources show course",
    "footnote sources sync course",
    "footnote sources share course --with discord:81384788765712384 --with slack:T012AB3CD",
    "footnote communities allow discord:81384788765712384",
    "footnote communities list",
    "footnote inbox list",
    "footnote inbox retry --all",
    "footnote sources remove course",
)


def shown(page: Path) -> Iterator[str]:
    """Give each line of the page's code, and what stands in its text as code."""
    text = page.read_text()
    for block in CODE.findall(text):
        yield from (line.removeprefix("$ ").partition("   #")[0].strip() for line in block.splitlines()[1:-1])
    yield from INLINE.findall(CODE.sub("", text))


def commands() -> dict[str, list[str]]:
    """Give the words behind `footnote` of every command that the documents show, by what they show."""
    found: dict[str, list[str]] = {}
    for one in (line for page in MARKDOWN for line in shown(page)):
        for part in COMMAND.split(one)[1:] if COMMAND.search(one) else []:
            words = [EXAMPLES.get(word.strip("[]."), EXAMPLES.get(word, word)) for word in shlex.split(part)]
            found[one] = [*words, "x"] if words[-1:] == ["--json"] else words
    return found


def parse(words: list[str]) -> None:
    """Read a command line as it is read in earnest; raises `MISUSED` for what is not understood.

    A name alone, without what it needs, is how a page speaks of a command.
    """
    command: Any = typer.main.get_command(app)
    context: Any = typer.Context(command, info_name="footnote")
    while isinstance(command, TyperGroup) and words and not words[0].startswith("-"):
        _, command, words = command.resolve_command(context, words)
        context = typer.Context(command, info_name="inner", parent=context)
    if words and words not in (["--version"], ["--help"], ["--install-completion"]):
        command.make_context("inner", [word for word in words if word != "[PAGE]"], parent=context.parent)


@pytest.mark.parametrize("line", commands())
def test_every_command_in_the_documents_is_one(line: str) -> None:
    """Its name, its options and its arguments are those of the command line."""
    parse(commands()[line])


@pytest.mark.parametrize("line", ["footnote chart", "footnote ask --tread x y", "footnote run everything"])
def test_a_command_that_is_none_would_be_seen(line: str) -> None:
    """A wrong name, option or argument."""
    with pytest.raises(MISUSED):
        parse(shlex.split(line)[1:])


def test_every_command_on_slack_is_one() -> None:
    """What is typed behind `/footnote` there is understood with its options; a name alone may lack them."""
    lines = {line for page in MARKDOWN for line in shown(page) if line.startswith("/footnote ")} - {"/footnote admin"}
    typed = {line: re.sub("@(?!NAME)[A-z]+", "<!subteam^S1>", line).replace("@NAME", "<@U1>") for line in lines}
    read = {line: parsed(text.removeprefix("/footnote "), channel="C1") for line, text in typed.items()}

    assert len(lines) > 15
    assert [line for line, one in read.items() if one.command is None] == []
    assert {line for line, one in read.items() if one.values is None} <= NAMED_ALONE


def test_every_command_on_discord_is_one() -> None:
    """Names and options are those that are registered; what begins with a slash is a command, or an address."""
    lines = {line for page in MARKDOWN for line in shown(page) if re.match(r"/[a-z-]+( |$)", line)}
    known = {f"/{each.name}" for each in COMMANDS if not each.for_moderators} | ADDRESSES | IN_TERMINALS | OF_SLACK
    orders = [line.split() for line in lines if line.startswith("/footnote-admin ")]

    assert {line.split()[0] for line in lines} - known == set()
    for _, name, *words in orders:
        command = command_named(name, for_moderators=True)
        assert command is not None, name
        given = {word.partition(":")[0] for word in words if ":" in word}
        assert given <= {option.name for option in command.options}, name


@pytest.mark.promise("true-docs")
def test_what_the_documents_tell_to_type_works(
    here: Here, fresh: Footnote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Word by word as it stands there, in a folder with a book."""
    write_documents(tmp_path / "book")
    monkeypatch.chdir(tmp_path)
    shown_anywhere = {line.removeprefix(".venv/bin/") for page in MARKDOWN for line in shown(page)}
    codes = {line: here(fresh, *shlex.split(line)[1:]).code for line in RUNS}

    assert set(RUNS) - shown_anywhere - {"footnote docs configuring"} == set()
    assert codes == dict.fromkeys(RUNS, 0)


@pytest.mark.parametrize("page", MARKDOWN, ids=names)
def test_settings_that_a_page_names_are_settings(page: Path) -> None:
    """Names in capitals are ours, or one of the few that other programs read."""
    known = {str(field.validation_alias) for field in Settings.model_fields.values()} | ELSEWHERE
    named = set(re.findall(r"\b[A-Z]{2,}(?:_[A-Z0-9]+)+\b", page.read_text()))

    assert named - known - (OF_TESTS if page.name == "CONTRIBUTING.md" else set[str]()) == set()


def test_processes_services_and_targets_are_there() -> None:
    """What honcho, Docker Compose, make and Python are asked to start."""
    services: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    processes = {line.partition(":")[0] for line in (ROOT / "Procfile").read_text().splitlines()}
    makefile = (ROOT / "Makefile").read_text()
    lines = [line for page in MARKDOWN for line in shown(page)]
    composed = [line.split()[2:] for line in lines if line.startswith("docker compose ")]
    named = {
        word
        for words in composed
        for word in words[: next((at + 2 for at, word in enumerate(words) if word == "exec"), None)]
    } - {"up", "-d", "exec", "--profile", "logs", "pull", "build", "down"}
    started = {word for line in lines if line.startswith("honcho start") for word in line.split()[2:]}
    targets = {word for line in lines if line.startswith("make ") for word in shlex.split(line.replace("[", ""))[1:]}
    modules = {word for line in lines if line.startswith("python -m ") for word in line.split()[2:3]}

    assert (named - {*services, "large"}, started - processes) == (set(), set())
    assert {
        word for word in targets if "=" not in word and not re.search(rf"^{word}:", makefile, re.MULTILINE)
    } == set()
    assert {word.partition("=")[0] for word in targets if "=" in word} <= set(re.findall(r"[A-Z]{3,}", makefile))
    assert [module for module in modules if find_spec(module) is None] == []
    assert (len(composed) > 3, len(started), len(targets) > 4, len(modules) > 10) == (True, 2, True, True)


def test_a_secret_key_is_made_as_the_pages_say() -> None:
    """The line prints one that is long enough."""
    lines = {line for page in MARKDOWN for line in shown(page) if line.startswith("python3 -c")}
    (line,) = lines
    done = subprocess.run(shlex.split(line), capture_output=True, text=True, check=True)

    assert len(done.stdout.strip()) >= 32
