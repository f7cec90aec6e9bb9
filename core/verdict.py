"""Decides in code how an answer ended; no prompt can talk it out of this."""

from __future__ import annotations

from dataclasses import dataclass

from core.draft import Draft
from core.model import Citation, Question, Status
from core.prompts import (
    FAILED,
    LEXICAL_ONLY,
    NO_CONTEXT_ALONE,
    NO_CONTEXT_NEAREST,
    STOPPED,
    UNAVAILABLE,
    not_in_selection,
)
from core.search_tool import SearchTool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the reader gets."""

    status: Status
    text: str
    citations: tuple[Citation, ...] = ()
    nearest: tuple[Citation, ...] = ()


def stopped(draft: Draft) -> Verdict:
    """Leave what was shown as it is, with a word that there would have been more."""
    shown = draft.shown.rstrip()
    if not shown:
        return Verdict(Status.STOPPED, STOPPED)
    closing = "\n```" if shown.count("```") % 2 else ""  # otherwise the word would become code
    return Verdict(Status.STOPPED, f"{shown}{closing}\n\n_{STOPPED}_", draft.citations)


def judge(question: Question, draft: Draft, search: SearchTool, *, small_talk: bool) -> Verdict:
    """Weigh what the model wrote against what the search found."""
    if question.selection is not None:
        return _judge_selection(question, draft)
    if draft.citations:
        text = f"{draft.text.rstrip()}\n\n_{LEXICAL_ONLY}_" if search.lexical_only else draft.text.rstrip()
        return Verdict(Status.ANSWERED, text, draft.citations)
    if small_talk and not draft.is_blank:
        return Verdict(Status.ANSWERED, draft.text.strip())
    if search.troubled and not search.sources:  # with half a search, "not in the documents" would be a guess
        return Verdict(Status.UNAVAILABLE, UNAVAILABLE)
    if draft.is_blank and (search.sources or not search.searched):
        return Verdict(Status.FAILED, FAILED)
    nearest = search.nearest
    return Verdict(Status.NO_CONTEXT, NO_CONTEXT_NEAREST if nearest else NO_CONTEXT_ALONE, nearest=nearest)


def _judge_selection(question: Question, draft: Draft) -> Verdict:
    """The selection is the one source, so it is cited even where the model forgot the mark."""
    if draft.is_refusal:
        return Verdict(Status.NO_CONTEXT, not_in_selection(question.text))
    if draft.is_blank:
        return Verdict(Status.FAILED, FAILED)
    if draft.citations:
        return Verdict(Status.ANSWERED, draft.text.strip(), draft.citations)
    text = draft.text.strip()
    joint = "\n\n" if text[-1] in "`~|" else " "  # a mark behind a code fence or a table would become part of it
    return Verdict(Status.ANSWERED, f"{text}{joint}[1]", draft.sources.all())
