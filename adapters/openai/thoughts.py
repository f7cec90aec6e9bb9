"""The beginning of an answer: thoughts, and calls that are written as text, are no part of what is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from adapters.openai.calls import ENDLESS, HEAD, MOST_ARGUMENTS, begins_call, mended, written_calls
from adapters.openai.refusals import EndlessAnswer
from core.model import ToolCall

MOST_BLANK = 1_000  # characters before the first word, of which nobody sees any
HARMONY, FINAL = "<|channel|>", "<|channel|>final<|message|>"
OPENINGS: Mapping[str, str] = {
    **{f"<{name}>": f"</{name}>" for name in ("think", "thinking", "thought", "thoughts", "reasoning", "seed:think")},
    "[think]": "[/think]",
    "◁think▷": "◁/think▷",
    HARMONY: FINAL,
    f"<|start|>assistant{HARMONY}": FINAL,
}
"""The marks around thoughts, in lower case; models write them in any."""
LONGEST_MARK = max(map(len, (*OPENINGS, *OPENINGS.values())))
UNOPENED = re.compile(r"</(?:think|thinking|thoughts?|reasoning|seed:think)>\s*", re.IGNORECASE)
_ENDS = {end: re.compile(re.escape(end), re.IGNORECASE) for end in OPENINGS.values()}
_BLANK = re.compile(r"\s*+")
_INLINE = re.compile(r"`[^`\n]*\Z")


@dataclass(slots=True)
class Opening:
    """Takes an answer until its first word; once it `is_over`, all that comes is text, marks too.

    Where the model *is heard thinking*, as its template has opened the thoughts for it, all is held back until they are
    closed, or the answer ends without that. What begins like a call of one of the *tools* is held back as long as it
    may be one, and for good where it is.
    """

    tools: Sequence[str] = ()
    is_heard: bool = False
    is_over: bool = False
    closing: str = ""
    has_thought: bool = False
    _held: list[str] = field(default_factory=list[str])
    _tail: str = ""
    _is_answer: bool = False  # whether the thoughts are over, and it is seen whether this is a call
    _is_call: bool = False
    _size: int = 0

    def shown(self, text: str) -> str:
        """Return what may be shown of the next piece; what may yet become a mark or a call is held back."""
        if self.is_over:
            return text
        if self.is_heard:
            text = self._heard(text)
        if text and not self._is_answer:
            text = self._without_thoughts(text)
        return self._without_call(text) if text and self._is_answer else ""

    def finish(self) -> tuple[str, tuple[ToolCall, ...]]:
        """Return what was held back and is text after all, and the calls that were written.

        Thoughts that never ended are not text.
        """
        held = mended("".join(self._held) + self._tail)
        if self.closing == FINAL:  # a call in a channel of its own has no words behind it
            return "", written_calls(held, self.tools)
        if self.is_over or self.closing:
            return "", ()
        may_be = bool(self.tools) and (self._is_answer or begins_call(held, self.tools) is not False)
        calls = written_calls(held, self.tools) if may_be else ()
        return ("", calls) if calls or self._is_call else (held, ())

    def _heard(self, text: str) -> str:
        """Return what comes after the thoughts that the model did not open."""
        self._count(text)
        seen, self._tail = self._tail + text, ""
        if found := UNOPENED.search(seen):
            self._held, self.is_heard, self.has_thought = [], False, True
            return seen[found.end() :]
        kept = max(len(seen) - LONGEST_MARK, 0)
        self._held.append(seen[:kept])
        self._tail = seen[kept:]
        return ""

    def _without_thoughts(self, text: str) -> str:
        held, at = self._tail + text, 0
        while not self._is_answer:
            if self.closing:
                found = _ENDS[self.closing].search(held, at)
                if found is None:
                    rest = held[at:]
                    kept = max(len(rest) - LONGEST_MARK, 0)
                    if self.closing == FINAL:
                        self._count(rest[:kept])
                        self._held.append(rest[:kept])
                    self._tail = rest[kept:]
                    return ""
                at, self.closing, self._held = found.end(), "", []
            start = _BLANK.match(held, at).end()  # pyright: ignore[reportOptionalMemberAccess] - it matches nothing too
            head = held[start : start + LONGEST_MARK].lower()
            if opening := next((mark for mark in OPENINGS if head.startswith(mark)), None):
                self.closing, self.has_thought = OPENINGS[opening], True
                at = start if self.closing == FINAL else start + len(opening)
            elif any(mark.startswith(head) for mark in OPENINGS):
                self._tail = held[max(at, len(held) - MOST_BLANK) :]
                return ""
            else:
                at, self._is_answer = start if self.has_thought else at, True
        self._tail = ""
        return held[at:]

    def _without_call(self, text: str) -> str:
        """Return a text that begins no call, with what was held back before it."""
        self._count(text)
        self._held.append(text)
        if self._is_call:
            return ""
        held = "".join(self._held)
        may_be = begins_call(held, self.tools) if self.tools else False
        self._is_call = may_be is True
        if may_be is not False and (self._is_call or len(held) <= HEAD):
            return ""
        self.is_over, self._held = True, []
        return held

    def _count(self, text: str) -> None:
        """Count what is held back. Raises `EndlessAnswer` for a call that is larger than any."""
        self._size += len(text)
        if self._is_call and self._size > MOST_ARGUMENTS:
            raise EndlessAnswer(ENDLESS)


def thoughts_end(text: str) -> int | None:
    """Return where an answer begins behind thoughts that were shown, as nothing has opened them; None where none were.

    A mark within code is somebody's example, and so is one that was opened.
    """
    found = UNOPENED.search(text)
    if found is None or f"<{found[0].rstrip()[2:]}".lower() in text[: found.start()].lower():
        return None
    before = text[: found.start()]
    return None if before.count("```") % 2 or _INLINE.search(before) else found.end()
