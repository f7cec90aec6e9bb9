"""Decides in code how an answer ended; no prompt can talk it out of this."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.answering.dialect import MARKDOWN
from core.answering.draft import AnswerDraft
from core.model import Citation, Question, Status
from core.model.markup import Block, Emphasis, Footnote, Paragraph, Text
from core.prompts import (
    FAILED,
    LEXICAL_ONLY,
    STOPPED,
    UNAVAILABLE,
    no_context,
    not_in_selection,
)
from core.search_tool import SearchTool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the reader gets: a sentence of ours, or the model's text and its tree."""

    status: Status
    text: str
    citations: tuple[Citation, ...] = ()
    nearest: tuple[Citation, ...] = ()
    blocks: tuple[Block, ...] | None = None


def stopped(draft: AnswerDraft) -> Verdict:
    """Leave what was shown as it is, with a word that there would have been more."""
    if not (draft.is_shown and draft.markup.blocks):
        return Verdict(Status.STOPPED, STOPPED)
    return _written(Status.STOPPED, draft, _remark(STOPPED))


def judge(
    question: Question, draft: AnswerDraft, search: SearchTool, *, small_talk: bool, has_grounds: bool = False
) -> Verdict:
    """Weigh what the model wrote against what the search found; *has_grounds* if another tool gave it something."""
    if question.selection is not None:
        return _judge_selection(question, draft)
    if draft.markup.citations:
        return _written(Status.ANSWERED, draft, *([_remark(LEXICAL_ONLY)] if search.lexical_only else []))
    if (small_talk or has_grounds) and not draft.markup.is_blank:
        return _written(Status.ANSWERED, draft)
    if search.troubled and not search.sources:  # with half a search, "not in the documents" would be a guess
        return Verdict(Status.UNAVAILABLE, UNAVAILABLE)
    if draft.markup.is_blank and (search.sources or has_grounds or not search.searched):
        return Verdict(Status.FAILED, FAILED)
    nearest = search.nearest
    return Verdict(Status.NO_CONTEXT, no_context(question, has_nearest=bool(nearest)), nearest=nearest)


def _judge_selection(question: Question, draft: AnswerDraft) -> Verdict:
    """The selection is the one source, so it is cited even where the model forgot the mark."""
    if draft.is_refusal:
        return Verdict(Status.NO_CONTEXT, not_in_selection(question.text))
    if draft.markup.is_blank:
        return Verdict(Status.FAILED, FAILED)
    if draft.markup.citations:
        return _written(Status.ANSWERED, draft)
    *blocks, last = draft.markup.blocks
    mark = Footnote(1, "")
    marked = (
        [replace(last, leaf=Paragraph((*last.leaf.children, Text(" "), mark)))]
        if isinstance(last.leaf, Paragraph)
        else [last, Block(Paragraph((mark,)))]
    )
    blocks = (*blocks, *marked)
    return Verdict(Status.ANSWERED, MARKDOWN.write(blocks), tuple(draft.sources.citations.values()), blocks=blocks)


def _written(status: Status, draft: AnswerDraft, *more: Block) -> Verdict:
    """Return what the model wrote, with more behind it."""
    blocks = (*draft.markup.blocks, *more)
    return Verdict(status, MARKDOWN.write(blocks), draft.markup.citations, blocks=blocks)


def _remark(sentence: str) -> Block:
    return Block(Paragraph((Emphasis((Text(sentence),)),)))
