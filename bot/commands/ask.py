"""`footnote ask`: one question, one answer."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.commands.session import Session, session
from bot.outcome import OK, UNAVAILABLE
from bot.settings import Settings, read_settings
from bot.wiring import surface
from core.errors import InvalidInput, Misconfigured, RetrievalUnavailable
from core.model import Answer, Claim, MessageRef, Outline, Person, Question, Scope, ThreadRef, without_controls
from core.ports import PassageIndex, Surface

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
            scope=Scope(sources=self.sources, chapters=self.chapters),
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
        raise Misconfigured("There are no documents yet. Read some first: footnote ingest FOLDER")
    _check_names("chapter", scope.chapters, outline.chapters)
    _check_names("source", scope.sources, outline.sources)


def _check_names(what: str, wanted: Sequence[str], known: Sequence[str]) -> None:
    for name in wanted:
        if name not in known:
            shown = ", ".join(known[:HINTS]) + (", …" if len(known) > HINTS else "")
            raise InvalidInput(f"There is no {what} {name!r}. The {what}s are: {shown or 'none'}.", field=what)
