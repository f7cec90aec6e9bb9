"""What a model writes that is no part of its answer: thoughts, calls that are written as text, and marks of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from adapters.openai.calls import ENDLESS, HEAD, MARKS, MOST_ARGUMENTS, begins_call, mended, written_calls
from adapters.openai.refusals import EndlessAnswer
from core.model import ToolCall

MOST_BLANK = 1_000  # characters before the first word, of which nobody sees any
LONGEST_MARK = 64  # characters
_TAGS = ("think", "thinking", "thought", "thoughts", "reasoning", "seed:think", "mm:think", "analysis")
_OF_TAGS = f"(?:{'|'.join(_TAGS)})"
_HARMONY = ("<|channel|>", "<|start|>")
_FIRST = (*(f"**<{tag}>" for tag in _TAGS), "to=functions.", "analysis", "commentary to=")
"""Marks that stand in front of the first word alone; the last three are what is left of those of gpt-oss."""
_SPECIAL = (
    *("<|return|>", "<|call|>", "<|end|>", "<|message|>", "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>"),
    *("<|begin_of_solution|>", "<|end_of_solution|>", "<end_of_turn>", "<｜end▁of▁sentence｜>"),
)
"""Marks of which nothing is shown, while what stands around them is."""
_AROUND = ("<answer>", "</answer>", "<response>", "</response>")
"""Marks around all of an answer."""
_PAIRS = (
    *("[think]", "[/think]", "◁think▷", "◁/think▷"),
    *("<|begin_of_thought|>", "<|end_of_thought|>", "<|channel>thought", "<|inner_prefix|>", "<|inner_suffix|>"),
)
_MARKS = (
    *(f"<{tag}>" for tag in _TAGS),
    *(f"</{tag}>" for tag in _TAGS),
    *(*_PAIRS, *_HARMONY, *_SPECIAL, *_AROUND, *MARKS),
)
_BEGUN = frozenset(mark[:size] for mark in _MARKS for size in range(1, len(mark)))
_BEGUN_FIRST = frozenset(mark[:size] for mark in _FIRST for size in range(1, len(mark) + 1))
has_sign = re.compile(r"[<`\[{◁\]]").search
"""Whether a text has anything of what marks begin with behind the first word; most have not."""
_HEADS = frozenset(mark[:3] for mark in _MARKS)
_MAY_BEGIN = re.compile(r"(?im)<(?=/?(?:[a-z]|\Z)|[|｜‖])|\[(?=[^\d\s]|\Z)|\{|(?<!`)`{1,2}\Z|```|◁|^\](?=<\]|<?\Z)")
_TAG = re.compile(rf"(?i)(?:\*\*)?<{_OF_TAGS}(?:\s[^<>\n]{{0,60}})?>|\[think\]|◁think▷|<\|begin_of_thought\|>")
_BEGUN_TAG = re.compile(rf"<{_OF_TAGS}\s[^<>\n]{{0,60}}\Z", re.IGNORECASE)
_ENDING = re.compile(rf"</{_OF_TAGS}>|\[/think\]|◁/think▷|<\|end_of_thought\|>", re.IGNORECASE)
_ENDING_LINE = re.compile(rf"\n[ \t*]*(?:{_ENDING.pattern})", re.IGNORECASE)
FINAL = re.compile(r"<\|channel\|>\s*final\b[^<]{0,40}(?:<\|constrain\|>[^<]{0,20})?<\|message\|>|assistantfinal")
_STRIPPED = re.compile(r"analysis(?=\w)|commentary to=|to=functions\.")
_BEGINNINGS = (  # in front of thoughts, with what ends them
    (_TAG, _ENDING),
    (re.compile(r"<\|channel>thought|<\|inner_prefix\|>"), re.compile(r"<channel\|>|<\|inner_suffix\|>")),
)
_BLANK = re.compile(r"\s*+")
_BOLD = re.compile(r"\*\*(?=\s|\Z)")  # what is left behind a mark that was bold
_BRACKET = re.compile(r"\{|\[[^/t]", re.IGNORECASE)  # which is a call where it begins a line, and no other mark
_RUN = re.compile(r"`+|.", re.DOTALL)
_CODE = re.compile(r"\n|`+")


@dataclass(slots=True)
class TextPosition:
    """Where an answer has come to: within code or not, and what stands on its line."""

    line: str = ""
    in_fence: bool = False
    in_span: bool = False

    @property
    def in_code(self) -> bool:
        """Whether what comes now is somebody's example."""
        return self.in_fence or self.in_span

    @property
    def begins_line(self) -> bool:
        """Whether nothing stands on the line but what marks it as bold."""
        return not self.line.strip(" \t*")

    def move(self, text: str) -> None:
        """Go on behind a text."""
        for found in _CODE.finditer(text):
            if found[0] == "\n":
                self.in_span = False
            elif len(found[0]) > 2 and not self.in_span:  # noqa: PLR2004 - a fence has three
                self.in_fence = not self.in_fence
            else:
                self.in_span = not self.in_span and not self.in_fence
        before, _, line = text.rpartition("\n")
        self.line = line[-LONGEST_MARK:] if before or text.startswith("\n") else (self.line + line)[-LONGEST_MARK:]

    def ends_thoughts(self, behind: str) -> bool:
        """Return whether a mark here ends thoughts that nothing has opened, with the character *behind* it.

        It does between two sentences or lines; within a sentence it is what the sentence is about.
        """
        if self.in_code or self.begins_line:
            return not self.in_code
        line = self.line.rstrip()
        if line == self.line:
            return line[-1] not in "([{\"'“‘„«/"
        return line[-1] in ".!?…:。！？)]\"'”*" or behind in {"\n", "\r"}


@dataclass(slots=True)
class TextFilter:
    """Takes the text of an answer as it comes, and lets through what is neither a thought nor a call nor a mark.

    What has passed is in `said`. Where the model *is heard thinking*, as its template has opened the thoughts for it,
    that is held back until they are closed, or the answer ends without. Where it `takes_back`, all that was said before
    were such thoughts. What begins like a call of one of the *tools* is held back as long as it may be one, and for
    good where it is. Within code there are no marks.
    """

    tools: Sequence[str] = ()
    is_heard: bool = False
    said: list[str] = field(default_factory=list[str])
    takes_back: bool = False
    has_thought: bool = False
    has_thought_aloud: bool = False
    is_open: bool = False  # whether nothing is held back or looked for, so that text without any sign has passed
    _has_begun: bool = False  # whether there was a word
    _held: str = ""
    _closing: re.Pattern[str] | None = None
    _aside: list[str] = field(default_factory=list[str])  # a call, or channels that may hold one
    _is_call: bool = False
    _is_spoken_of: bool = False
    _is_wrapped: bool = False
    _size: int = 0
    _start: int = 0  # of what is new in `said`
    _place: TextPosition = field(default_factory=TextPosition)
    _placed: int = 0

    def shown(self, text: str) -> str:
        """Return what may be shown of the next piece, or of all, where what was said before is taken back."""
        if self.is_open and not _MAY_BEGIN.search(text):
            self.said.append(text)
            return text
        self._start = len(self.said)
        self._sift(text)
        self.is_open = self._has_begun and not (self._held or self._closing or self._is_call or self.is_heard)
        return "" if self.is_heard else "".join(self.said[self._start :])

    def finish(self, *, is_cut: bool = False) -> tuple[str, tuple[ToolCall, ...]]:
        """Return what was held back and is text after all, and the calls that were written.

        Thoughts that never ended are not text; those that nothing has opened are, unless they were cut.
        """
        self._start = 0 if self.is_heard else len(self.said)
        held, self._held = mended(self._held), ""
        written, may_be = mended("".join(self._aside) + held), self._is_call
        if self._closing is FINAL:  # a call in a channel of its own has no words behind it
            written, may_be = written[written.find("to=") :], "to=" in written
        elif not self._closing and not may_be:
            may_be = bool(held and self.tools) and begins_call(held, self.tools) is not False
            may_be = may_be and not self._where().in_code
        calls = written_calls(written, self.tools) if may_be else ()
        if not (calls or self._closing or self._is_call):
            self._sift(held, is_last=True)
        if self.is_heard and is_cut:
            self.said.clear()  # they never ended
        return "".join(self.said[self._start :]), calls

    def _sift(self, text: str, *, is_last: bool = False) -> None:
        """Take a text apart, and keep what cannot be told yet."""
        held, self._held, at = self._held + text, "", 0
        while at < len(held):  # each step goes on behind a mark, or behind what is none
            if self._is_call:
                at = self._behind_call(held, at)
            elif self._closing:
                at = self._behind_thoughts(held, at, self._closing)
            else:
                at = self._behind_text(held, at, is_last=is_last)

    def _behind_text(self, held: str, at: int, *, is_last: bool) -> int:
        """Let a text through until there may be a mark, and return where to go on behind that."""
        start = self._next(held, at)
        if self._has_begun and start > at:
            self.said.append(held[at:start])
        blanks = "" if self._has_begun or self.has_thought else held[at:start][-MOST_BLANK:]
        behind = None
        if start < len(held):
            is_inline = self._has_begun and _BRACKET.match(held, start) and not self._where().begins_line
            if is_inline:
                return self._let_through(held, start, blanks)
            behind = self._behind_mark(held, start, blanks, is_last=is_last)
        if behind is None:
            self._held = blanks + held[start:]
        return len(held) if behind is None else behind

    def _next(self, held: str, at: int) -> int:
        """Return where the next mark may be: at the first word, or at what looks like one."""
        if not self._has_begun:
            return _BLANK.match(held, at).end()  # pyright: ignore[reportOptionalMemberAccess] - it matches nothing too
        while (found := _MAY_BEGIN.search(held, at)) and found[0] == "<":
            if (at := found.start() + 1) + 2 > len(held) or held[at - 1 : at + 2].lower() in _HEADS:
                break
        return found.start() if found else len(held)

    def _behind_mark(self, held: str, start: int, blanks: str, *, is_last: bool) -> int | None:
        """Return where to go on behind what may be a mark; None while that cannot be told."""
        rest = held[start : start + HEAD]
        begun, is_first = rest[:LONGEST_MARK].lower(), not self._has_begun
        is_open = not is_last and (begun in _BEGUN or (is_first and rest in _BEGUN_FIRST))
        if is_open or (not is_last and _BEGUN_TAG.match(rest)):
            return None
        if behind := self._behind_own_mark(rest, begun, is_last=is_last):
            return start + behind if behind > 0 else None
        if self.tools:
            verdict = begins_call(rest, self.tools, is_line=is_first or self._where().begins_line)
            if verdict and not self._where().in_code:
                self._is_call, self._size = True, 0
                return start
            if verdict is None and not is_last and len(rest) < HEAD:
                return None
        is_harmony = begun.startswith(_HARMONY) or (is_first and _STRIPPED.match(rest))
        if is_harmony and not self._where().in_code:
            self._closing, self.has_thought = FINAL, True
            return start
        return self._let_through(held, start, blanks)

    def _let_through(self, held: str, start: int, blanks: str) -> int:
        """Take what is no mark for text, and return where that ends."""
        behind = _RUN.match(held, start).end()  # pyright: ignore[reportOptionalMemberAccess] - there is a character
        self.said.append(blanks + held[start:behind])
        self._has_begun = True
        return behind

    def _behind_own_mark(self, rest: str, begun: str, *, is_last: bool) -> int:
        """Return the length of a mark that a text begins with, of thoughts or of nothing; 0 if there is none.

        It is below 0 while it is not known what that means.
        """
        is_wrapped = self._is_wrapped if self._has_begun else self.has_thought
        marks = (*_SPECIAL, *_AROUND) if is_wrapped else _SPECIAL
        if special := next((len(mark) for mark in marks if begun.startswith(mark)), 0):
            self._is_wrapped = is_wrapped
            return 0 if self._where().in_code else special
        if self.has_thought and not self._has_begun and _BOLD.match(rest):
            return len("**")
        for beginning, ending in _BEGINNINGS:
            if found := beginning.match(rest):
                self._is_spoken_of = self._where().in_code or not self._where().begins_line
                if self._is_spoken_of:
                    return 0
                self._closing, self.has_thought = ending, True
                return found.end()
        return self._behind_ending(rest, is_last=is_last)

    def _behind_ending(self, rest: str, *, is_last: bool) -> int:
        """Return the same of what ends thoughts that nothing has opened, with which the answer begins anew."""
        found = _ENDING.match(rest)
        if not found or (not is_last and found.end() == len(rest)):
            return -1 if found else 0
        if self._has_begun and (self._is_spoken_of or not self._where().ends_thoughts(rest[found.end() :][:1])):
            return 0
        self._begin_anew()
        return found.end()

    def _begin_anew(self) -> None:
        """Take back all that was said: until here, the model was thinking."""
        self.has_thought_aloud = self.has_thought_aloud or self._has_begun or not self.has_thought
        self.takes_back = self.takes_back or (bool(self.said) and not self.is_heard)
        self.is_heard, self._has_begun, self.has_thought = False, False, True
        self.said.clear()
        self._aside, self._is_call, self._is_spoken_of = [], False, False
        self._place, self._placed, self._start = TextPosition(), 0, 0

    def _behind_thoughts(self, held: str, at: int, closing: re.Pattern[str]) -> int:
        """Return where thoughts end; channels are kept, as there may be a call in them."""
        if found := closing.search(held, at):
            self._closing, self._aside = None, []
            return found.end()
        kept = max(len(held) - LONGEST_MARK, at)
        if closing is FINAL:
            self._aside.append(held[at:kept])
        self._held = held[kept:]
        return len(held)

    def _behind_call(self, held: str, at: int) -> int:
        """Keep a call, unless it was a thought. Raises `EndlessAnswer` for one that is larger than any."""
        if found := _ENDING_LINE.search(held, at):
            self._begin_anew()
            return found.end()
        kept = max(len(held) - LONGEST_MARK, at)
        self._aside.append(held[at:kept])
        self._size += kept - at
        if self._size > MOST_ARGUMENTS:
            raise EndlessAnswer(ENDLESS)
        self._held = held[kept:]
        return len(held)

    def _where(self) -> TextPosition:
        """Return the place behind all that was said, each piece of which is looked at once."""
        for text in self.said[self._placed :]:
            self._place.move(text)
        self._placed = len(self.said)
        return self._place
