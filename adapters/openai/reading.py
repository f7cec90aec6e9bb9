"""One turn of the model, read from the bytes of a stream or from a whole answer; nothing in it is trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from pydantic_core import from_json

from adapters.openai import refusals
from adapters.openai.calls import ToolCalls, mended, words_of
from adapters.openai.failures import failures
from adapters.openai.refusals import BrokenAnswer, EndlessAnswer, OnlyThoughts, ToolSlip, UsedUp, Withheld, fields_of
from adapters.openai.thoughts import TextFilter, has_sign
from core.model import ModelTurn, ToolCall, Usage

LONGEST_EVENT = 1024 * 1024  # bytes
MOST_THOUGHTS = 400_000  # characters that are kept of thoughts that may be wanted back
CUT = frozenset({"length", "max_tokens", "model_length", "model_context_window_exceeded", "context_length_exceeded"})
"""Services' words, in lower case, for an answer that got too long."""
WITHHELD = frozenset({"sensitive", "safety", "recitation", "blocklist", "prohibited_content", "spii"})
"""Those for one that may not be shown, besides all that speak of a filter."""
BROKEN_OFF = frozenset(
    {"error", "insufficient_system_resource", "network_error", "abort", "aborted", "cancelled", "timeout"}
)
"""Those for one that the service could not go on with."""
DOUBTFUL = frozenset({"other", "unknown"})
"""Those for one of which nobody knows whether it is whole."""
WORDS_OF_THOUGHTS = ("reasoning_content", "reasoning")
TOLD = frozenset({b"data", b"error"})  # the latter by llama.cpp of 2025 and before
MANY = 2_048  # bytes of events, from which on it is worth while to know their frame
_PADDING = re.compile(rb',"obfuscation":"\w*"(?=\}(?:\n\n|\Z))')  # by which nobody can tell the length of a text
_BLANK_LINE = re.compile(rb"(?>\r\n|\n|\r){2}")


@dataclass(slots=True)
class KeptThoughts:
    """Thoughts in fields of their own, which some services want back with the calls that they led to."""

    words: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    details: dict[tuple[Any, Any], dict[str, Any]] = field(default_factory=dict[tuple[Any, Any], dict[str, Any]])
    size: int = 0

    def add(self, delta: dict[str, Any]) -> None:
        """Take what an event says of thoughts."""
        for name in WORDS_OF_THOUGHTS:
            if (text := delta.get(name)) and isinstance(text, str) and self.size < MOST_THOUGHTS:
                self.size += len(text)
                self.words.setdefault(name, []).append(text)
        details = delta.get("reasoning_details")
        for detail in details if isinstance(details, list) else ():  # pyright: ignore[reportUnknownVariableType] - the service's JSON
            self._add_detail(fields_of(detail))

    def _add_detail(self, detail: dict[str, Any]) -> None:
        """Take a part of a block of thoughts, which come in pieces as the text does."""
        self.size += sum(len(each) for each in detail.values() if isinstance(each, str))
        if not detail or self.size > MOST_THOUGHTS:
            return
        block = self.details.setdefault((detail.get("type"), detail.get("index", len(self.details))), {})
        for name, value in detail.items():
            if name in {"text", "summary", "data"} and isinstance(value, str):
                block[name] = mended(block.get(name, "") + value)
            elif value is not None or name not in block:
                block[name] = value

    def found(self) -> dict[str, Any]:
        """Return the thoughts by the name of their field; an empty one was none."""
        found: dict[str, Any] = {name: mended("".join(texts)) for name, texts in self.words.items()}
        if self.details:
            found["reasoning_details"] = list(self.details.values())
        return {name: each for name, each in found.items() if each}


@dataclass(slots=True)
class Frame:
    """What stands around the text in an event, and is the same in most others, of which so only the texts are read."""

    before: bytes = b""
    behind: bytes = b""

    def learns(self, event: bytes) -> bool:
        """Take an event as an example, if it has a text, and nothing else that counts; return whether it has."""
        before, _, text = _PADDING.sub(b"", event).partition(b'"content":"')
        text, quote, behind = text.partition(b'"')
        with suppress(ValueError, LookupError, TypeError, AttributeError):
            fields = from_json(event.removeprefix(b"data:"))
            choice = fields["choices"][0]
            said = {name: each for name, each in choice["delta"].items() if each and name != "role"}
            is_usual = said == {"content": text.decode(errors="replace")}
            if is_usual and event.count(b'"content"') == 1 and not (fields.get("error") or choice.get("finish_reason")):
                self.before, self.behind = before + b'"content":"', quote + behind
                return True
        return False

    def joined(self, events: bytes) -> tuple[Sequence[object], bytes]:
        """Return one event with the texts of all, if each has this frame and nothing else, and those behind them."""
        end = self.behind + b"\n\n"
        whole = _PADDING.sub(b"", events) + b"\n\n" if self.before else b""
        *framed, rest = whole.split(end)
        text = b"".join([event.removeprefix(self.before) for event in framed])
        around = len(framed) * (len(self.before) + len(end)) + len(rest)
        if framed and len(text) + around == len(whole) and b"\\" + end not in whole:  # none of which ends too late
            with suppress(ValueError):  # or too early, or with half of an emoji
                return ({"choices": [{"delta": {"content": from_json(b'"%b"' % text)}}]},), rest.rstrip(b"\n")
        return (), events


@dataclass(slots=True)
class Reading:
    """Takes one answer as it comes; nothing in it is trusted to be what it should be.

    `finished` tells that the model came to its end, and `ended` that the service has said all; `extras` and `thoughts`
    are what it may want back with its calls. Where it *takes back*, all that was shown until then were thoughts.
    """

    model: str
    tools: Sequence[str]
    may_call: bool = True
    finished: bool = False
    is_cut: bool = False
    is_withheld: bool = False
    is_doubtful: bool = False
    ended: bool = False
    takes_back: bool = False
    is_heard: bool = False
    is_written: bool = False
    is_whole: bool = False
    extras: dict[str, Any] = field(default_factory=dict[str, Any])
    thoughts: dict[str, Any] = field(default_factory=dict[str, Any])
    usage: dict[str, Any] = field(default_factory=dict[str, Any])
    filter: TextFilter = field(init=False)
    _rest: bytearray = field(default_factory=bytearray)
    _calls: ToolCalls = field(default_factory=ToolCalls)
    _kept: KeptThoughts = field(default_factory=KeptThoughts)
    _half: str = ""
    _frame: Frame = field(default_factory=Frame)

    def __post_init__(self) -> None:
        self.filter = TextFilter(self.tools, self.is_heard)

    def read(self, piece: bytes) -> tuple[str, int, Exception | None]:
        """Take more bytes of a stream; what comes after the end is nothing.

        Return the text of the events that are whole by now, up to the first that is broken, how many there are, and
        what is wrong with that one.
        """
        texts, count = list[str](), 0
        try:
            for event in self._events(piece):
                if self.ended:
                    break
                count += 1
                if text := self.take(event):
                    texts.append(text)
        except failures() as error:
            return self._all_new("".join(texts)), count, error
        return self._all_new("".join(texts)), count, None

    def _all_new(self, text: str) -> str:
        """Return a *text*, or all of the answer where what was said before it is taken back."""
        if not self.filter.takes_back:
            return text
        self.takes_back, self.filter.takes_back = True, False
        return "".join(self.filter.said)

    def _events(self, piece: bytes) -> Iterable[object]:
        """Return what the events say that are whole now. An end is looked for in what is new alone.

        As a rule each is one line of JSON, and then all of them are read as one list, or only their texts as far as
        nothing else differs; where anything is unusual, they are read one by one.
        """
        seen = max(len(self._rest) - len(b"\r\n\r"), 0)
        self._rest += piece
        if b"\n\n" not in piece and not _BLANK_LINE.search(self._rest, seen):
            if len(self._rest) > LONGEST_EVENT:
                raise EndlessAnswer("an event without an end in sight")
            return ()
        come = bytes(self._rest)
        if b"\r" in come:
            *events, rest = _BLANK_LINE.split(come)
            self._rest = bytearray(rest)
            return self._one_by_one(events)
        whole, _, rest = come.rpartition(b"\n\n")
        self._rest = bytearray(rest)
        joined: Iterable[object] = ()
        if len(whole) > MANY:
            joined, whole = self._frame.joined(whole)
            first, _, others = whole.partition(b"\n\n")  # which says who speaks
            if not joined and self._frame.learns(others.rpartition(b"\n\n")[2]):
                joined, whole = self._frame.joined(others)
                joined = chain(self._one_by_one((first,)), joined)
        return chain(joined, self._listed(whole)) if whole else joined

    def _listed(self, events: bytes) -> Iterable[object]:
        with suppress(ValueError):
            listed = from_json(b"[%b]" % events.removeprefix(b"data:").replace(b"\n\ndata:", b","))
            if len(listed) == events.count(b"\n\ndata:") + 1:
                return listed
        return self._one_by_one(events.split(b"\n\n"))

    def _one_by_one(self, events: Iterable[bytes]) -> Iterator[object]:
        """Yield what events say that have anything to say; one may have more lines, of other kinds too.

        What the quicker reader of JSON minds, such as half of an emoji, the other takes.
        """
        for event in events:
            lines = (line.partition(b":") for line in event.splitlines())
            data = b"\n".join(said for kind, _, said in lines if kind in TOLD)
            if data.startswith((b" [DONE]", b"[DONE]")):
                self.ended = True
                return
            if not data:
                continue
            try:  # a blank before it is no matter to JSON
                yield from_json(data)
            except ValueError:
                yield self._with_whole_characters(json.loads(data.decode()))

    def _with_whole_characters(self, event: Any) -> Any:
        """Return an event without half a character at its end, which comes with the next one."""
        choices = fields_of(event).get("choices")
        delta = fields_of(fields_of(choices[0]).get("delta")) if isinstance(choices, list) and choices else {}
        if isinstance(content := delta.get("content"), str) and content:
            content, self._half = self._half + content, ""
            if "\ud800" <= content[-1] <= "\udbff":
                content, self._half = content[:-1], content[-1]
            delta["content"] = mended(content)
        return event

    def take(self, event: object) -> str:
        """Return the text that an event adds to the answer. Raises `BrokenAnswer`."""
        fields = fields_of(event)
        choices = fields.get("choices")
        says = fields.get("object") == "error" or fields.get("detail") or ("code" in fields and fields.get("message"))
        if not fields or fields.get("error") or (choices is None and says) or refusals.inner_status(fields):
            why = "an error instead of an answer" if fields else "an event that is not an object"
            raise BrokenAnswer(why, fields or None)
        if usage := fields.get("usage"):
            self.usage = fields_of(usage)
        if (model := fields.get("model")) != self.model:
            self.model = words_of(model) or self.model
        return self._said(fields_of(choices[0])) if choices and isinstance(choices, list) else ""

    def _said(self, choice: dict[str, Any]) -> str:
        """Return the text that is new, and keep what else there is."""
        delta = fields_of(choice.get("message") if choice.get("delta") is None else choice["delta"])
        if reason := choice.get("finish_reason"):
            self._finish_for(str(reason).lower(), str(choice.get("native_finish_reason")).lower())
        if calls := delta.get("tool_calls"):
            self._calls.add(calls)
        text = words_of(delta.get("content")) or words_of(delta.get("refusal"))
        if not text or len(delta) > 1:
            self._kept.add(delta)
        if self.filter.is_open and not has_sign(text):
            self.filter.said.append(text)
            return text
        return self.filter.shown(text) if text else ""

    def _finish_for(self, reason: str, native: str) -> None:
        """Take note of why the answer is over. Raises `BrokenAnswer` where the service could not go on."""
        if "malformed" in f"{reason} {native}":
            raise ToolSlip("a failed tool call")
        if reason in BROKEN_OFF:
            raise BrokenAnswer("an error instead of an end")
        self.finished = True
        self.is_cut = self.is_cut or reason in CUT
        self.is_doubtful = reason in DOUBTFUL
        self.is_withheld = self.is_withheld or "filter" in reason or reason in WITHHELD

    def take_whole(self, answer: object) -> str:
        """Return the text of an answer that came in one piece although a stream was asked for."""
        fields = fields_of(answer)
        choices = fields.get("choices")
        if not isinstance(choices, list) or not choices:
            is_told = any(map(fields.get, refusals.ANYWHERE)) or refusals.inner_status(fields)
            raise BrokenAnswer("JSON that is not an answer", answer if is_told else None)
        choice = {"finish_reason": "stop", **{name: each for name, each in fields_of(choices[0]).items() if each}}
        return self._all_new(self.take({**fields, "choices": [choice]}))

    def finish(self) -> tuple[str, ModelTurn]:
        """Return the text that was held back, and the whole turn.

        Raises `BrokenAnswer` if it did not come to its end, or says nothing. Thoughts that never ended are not shown.

        An answer cut by its length stays: asking again would cut it again. So it would one that is cut before its first
        word, which raises `UsedUp`. A refusal is text like any other: the core decides what is shown.
        """
        if not (self.finished or self.ended):
            raise BrokenAnswer("an answer without an end")
        rest, calls = self._held_back()
        text = "".join(self.filter.said)
        if not (self.finished or text.strip() or self.is_written or self._calls.are_whole):
            raise BrokenAnswer("an answer without an end")
        if not calls and not text.strip():
            if self.is_withheld:
                raise Withheld("an answer that is held back")
            has_thought = self.thoughts or self.filter.has_thought
            raise (UsedUp if self.is_cut else OnlyThoughts if has_thought else BrokenAnswer)("an empty answer")
        counted = (self.usage.get("prompt_tokens"), self.usage.get("completion_tokens"))
        cached = fields_of(self.usage.get("prompt_tokens_details")).get("cached_tokens")
        prompt, completion, cached = (max(each, 0) if isinstance(each, int) else 0 for each in (*counted, cached))
        used = Usage(prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached)
        return rest, ModelTurn(text, calls, used, self.model, self.is_cut or self.is_withheld or self.is_doubtful)

    def _held_back(self) -> tuple[str, tuple[ToolCall, ...]]:
        """Return text that was held back and is shown after all, and the calls; raises where none may be made."""
        calls, self.extras = self._calls.finish(self.tools)
        rest, written = self.filter.finish(is_cut=self.is_cut)
        self.is_written = bool(written) and not calls
        calls = calls or written
        if calls and not self.may_call:
            calls = ()
            if not any(map(str.strip, self.filter.said)):
                raise ToolSlip("a tool call where none may be made")
        self.thoughts = self._kept.found()
        return rest, calls
