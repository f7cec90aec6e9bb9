"""Writes requests for one endpoint, and learns from its refusals what it understands."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from adapters.openai.calls import is_object
from adapters.openai.reading import Reading
from adapters.openai.refusals import ServiceRefusal
from core.answering.prompts import fenced
from core.model import ChatMessage, ModelTurn, Prompt, ToolSpec

CALLS_KEPT = 1_000  # those of an answer are needed until it is written, seconds later
UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}
BOUNDS = ("max_tokens", "max_completion_tokens")  # the one that more services know, and that of newer models
HEARD = 3  # turns without the mark of thoughts, after which a model is no longer taken for one that thinks aloud
SHARE = 4  # so much of a small context is left to the answer
ALTERNATING = frozenset({"user", "assistant", "system"})
_ON_LENGTH = re.compile(r"max_(?:completion_)?tokens", re.IGNORECASE)
_ON_SYSTEM = re.compile(
    r"(?:system|developer) (?:role|message|instruction|prompt)s?\b[^.{]{0,30}\bnot (?:supported|enabled|allowed)",
    re.IGNORECASE,
)
_ON_THOUGHTS = re.compile(r"reasoning_(?:content|details)|['`\"]reasoning['`\"]", re.IGNORECASE)
_ON_IDS = re.compile(r"length of 9|exactly 9 |\{9\}", re.IGNORECASE)
_USUAL_ID = re.compile(r"[a-zA-Z0-9]{9}")


@dataclass(frozen=True, slots=True)
class CallMemo:
    """What a service gave with a call, to be sent back with it: a signature, and the thoughts of its turn."""

    extra: Any = None
    thoughts: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(slots=True)
class EndpointDialect:
    """Knows what one endpoint understands: all that is usual, until it refuses something."""

    model: str
    tokens: int | None = None
    context: int | None = None
    has_tools: bool = True
    heard: int = 0  # for so many turns more, what comes is held back until the model's thoughts are over
    _bounds: tuple[str, ...] = BOUNDS
    _refused: set[str] = field(default_factory=set[str])  # fields, `tool_choice` with its value
    _wants_signatures: bool = False
    _wants_thoughts: bool = False
    _takes_thoughts: bool = True
    _takes_system: bool = True
    _wants_short_ids: bool = False
    _memos: OrderedDict[str, CallMemo] = field(default_factory=OrderedDict[str, CallMemo])

    @property
    def most_tokens(self) -> int | None:
        """The most tokens that an answer may have, of which a small context leaves fewer."""
        if self.tokens is None or self.context is None:
            return self.tokens
        return max(min(self.tokens, self.context // SHARE), 1)

    @property
    def takes_no_calls(self) -> bool:
        """Whether a model may be told to call none of the tools that it is given, as far as is known."""
        return "tool_choice=none" not in self._refused

    def body(
        self, prompt: Prompt, tools: Sequence[ToolSpec], *, may_call: bool = True, is_plain: bool = False
    ) -> dict[str, Any]:
        """Write a request for a streamed turn; one that *is plain* names no tools, and tells of calls in words."""
        choice = "auto" if may_call else "none"
        is_plain = is_plain or not self.has_tools or not (may_call or self.takes_no_calls)
        body: dict[str, Any] = {
            "model": self.model,
            "messages": self._alternating(self._told(prompt.messages, is_plain=is_plain)),
            "stream": True,
        }
        if (most := self.most_tokens) and self._bounds:
            body[self._bounds[0]] = most
        if "stream_options" not in self._refused:
            body["stream_options"] = {"include_usage": True}
        if tools and not is_plain:
            functions = (
                {"name": spec.name, "description": spec.description, "parameters": spec.parameters} for spec in tools
            )
            body["tools"] = [{"type": "function", "function": function} for function in functions]
            if f"tool_choice={choice}" not in self._refused:
                body["tool_choice"] = choice
        return body

    def concede(self, body: Mapping[str, Any], refusal: ServiceRefusal) -> bool:
        """Leave out what the endpoint refused of *body*, from now on; return whether another body would be written now.

        It counts what was sent, not what is known: of several requests at once, each has to be sent again.
        """
        text = refusal.text
        bound = next((bound for bound in BOUNDS if bound in body), None)
        if bound and _ON_LENGTH.search(text):  # it is not known, or more than the model can write
            self._bounds = tuple(other for other in self._bounds if other != bound)
            return True
        if "tools" in body and refusal.is_about_tools:
            self.has_tools = False
            return True
        if "stream_options" in body and ("stream_options" in text or "include_usage" in text):
            self._refused.add("stream_options")
            return True
        if "tool_choice" in body and re.search(r"tool[_ ]choice", text, re.IGNORECASE):
            self._refused.add(f"tool_choice={body['tool_choice']}")
            return True
        return self._concede_messages(body["messages"], text)

    def _concede_messages(self, messages: Sequence[ChatMessage], text: str) -> bool:
        turns = [message for message in messages if message.get("tool_calls")]
        calls = [call for message in turns for call in message["tool_calls"]]
        if "thought_signature" in text and not all("extra_content" in call for call in calls):
            self._wants_signatures = True
            return True
        if turns and _ON_THOUGHTS.search(text):
            has_all = all(any(name.startswith("reasoning") for name in message) for message in turns)
            self._takes_thoughts, self._wants_thoughts = self._takes_thoughts and not has_all, not has_all
            return True
        if _ON_IDS.search(text) and not all(_USUAL_ID.fullmatch(call["id"]) for call in calls):
            self._wants_short_ids = True
            return True
        if _ON_SYSTEM.search(text) and messages[0]["role"] == "system":
            self._takes_system = False
            return True
        return False

    def remember(self, turn: ModelTurn, reading: Reading) -> None:
        """Keep what the service wants back with its tool calls, such as the signature of a Gemini thought, by id.

        The thoughts of a turn are kept with its first call.
        """
        thoughts = reading.thoughts
        for call in turn.tool_calls:
            self._memos[call.id] = CallMemo(reading.extras.get(call.id), thoughts)
            thoughts = {}
        while len(self._memos) > CALLS_KEPT:
            self._memos.popitem(last=False)
        if reading.has_thought_aloud:
            self.heard = HEARD
        elif self.heard:
            self.heard -= 1

    def _told(self, messages: Iterable[ChatMessage], *, is_plain: bool) -> Iterator[ChatMessage]:
        """Yield messages as this endpoint takes them; calls that it would refuse are told in words, with their results.

        Those are data, as passages are, and nothing that the person has said.
        """
        told: dict[str, Any] = {}
        for message in messages:
            calls: Sequence[dict[str, Any]] = message.get("tool_calls") or ()
            if calls and (is_plain or (self._wants_thoughts and not self._thoughts_of(calls))):
                told |= {call["id"]: call["function"] for call in calls}
                if message.get("content"):
                    yield {"role": "assistant", "content": message["content"]}
            elif (function := told.get(message.get("tool_call_id", ""))) is not None:
                found = f"{function['arguments']}\n{message['content']}"
                yield {"role": "user", "content": fenced(f"results of {function['name']}", found)}
            else:
                yield self._message(message, calls)

    def _message(self, message: ChatMessage, calls: Sequence[dict[str, Any]]) -> ChatMessage:
        """Return a message with what belongs to its calls, and with no arguments where they are no JSON.

        Several services parse the arguments of earlier calls, and refuse the conversation if they cannot.
        """
        if "tool_call_id" in message:
            return {**message, "tool_call_id": self._id(message["tool_call_id"])}
        if not calls:
            return message
        written: list[dict[str, Any]] = []
        for call in calls:
            function = call["function"]
            if not is_object(function["arguments"]):
                function = {**function, "arguments": "{}"}
            memo = self._memos.get(call["id"])
            extra = (memo and memo.extra) or (UNSIGNED if self._wants_signatures else None)
            signed = {"extra_content": extra} if extra else {}
            written.append({**call, "id": self._id(call["id"]), "function": function, **signed})
        return {**message, **self._thoughts_of(calls), "tool_calls": written}

    def _thoughts_of(self, calls: Sequence[dict[str, Any]]) -> Mapping[str, Any]:
        """Return the thoughts that led to these calls, in the field in which they came, if they are to be sent.

        Some services give them in two fields. A field that is only to be read is sent where it is asked for alone.
        """
        memos = (self._memos.get(call["id"], CallMemo()) for call in calls)
        thoughts = next((memo.thoughts for memo in memos if memo.thoughts), CallMemo().thoughts)
        names = ("reasoning_details", "reasoning_content", *(("reasoning",) if self._wants_thoughts else ()))
        name = next((name for name in names if name in thoughts), None)
        return {name: thoughts[name]} if name and self._takes_thoughts else {}

    def _id(self, id_: str) -> str:
        """Return the id of a call as it is sent: one that the endpoint gave as it is, another one as all take it."""
        is_its_own = id_ in self._memos and not self._wants_short_ids
        return id_ if is_its_own or _USUAL_ID.fullmatch(id_) else sha256(id_.encode(errors="replace")).hexdigest()[:9]

    def _alternating(self, messages: Iterable[ChatMessage]) -> list[ChatMessage]:
        """Return messages of which no two of the same side are neighbours, as several templates want them."""
        joined: list[ChatMessage] = []
        for message in messages:
            own = message
            if not self._takes_system and message["role"] == "system":
                own = {**message, "role": "user"}
            last = joined[-1] if joined else {}
            both = last.get("content"), own.get("content")
            is_same = own["role"] == last.get("role") and own["role"] in ALTERNATING
            if (
                is_same
                and all(isinstance(each, str) for each in both)
                and not (own.keys() | last.keys()) - {"role", "content"}
            ):
                joined[-1] = {**last, "content": f"{both[0]}\n\n{both[1]}"}
            else:
                joined.append(own)
        return joined
