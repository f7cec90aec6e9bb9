"""`footnote init`: a few questions, `.env` made of the answers for its owner's eyes alone, and a look at the whole."""

from __future__ import annotations

import getpass
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from bot.commands.doctor import examine
from bot.commands.ingest import ingest_sources
from bot.commands.session import say
from bot.outcome import OK
from bot.settings import refusal_of
from core.errors import InvalidInput, Misconfigured

FILE, BEFORE = Path(".env"), Path(".env.before")
WELCOME = "Press Enter to skip what you do not have, or not yet. Keys and tokens are not shown while you type them.\n"
REPLACE = f"There is already a file {FILE} here. Replace it, and keep it as {BEFORE}? [y/N] "
KEPT = f"Nothing was changed. Every setting of {FILE} is explained by: footnote docs configuring"
WRITTEN = f"\nWritten to {FILE}, which only you can read.\n"
NO_FOLDER = "There is no folder or file at {}."
DOCUMENTS = "Folder with your documents: "
PUBLISHED = "Where these pages are published, such as https://docs.example.org: "
TROUBLED = "\nNext, do what the lines with !! say, and type: footnote doctor"
NEXT = "\nNext, type: {}"
PLAIN = re.compile(r"[\w./:@+=-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A question about one setting, asked where one of those that it `needs` has an answer, or always."""

    name: str
    question: str
    is_secret: bool = False
    needs: tuple[str, ...] = ()


QUESTIONS = (
    Wanted("DISCORD_TOKEN", "Token of your bot on Discord (see: footnote docs discord): ", is_secret=True),
    Wanted("SLACK_BOT_TOKEN", "Token of your bot on Slack, xoxb-... (see: footnote docs slack): ", is_secret=True),
    Wanted("SLACK_APP_TOKEN", "App-level token on Slack, xapp-...: ", is_secret=True, needs=("SLACK_BOT_TOKEN",)),
    Wanted("OPENAI_API_KEY", "Key of a chat model's service (without a model, answers are quotes): ", is_secret=True),
    Wanted("OPENAI_BASE_URL", "Its address, if it is not OpenAI's, such as http://localhost:11434/v1: "),
    Wanted("OPENAI_MODEL", "Name of the model [gpt-4o-mini]: ", needs=("OPENAI_API_KEY", "OPENAI_BASE_URL")),
)


def set_up() -> int:
    """Ask, write `.env`, read the documents and look at everything; the code is the doctor's.

    Raises `InvalidInput` for an answer that cannot be used and that nobody can correct, as in a pipe.
    """
    if FILE.exists() and _answer(REPLACE).lower() not in ("y", "yes"):
        say(KEPT)
        return OK
    say(WELCOME)
    answers: dict[str, str] = {}
    for wanted in QUESTIONS:
        if not wanted.needs or any(answers.get(name) for name in wanted.needs):
            answers[wanted.name] = _asked(wanted)
    folder = _folder()
    published = _answer(PUBLISHED) if folder else ""
    _write({name: value for name, value in answers.items() if value})
    say(WRITTEN)
    if folder:
        ingest_sources([folder], base_url=published or None, name=None, quiet=False)
    code = examine()
    is_bot = bool(answers["DISCORD_TOKEN"] or answers["SLACK_BOT_TOKEN"])
    say(TROUBLED if code else NEXT.format("footnote run" if is_bot else "footnote chat"))
    return code


def _asked(wanted: Wanted) -> str:
    """Return an answer that the setting can have, or nothing."""
    while value := _answer(wanted.question, is_secret=wanted.is_secret):
        if (refusal := refusal_of(wanted.name, value)) is None:
            break
        _refuse(refusal, wanted.name)
    return value


def _folder() -> Path | None:
    while value := _answer(DOCUMENTS):
        if (path := Path(value).expanduser()).exists():
            return path
        _refuse(NO_FOLDER.format(value), "documents")
    return None


def _refuse(sentence: str, field: str) -> None:
    """Say what is wrong, so that it is asked again. Raises `InvalidInput` where nobody is there to answer."""
    if not sys.stdin.isatty():
        raise InvalidInput(sentence, field=field)
    say(sentence)


def _answer(question: str, *, is_secret: bool = False) -> str:
    """Return what is typed, or the next line of a pipe; nothing at its end."""
    if is_secret and sys.stdin.isatty():
        return getpass.getpass(question).strip()
    sys.stdout.write(question)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line.endswith("\n") or not sys.stdin.isatty():
        sys.stdout.write("\n")
    return line.strip()


def _write(answers: dict[str, str]) -> None:
    """Write the settings, for the owner's eyes alone. Raises `Misconfigured`."""
    lines = [f"{name}={_quoted(value)}\n" for name, value in answers.items()]
    try:
        if FILE.exists():
            FILE.replace(BEFORE)
        with os.fdopen(os.open(FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(
                "".join(["# Written by footnote init. To see all settings: footnote docs configuring\n", *lines])
            )
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise Misconfigured(
            f"The file {FILE} cannot be written here ({reason}). Go to a folder that you may write to."
        ) from error


def _quoted(value: str) -> str:
    """Return a value as `.env` holds it, in which a bare # or a quote would mean something."""
    return value if PLAIN.fullmatch(value) else "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
