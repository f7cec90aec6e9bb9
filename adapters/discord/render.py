"""How an answer looks on Discord: a list of messages, with footnotes that are links and the sources in small print."""

from __future__ import annotations

from adapters.discord.markdown import PART_LIMIT, dialect, parts
from adapters.discord.sources_list import nearest, sources
from core.markdown import units
from core.model import Answer

WARNING = "⚠️"
MENTION_TO_CONTINUE = "-# To go on, mention me, or reply to this message and leave the ping on."


def render_draft(text: str) -> list[str]:
    """Give the messages of an answer that is being written; what more text could change is not shown yet."""
    return parts(dialect(text, {}, final=False))


def render_answer(answer: Answer, *, hint: str = "") -> list[str]:
    """Give the messages of a whole answer; what stands below it is in the last of them.

    *hint* says how to go on, where people cannot see that by themselves.
    """
    below = "\n".join(filter(None, [_listed(answer), hint]))
    return _with_foot(dialect(_text(answer), _targets(answer)), below)


def _text(answer: Answer) -> str:
    return f"{WARNING} {answer.text}" if answer.is_failure or answer.lexical_only else answer.text


def _targets(answer: Answer) -> dict[str, str]:
    return {f"[{citation.number}]": citation.url for citation in answer.citations}


def _listed(answer: Answer) -> str:
    return "\n".join(filter(None, [sources(answer.citations), nearest(answer.nearest)]))


def _with_foot(text: str, foot: str) -> list[str]:
    """Cut *text* so that the last message has room for the *foot*."""
    pieces = parts(text)
    if not foot or not pieces:
        return pieces or parts(foot)
    below = f"\n\n{foot}"
    if units(pieces[-1] + below) > PART_LIMIT:
        pieces[-1:] = parts(pieces[-1], PART_LIMIT - units(below))
    pieces[-1] += below
    return pieces
