"""How an answer looks on Slack: messages of Markdown with footnotes that are links, and the sources in small print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from adapters.chat.posting import Part
from adapters.slack.rendering.escaping import plain_text
from adapters.slack.rendering.markdown import dialect
from adapters.slack.rendering.parts import PART_LIMIT, drafts, parts
from adapters.slack.rendering.plain_text import LIMIT, below_plain, plain
from adapters.slack.rendering.sources_list import nearest, sources
from core.markdown import units
from core.model import Answer, Citation
from core.sentences import WARNING

QUOTED = 300  # characters of a question

_FOOT = 900  # characters that the plain text has for sources at least, as far as they need them
_NONE: Mapping[str, str] = MappingProxyType({})


def render_draft(text: str, *, targets: Mapping[str, str] = _NONE) -> list[Part]:
    """Give the messages of an answer that is being written; what more text could change is not shown yet.

    While the text grows, the first message only grows. It goes on into the finished answer where the *targets* of the
    footnotes are known, and is replaced by it where they are not.
    """
    return [Part(piece) for piece in drafts(dialect(text, targets, final=False))]


def render_answer(answer: Answer, *, head: str = "", remark: str = "") -> list[Part]:
    """Give the messages of a whole answer; its sources are below the last of them.

    *head* is Markdown to stand above it, *remark* is what has to be said of how the answer came about.
    """
    below = "\n".join(filter(None, [sources(answer.citations), nearest(answer.nearest), plain_text(remark)]))
    pieces = parts(head + dialect(_text(answer), targets_of(answer.citations)))
    if not pieces:
        return [Part("…", below=below)] if below else []
    pieces[-1:] = _with_room(pieces[-1], below)
    shown = [Part(piece) for piece in pieces]
    return [*shown[:-1], replace(shown[-1], below=below)]


def targets_of(citations: Sequence[Citation]) -> dict[str, str]:
    """Give the addresses of footnotes, by the mark as it stands in the text."""
    return {f"[{citation.number}]": citation.url for citation in citations}


def quoted(question: str) -> str:
    """Give the beginning of a question as a quote, for those who did not see it asked."""
    return f"> {plain_text(question, QUOTED)}\n\n"


def _text(answer: Answer) -> str:
    return f"{WARNING} {answer.text}" if answer.is_failure or answer.lexical_only else answer.text


def _with_room(last: str, below: str) -> list[str]:
    """Cut the last message where its plain text would leave too little room for the sources."""
    room = LIMIT - min(len(below_plain(below)), _FOOT)
    if not below or len(plain(Part(last))) + 2 <= room:
        return [last]
    return parts(last, min(room, PART_LIMIT, units(last) - 1))
