"""`footnote ask` and `footnote chat`: one question, one answer; and a conversation at the keyboard."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import secrets
import select
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bot.commands.session import Session, session
from bot.outcome import OK, UNAVAILABLE
from bot.settings import Settings, read_settings
from bot.wiring import NOTHING_TO_SEARCH, surface
from core.answering.dialect import plain_words
from core.errors import InvalidInput, Misconfigured, RetrievalUnavailable, StoreUnavailable, Unavailable
from core.messages import counted
from core.model import Answer, Claim, MessageRef, Outline, Person, Question, Scope, ThreadRef, without_controls
from core.ports import PassageIndex, Surface

if TYPE_CHECKING:
    from rich.console import Console


HINTS = 12


@dataclass(frozen=True, slots=True)
class AskOptions:
    """What was typed on the command line."""

    text: str
    thread: str | None = None
    selection: str | None = None
    top_k: int | None = None
    threshold: float | None = None
    chapters: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    def question(self, settings: Settings) -> Question:
        """Make the question, or raise `InvalidInput`. Without a thread it stands alone and is not remembered."""
        name = secrets.token_hex(8) if self.thread is None else self.thread
        optional: dict[str, Any] = {"selection": self.selection} if self.selection is not None else {}
        return Question.create(
            message=MessageRef(thread=thread_ref(name), id=secrets.token_hex(8)),
            text=self.text,
            author=Person(id="local"),
            asked_at=datetime.now(UTC),
            visibility="private" if self.thread is None else "thread",
            scope=Scope(sources=self.sources or None, chapters=self.chapters),
            top_k=settings.top_k if self.top_k is None else self.top_k,
            relevance_threshold=settings.relevance_threshold if self.threshold is None else self.threshold,
            **optional,
        )


def thread_ref(name: str) -> ThreadRef:
    """Return the terminal's thread of this name."""
    name = without_controls(name).strip()
    if not name:
        raise InvalidInput("The thread's name is empty. Give it one, such as --thread homework.", field="thread")
    return ThreadRef(platform="terminal", workspace="local", channel="chat", thread=name)


def ask_once(asked: AskOptions, *, as_json: bool) -> int:
    """Answer one question on standard output."""
    question = asked.question(read_settings())
    with session("footnote ask", memory=asked.thread is not None) as opened:
        answer = opened.run(respond(opened, question, surface(as_json=as_json)))
    return UNAVAILABLE if answer.is_failure else OK


async def respond(opened: Session, question: Question, shown_on: Surface) -> Answer:
    """Check that there is something to search, and answer."""
    if question.selection is None:
        await check_searchable(opened.app.index, question.scope)
    return await opened.app.responder.respond(Claim(question), shown_on)


async def check_searchable(index: PassageIndex, scope: Scope) -> None:
    """Check the scope against the index; one that cannot be reached is left to the answer, which says so."""
    with contextlib.suppress(RetrievalUnavailable):
        check_scope(await index.outline(), scope)


def check_scope(outline: Outline, scope: Scope) -> None:
    """Raise `Misconfigured` if there is nothing to search, `InvalidInput` if a name is not one of the index."""
    if not outline.passages:
        raise Misconfigured(NOTHING_TO_SEARCH)
    chosen = (("chapter", scope.chapters, outline.chapters), ("source", scope.sources or (), outline.sources))
    for what, wanted, known in chosen:
        if name := next((name for name in wanted if name not in known), None):
            shown = ", ".join(known[:HINTS]) + (", …" if len(known) > HINTS else "")
            raise InvalidInput(f"There is no {what} {name!r}. The {what}s are: {shown or 'none'}.", field=what)


AT_ONCE = 0.02  # seconds
KEPT = "\nPress Ctrl-C again to leave.\n"
HELP = """\
Type a question about the documents. You can also type:
  /sources  the sources of the last answer, with scores
  /forget   forget this conversation
  /help     this help
  /quit     leave (or Ctrl-D)
Ctrl-C stops an answer. At the prompt it leaves, but keeps an unfinished line once."""


def converse(asked: AskOptions) -> int:
    """Answer questions until the end of the input."""
    from rich.console import Console

    console = Console()
    with session("footnote chat", memory=True) as opened:
        scope = Scope(sources=asked.sources or None, chapters=asked.chapters)
        opened.run(check_searchable(opened.app.index, scope))
        chat = _Chat(opened, asked, console)
        chat.welcome()
        while (line := _read()) is not None:
            if line in ("/quit", "/exit"):
                break
            chat.take(line)
    return OK


def _read() -> str | None:
    """Return a line, or several that were pasted; None at the end of the input.

    Ctrl-C leaves the chat, but an unfinished line is kept once: the prompt comes again, with the line in it.
    """
    if not sys.stdin.isatty():
        return _lines("")
    readline = importlib.import_module("readline")  # gives input() line editing and history
    readline.parse_and_bind("set enable-bracketed-paste on")  # so that what is pasted stays together
    try:
        return _lines("> ")
    except KeyboardInterrupt:
        if not (unfinished := readline.get_line_buffer()):
            raise
    sys.stdout.write(KEPT)
    readline.set_startup_hook(lambda: readline.insert_text(unfinished))
    try:
        return _lines("> ")
    finally:
        readline.set_startup_hook()


def _lines(prompt: str) -> str | None:
    try:
        lines = [input(prompt)]
        while prompt and _is_pasted():
            lines.append(input())
    except EOFError:
        return None
    return "\n".join(lines).strip()


def _is_pasted() -> bool:
    """Return whether another line is there already, sooner than anybody types: it belongs to the one before it."""
    with contextlib.suppress(OSError):
        return bool(select.select([sys.stdin], [], [], AT_ONCE)[0])
    return False


class _Chat:
    """One conversation at the keyboard."""

    def __init__(self, opened: Session, asked: AskOptions, console: Console) -> None:
        self._opened = opened
        self._asked = asked
        self._console = console
        self._thread = thread_ref("chat" if asked.thread is None else asked.thread)
        self._last: Answer | None = None

    def welcome(self) -> None:
        self._say("Ask about the documents. /help shows what else you can type.")
        store = self._opened.app.conversations
        try:
            known = self._opened.run(store.load(self._thread)).turns if store else ()
        except StoreUnavailable as error:
            self._say(f"{error} Until then, nothing is remembered.")
            return
        if known:
            self._say(f"Continuing this conversation ({counted(len(known), 'question')} so far); /forget starts over.")

    def take(self, line: str) -> None:
        match line:
            case "":
                return
            case "/help":
                self._say(HELP)
            case "/sources":
                self._sources()
            case "/forget":
                self._forget()
            case _ if line.startswith("/") and " " not in line:
                self._say(f"There is no command {line}. /help shows what you can type.")
            case _:
                self._ask(line)

    def _ask(self, line: str) -> None:
        """Answer; a wrong question or a failure ends the answer, not the chat."""
        try:
            question = dataclasses.replace(self._asked, text=line).question(self._opened.settings)
            self._last = self._opened.run(respond(self._opened, question, surface()))
        except KeyboardInterrupt:
            self._say("Stopped.")
        except (InvalidInput, Unavailable) as error:
            self._say(str(error))

    def _sources(self) -> None:
        citations = self._last.citations if self._last else ()
        lines = (f"[{c.number}] {plain_words(c.heading)}{c.age}  {c.url}  {c.relevance_score:.2f}" for c in citations)
        self._say("\n".join(lines) or "The last answer has no sources.")

    def _forget(self) -> None:
        store = self._opened.app.conversations
        try:
            forgotten = self._opened.run(store.forget(self._thread)) if store else False
        except StoreUnavailable as error:
            self._say(f"{error} Nothing was forgotten.")
            return
        self._last = None
        self._say("Forgotten." if forgotten else "There was nothing to forget.")

    def _say(self, text: str) -> None:
        self._console.print(without_controls(text), style="dim", markup=False, highlight=False, soft_wrap=True)
