"""The text of an answer while the model writes it, and how it ended.

That is decided in code; no prompt can talk it out of this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from itertools import chain

from core import messages
from core.answering.citations import Footnotes, Sources
from core.answering.claims import COUNTED, FOUNDED, KEPT, SAID, Evidence, Statement
from core.answering.markup import MarkupReader, cited, read
from core.answering.nodes import inert
from core.answering.smalltalk import Matter, matter_of, reply_to, wants_writing
from core.answering.tools import SearchTool
from core.documents.excerpt import sentences
from core.errors import RetrievalUnavailable
from core.model import (
    Awaited,
    CheckedSentence,
    Citation,
    Drafted,
    MessageRef,
    PartialAnswer,
    Progress,
    Question,
    Status,
)
from core.model.markup import NOTE, Block, Emphasis, Footnote, Paragraph, TableRow, Text, visible, visible_row

MOST_NOTES = 3  # footnotes behind one paragraph that had none
LONGEST_REFUSAL = 80  # characters: of the word with whatever stands around it
_UNSEEN = "[\\\\\u00ad\u200b-\u200f\u2060-\u2064\ufe0f\ufeff]{0,3}"  # between letters; escaped underscores too
_SAID = re.compile(r"\w")
_MARKS = re.compile(f"(?<! ) *{NOTE}")  # with the space that it is behind


@dataclass
class AnswerDraft:
    """One attempt at an answer, whose `markup` reads it.

    It is shown while it is written only if it *is_live*. The word *unless*, by which the model says that there is no
    answer, is never part of it: what could still become that word is held back.
    """

    markup: MarkupReader
    is_live: bool
    unless: str = ""
    most: int = 100_000  # characters of the text
    is_shown: bool = False  # or will be with the next drawing
    says_no: bool = False  # whether the model wrote the word that says there is no answer
    is_cut: bool = False  # whether there would have been more; what is not certain at its end is then left off
    text: str = ""
    _held: str = ""
    _has_begun: bool = False  # whether anything but the word was written

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What is certain of it by now, with a word where it was cut."""
        return (*chain(*self.markup.read()), *([_remark(messages.CUT)] if self.is_cut else []))

    @property
    def is_refusal(self) -> bool:
        """Whether it says that there is no answer: at once, or behind words that cite nothing."""
        return self._is_no or (self.says_no and not self.markup.citations)

    @property
    def _is_no(self) -> bool:
        """Whether it begins with the word, so that nothing behind it is read."""
        return self.says_no and not self._has_begun

    @property
    def is_over(self) -> bool:
        """Whether nothing that is still written could be read."""
        return self.is_cut or (self._is_no and len(self.text) > LONGEST_REFUSAL)

    def feed(self, piece: str, *, is_last: bool = False) -> tuple[Progress, ...]:
        """Take more of the model's text; unless it *is_last*, what may become the word for no answer waits."""
        if len(self.text) + len(piece) > self.most:
            piece, self.is_cut = piece[: self.most - len(self.text)], True
            piece = piece[: max(map(piece.rfind, " \n")) + 1] or piece  # between two words
        self.text += piece
        if self.unless:
            piece = self._without_word(piece, is_last=is_last)
        if piece:
            self.markup.notes.sources.evidence.read_ahead()
        self.markup.feed(piece, is_last=is_last)
        self.is_shown = self.is_shown or (self.is_live and bool(piece.strip()))
        return (Drafted(self.markup),) if self.is_shown else ()

    def _without_word(self, piece: str, *, is_last: bool) -> str:
        """Return what may be read of the text that was held and a new piece of it."""
        whole, begun = _word_of_refusal(self.unless)
        text, self._held = self._held + piece, ""
        while not self._is_no and (found := whole.search(text)):
            self._has_begun = self._has_begun or bool(_SAID.search(text, 0, found.start()))
            self.says_no, text = True, f"{text[: found.start()]} {text[found.end() :]}"
        if self._is_no:
            return ""
        if not is_last:
            may_become = begun.search(text)
            end = may_become.start() if may_become else len(text)
            if not self._has_begun and not _SAID.search(text, 0, end) and len(text) <= LONGEST_REFUSAL:
                end = 0  # such as asterisks around the word
            text, self._held = text[:end], text[end:]
        self._has_begun = self._has_begun or bool(_SAID.search(text))
        return text


@cache
def _word_of_refusal(word: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what finds a word, as models and Markdown may write it, and what finds its beginning at the end."""
    *letters, last = [re.escape(letter) for letter in word]
    begun = last
    for letter in reversed(letters):
        begun = f"{letter}{_UNSEEN}(?:{begun}|\\Z)"
    return re.compile(_UNSEEN.join([*letters, last]), re.IGNORECASE), re.compile(begun, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DelayedAnswer:
    """A `PartialAnswer`: what was written so far, if anything, and below it what is waited for."""

    written: PartialAnswer | None
    awaited: Awaited

    def read(self) -> tuple[Sequence[Block], Sequence[Block]]:
        """Return what is finished, and the rest with the words below it."""
        finished, tail = self.written.read() if self.written else ((), ())
        return finished, (*tail, _remark(messages.AWAITED[self.awaited]))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the reader gets: a sentence of ours as *text*, or the tree of what the model wrote."""

    status: Status
    text: str = ""
    citations: tuple[Citation, ...] = ()
    nearest: tuple[Citation, ...] = ()
    blocks: tuple[Block, ...] | None = None
    sentences: tuple[CheckedSentence, ...] = ()


def stopped(draft: AnswerDraft) -> Verdict:
    """Leave what was shown as it is, with a word that there would have been more."""
    blocks = tuple(chain(*draft.markup.read()))
    if not (draft.is_shown and blocks):
        return Verdict(Status.STOPPED, messages.STOPPED)
    return Verdict(Status.STOPPED, citations=draft.markup.citations, blocks=(*blocks, _remark(messages.STOPPED)))


def judge(question: Question, draft: AnswerDraft, search: SearchTool, *, is_free: bool, has_grounds: bool) -> Verdict:
    """Weigh what the model wrote against what the search found; say which files of the question were not read.

    It *is_free* where no search is needed, and *has_grounds* if another tool gave it something.
    """
    verdict = _weigh(question, draft, search, is_free=is_free, has_grounds=has_grounds)
    remark = messages.unread_files(question.attachments)
    if not remark or verdict.status not in (Status.ANSWERED, Status.NO_CONTEXT):
        return verdict
    blocks = read(verdict.text, Sources()) if verdict.blocks is None else verdict.blocks
    return replace(verdict, blocks=(*blocks, _remark(remark)))


def _weigh(question: Question, draft: AnswerDraft, search: SearchTool, *, is_free: bool, has_grounds: bool) -> Verdict:
    notes, citations, is_blank = draft.markup.notes, draft.markup.citations, draft.markup.is_blank
    is_selected, blocks = question.selection is not None, draft.blocks
    if is_blank and notes.removed_deeds:
        return Verdict(Status.ANSWERED, messages.NOTHING_DONE)
    if draft.is_refusal or (is_selected and draft.says_no):
        return _judge_refusal(question, search, is_free=is_free)
    is_talk = is_free and not is_selected and not citations
    if (is_talk or has_grounds or (citations and not notes.sources.are_checked)) and not is_blank:
        return Verdict(Status.ANSWERED, citations=citations, blocks=(*blocks, *_remarks(draft, search)))
    if not citations and is_selected and not is_blank:
        blocks, citations = _cited_at_end(draft), tuple(notes.sources.citations.values())
    elif not citations and has_places(blocks, notes.sources):
        blocks = tuple(_noted(block, notes) for block in blocks)
        citations = cited(blocks, notes)
    said = weighed(blocks, notes.sources.evidence) if citations else ()
    if citations and is_founded(said):
        missing = [each.text for each in said if each.support < SAID]
        told = messages.not_in_sources(missing, "selected text" if is_selected else "documents")
        shown = (*blocks, *([_remark(told)] if missing else []), *_remarks(draft, search))
        return Verdict(Status.ANSWERED, citations=citations, blocks=shown, sentences=said)
    is_wordless = not draft.text.strip()  # of other words, the passages hold nothing
    is_silent = is_blank and (has_grounds or not search.searches or (is_wordless and bool(search.sources.citations)))
    return Verdict(Status.FAILED, messages.FAILED) if is_silent else _judge_refusal(question, search, is_free=False)


def _remarks(draft: AnswerDraft, search: SearchTool) -> Sequence[Block]:
    """Return what readers should know of an answer: that nothing was done, or that half a search was."""
    said = [messages.NOTHING_DONE] if draft.markup.notes.removed_deeds else []
    said += [messages.LEXICAL_ONLY] if search.lexical_only and draft.markup.citations else []
    return [_remark(each) for each in said]


def _judge_refusal(question: Question, search: SearchTool, *, is_free: bool) -> Verdict:
    """Say why there is no answer; small talk needs none from the documents."""
    if is_free and question.selection is None and not search.searches:
        return Verdict(Status.ANSWERED, reply_to(question.text))
    if question.selection is not None:
        return Verdict(Status.NO_CONTEXT, messages.not_in_selection(question.text))
    if not search.has_documents:
        return Verdict(Status.NO_CONTEXT, messages.NO_DOCUMENTS)
    if (search.failed or search.lexical_only) and not search.sources.citations:  # half a search cannot say no
        return Verdict(Status.UNAVAILABLE, messages.UNAVAILABLE)
    nearest = search.nearest
    return Verdict(Status.NO_CONTEXT, messages.no_context(question, has_nearest=bool(nearest)), nearest=nearest)


def _cited_at_end(draft: AnswerDraft) -> tuple[Block, ...]:
    """Cite the selection, which is the one source, where the model forgot to."""
    *before, last = chain(*draft.markup.read())
    mark, behind = Footnote(1, ""), draft.blocks[len(before) + 1 :]
    if isinstance(last.leaf, Paragraph):
        return (*before, replace(last, leaf=Paragraph((*last.leaf.children, Text(" "), mark))), *behind)
    return (*before, last, Block(Paragraph((mark,))), *behind)


def _remark(sentence: str) -> Block:
    return Block(Paragraph((Emphasis(tuple(inert(sentence))),)))  # names and what a model wrote may be in it


def weighed(blocks: Sequence[Block], evidence: Evidence) -> tuple[CheckedSentence, ...]:
    """Return what an answer says, as far as it can be checked, and how much of it a passage holds."""
    said = statements(blocks, evidence)
    return tuple(CheckedSentence(text, evidence.held(claim, enough=FOUNDED)) for text, claim in said)


def is_founded(said: Sequence[CheckedSentence]) -> bool:
    """Return whether the passages hold at least half of what an answer says."""
    return sum(each.support >= FOUNDED for each in said) * 2 >= len(said)


def statements(blocks: Sequence[Block], evidence: Evidence) -> Iterator[tuple[str, Statement]]:
    """Yield each sentence and row of an answer that can be checked, and what it says; headings and code cannot."""
    for block in blocks:
        leaf = block.leaf
        row = [_MARKS.sub("", visible_row(leaf.cells)).strip(" |")] if isinstance(leaf, TableRow) else []
        said = sentences(_MARKS.sub("", visible(leaf.children))) if isinstance(leaf, Paragraph) else row
        yield from ((each, claim) for each in said if (claim := evidence.claim(each)).is_checkable)


def _noted(block: Block, notes: Footnotes) -> Block:
    """Return a paragraph, item or row with footnotes behind it for the passages that hold what it says."""
    said = statements((block,), notes.sources.evidence)
    numbers = dict.fromkeys(number for _, claim in said if (number := _holder(claim, notes.sources)))
    marks = dict.fromkeys(note for number in [*numbers][:MOST_NOTES] for note in notes.read(f"[{number}]"))
    children: tuple[Text | Footnote, ...] = (Text(" "), *marks) if marks else ()
    leaf = block.leaf
    if isinstance(leaf, Paragraph):
        leaf = Paragraph((*leaf.children, *children))
    elif isinstance(leaf, TableRow) and leaf.cells:
        leaf = replace(leaf, cells=(*leaf.cells[:-1], (*leaf.cells[-1], *children)))
    return replace(block, leaf=leaf)


def has_places(blocks: Sequence[Block], sources: Sources) -> bool:
    """Return whether the passages may say where footnotes belong in an answer that has none.

    Where words cannot be compared, they do if one of them alone has the numbers and code of a sentence.
    """
    evidence = sources.evidence
    return any(evidence.compares(claim) or _holder(claim, sources) for _, claim in statements(blocks, evidence))


def _holder(claim: Statement, sources: Sources) -> int:
    """Return the number of the passage that holds a claim best; without words to compare, of the only one; or 0."""
    evidence, known = sources.evidence, sources.citations
    number, best = evidence.best(claim, known)
    if best.is_compared:
        return number if best.is_exact and best.share >= KEPT else 0
    is_telling = claim.code or any(
        not each.is_counted and (each.unit or each.value not in COUNTED) for each in claim.said
    )
    held = [number for number in known if is_telling and evidence.support(claim, number).is_exact]
    evidence.placed.update([claim.text] if len(held) == 1 else ())
    return held[0] if len(held) == 1 else 0


async def about_itself(question: Question, search: SearchTool, practices: messages.Practices) -> Verdict | None:
    """Return the answer to a question that no document and no model needs to answer; None for any other.

    What can be asked is what may be searched; where nobody can tell what that is, the question goes the usual way.
    """
    if search.only_quotes and wants_writing(question.text):
        return Verdict(Status.NO_CONTEXT, messages.needs_chat_model(has_selection=question.selection is not None))
    is_about_text = question.selection is not None or bool(question.attachments)
    matter = None if is_about_text else matter_of(question.text)
    if matter is Matter.PRIVACY or (matter is Matter.COMPLAINT and search.only_quotes):
        kept = messages.storage(practices, question.message.thread.platform)
        return Verdict(Status.ANSWERED, kept if matter is Matter.PRIVACY else messages.NO_HELP)
    if matter is Matter.CONTENTS:
        try:
            outline = await search.retriever.outline(search.within(), waiting=search.waiting)
        except RetrievalUnavailable:
            return None
        if not outline.passages:
            return Verdict(Status.NO_CONTEXT, messages.NO_DOCUMENTS)
        return Verdict(Status.ANSWERED, blocks=read(messages.contents(outline), Sources()))  # names are not ours
    return None


def answer_id(question: Question) -> str:
    """Return the name of the answer to a revision of a question, which every attempt gives it anew."""
    return answer_id_of(question.message, question.revision)


def answer_id_of(message: MessageRef, revision: int) -> str:
    """Return the same where no more is known of the question."""
    return sha256(f"{message}#{revision}".encode()).hexdigest()[:16]
