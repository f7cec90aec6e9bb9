"""How an answer looks on Discord: a list of messages, with footnotes that are links and the sources in small print."""

from __future__ import annotations

from adapters.discord.rendering.markdown import PART_LIMIT, dialect, parts
from adapters.discord.rendering.sources_list import nearest, plain_text, sources
from core.markdown import units
from core.model import Answer
from core.sentences import WARNING

MENTION_TO_CONTINUE = "-# To go on, mention me, or reply to this message and leave the ping on."
MENTION_AGAIN = "-# To go on, mention me."
QUOTED = 300  # characters of a question


def render_draft(text: str, *, head: str = "") -> list[str]:
    """Give the messages of an answer that is being written; what more text could change is not shown yet."""
    return _with_head(head, parts(dialect(text, {}, final=False), PART_LIMIT - units(head)))


def render_answer(answer: Answer, *, head: str = "", hint: str = "", remark: str = "") -> list[str]:
    """Give the messages of a whole answer; what stands below it is in the last of them.

    *head* stands above it, *hint* says how to go on where people cannot see that by themselves, and *remark* what is
    to be said of how the answer came about.
    """
    below = "\n".join(filter(None, [_listed(answer), f"-# {remark}" if remark else "", hint]))
    return _with_head(head, _with_foot(dialect(_text(answer), _targets(answer)), below, PART_LIMIT - units(head)))


def quoted(question: str) -> str:
    """Give the beginning of a question as a quote, for those who did not see it asked."""
    return f"> {plain_text(question, QUOTED)}\n"


def _with_head(head: str, pieces: list[str]) -> list[str]:
    """Put *head* above the first message, for which the others have left room too."""
    return [f"{head}{piece}" if at == 0 else piece for at, piece in enumerate(pieces)]


def _text(answer: Answer) -> str:
    return f"{WARNING} {answer.text}" if answer.is_failure or answer.lexical_only else answer.text


def _targets(answer: Answer) -> dict[str, str]:
    return {f"[{citation.number}]": citation.url for citation in answer.citations}


def _listed(answer: Answer) -> str:
    return "\n".join(filter(None, [sources(answer.citations), nearest(answer.nearest)]))


def _with_foot(text: str, foot: str, limit: int) -> list[str]:
    """Cut *text* so that the last message has room for the *foot*."""
    pieces = parts(text, limit)
    if not foot or not pieces:
        return pieces or parts(foot, limit)
    below = f"\n\n{foot}"
    if units(pieces[-1] + below) > limit:
        pieces[-1:] = parts(pieces[-1], limit - units(below))
    pieces[-1] += below
    return pieces
