"""Writes requests for one endpoint, and learns from its refusals what it understands."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from adapters.openai.calls import is_object
from adapters.openai.reading import Reading
from adapters.openai.refusals import NO_TOOLS, ServiceRefusal
from core.answering.context import BYTES_PER_TOKEN
from core.answering.prompts import fenced, without_search
from core.model import ChatMessage, ModelTurn, Prompt, ToolSpec

UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}
BOUNDS = ("max_tokens", "max_completion_tokens")  # the one that more services know, and that of newer models
HEARD = 3  # turns without the mark of thoughts, after which a model is no longer taken for one that thinks aloud
SHARE = 4  # so much of a small context is left to the answer
SHORT = 2_048  # tokens, which every model reads
CONTEXT = "context"
LEARNED = 900.0  # seconds for which a refusal counts; then it is tried again, as it may have been meant otherwise
_ON_LENGTH = re.compile(
    r"max_(?:completion_)?tokens(?!\W+(?:must|should) be (?:at least|greater))|maximum tokens you requested",
    re.IGNORECASE,
)
_ON_STREAM = re.compile(r"\bto stream\b|\bstream(?:ing)?\b[^.{]{0,30} not\b|not support(?:ed)? stream", re.IGNORECASE)
_ON_ROLES = re.compile(
    r"(?:system|developer) (?:role|message|instruction|prompt)s?\b[^.{]{0,30}\bnot (?:supported|enabled|allowed)"
    r"|not support ['\"`]?system|only user and assistant roles|roles must alternate|unexpected role",
    re.IGNORECASE,
)
_ON_THOUGHTS = re.compile(r"reasoning_(?:content|details)|['`\"]reasoning['`\"]", re.IGNORECASE)
_ON_IDS = re.compile(r"length of 9|exactly 9 |\{9\}", re.IGNORECASE)
_ON_EFFORT = re.compile(r"reasoning_effort.{0,40}\bnone\b", re.IGNORECASE)
_ON_CHOICE = re.compile(r"tool[_ ]choice", re.IGNORECASE)
_USUAL_ID = re.compile(r"[a-zA-Z0-9]{9}")


@dataclass(frozen=True, slots=True, repr=False)
class TurnMemo:
    """What an endpoint gave with a turn, and is sent back to it alone: thoughts, and signatures by the ids of calls."""

    giver: EndpointDialect | None = None
    extras: Mapping[str, Any] = field(default_factory=dict[str, Any])
    thoughts: Mapping[str, Any] = field(default_factory=dict[str, Any])


UNKNOWN = TurnMemo()
"""That of a turn that somebody else wrote."""


@dataclass(slots=True)
class EndpointDialect:
    """Knows what one endpoint understands: all that is usual, and for a while less, if it refuses something."""

    model: str
    tokens: int | None = None
    context: int | None = None
    clock: Callable[[], float] = time.monotonic
    heard: int = 0  # for so many turns more, what comes is held back until the model's thoughts are over
    read: int = 0  # the most tokens that it has counted in a prompt
    _learned: dict[str, float] = field(default_factory=dict[str, float])  # what was refused or wanted, until when
    _set_context: int | None = None

    def __post_init__(self) -> None:
        self._set_context = self.context

    @property
    def has_tools(self) -> bool:
        """Whether it takes tools, as far as is known."""
        return "no tools" not in self._learned

    def learn_context(self, tokens: int | None) -> None:
        """Take what a service says of its context, if it does; for as long as that counts, it only gets smaller."""
        if tokens is not None:
            self.context = min(tokens, self.context or tokens)
            self._learn(CONTEXT)

    def guessed(self, size: int) -> int | None:
        """Return how many tokens may fit where so many bytes were refused without a limit: half of them, and an answer.

        None for a short prompt, and for one no longer than another that was read, which may be refused by mistake once.
        """
        tokens, read = round(size / BYTES_PER_TOKEN), self.read
        self.read = read if tokens > read else 0
        return max(tokens * 2 // 3, read) if tokens > max(read, SHORT) else None

    def _learn(self, what: str) -> None:
        self._learned[what] = self.clock() + LEARNED

    @property
    def most_tokens(self) -> int | None:
        """The most tokens that an answer may have, of which a small context leaves fewer."""
        if self.tokens is None or self.context is None:
            return self.tokens
        return max(min(self.tokens, self.context // SHARE), 1)

    @property
    def takes_no_calls(self) -> bool:
        """Whether a model may be told to call none of the tools that it is given, as far as is known."""
        return "no tool_choice=none" not in self._learned

    def body(
        self, prompt: Prompt, tools: Sequence[ToolSpec], *, may_call: bool = True, is_plain: bool = False
    ) -> dict[str, Any]:
        """Write a request for a turn; one that *is plain* names no tools, and tells of calls in words."""
        now = self.clock()
        for what, until in tuple(self._learned.items()):
            if until <= now:
                del self._learned[what]
                self.context = self._set_context if what == CONTEXT else self.context
        choice = "auto" if may_call else "none"
        is_plain = is_plain or "no tools" in self._learned or not (may_call or self.takes_no_calls)
        body: dict[str, Any] = {
            "model": self.model,
            "messages": self._alternating(self._told(prompt.messages, is_plain=is_plain)),
            "stream": "no stream" not in self._learned,
        }
        bound = next((bound for bound in BOUNDS if f"no {bound}" not in self._learned), None)
        if (most := self.most_tokens) and bound:
            body[bound] = most
        if body["stream"] and "no stream_options" not in self._learned:
            body["stream_options"] = {"include_usage": True}
        if tools and not is_plain:
            body["tools"] = [{"type": "function", "function": spec._asdict()} for spec in tools]
            if f"no tool_choice={choice}" not in self._learned:
                body["tool_choice"] = choice
            if "no effort" in self._learned:
                body["reasoning_effort"] = "none"
        return body

    def concede(self, body: Mapping[str, Any], refusal: ServiceRefusal) -> bool:
        """Leave out what the endpoint refused of *body*, for a while; return whether another body would be written now.

        It counts what was sent, not what is known: of several requests at once, each has to be sent again.
        """
        text = refusal.words
        bound = next((bound for bound in BOUNDS if bound in body), None)
        is_on_options = "stream_options" in text or "include_usage" in text
        meant = (
            (f"no {bound}", bound and _ON_LENGTH.search(text)),  # it is not known, or more than the model can write
            ("no effort", "tools" in body and "reasoning_effort" not in body and _ON_EFFORT.search(text)),
            ("no tools", "tools" in body and NO_TOOLS.search(text)),
            ("no stream_options", "stream_options" in body and is_on_options),
            ("no stream", body["stream"] and _ON_STREAM.search(text)),  # an organization that nobody has verified
            (f"no tool_choice={body.get('tool_choice')}", "tool_choice" in body and _ON_CHOICE.search(text)),
        )
        refused = next((what for what, is_meant in meant if is_meant), None) or self._wanted(body["messages"], text)
        if refused:
            self._learn(refused)
        return refused is not None

    def _wanted(self, messages: Sequence[ChatMessage], text: str) -> str | None:
        """Return what an endpoint wants to be different in messages, if it says so and it is not so yet."""
        turns = [message for message in messages if message.get("tool_calls")]
        calls = [call for message in turns for call in message["tool_calls"]]
        if "thought_signature" in text and not all("extra_content" in call for call in calls):
            return "signatures"
        if turns and _ON_THOUGHTS.search(text):
            has_all = all(any(name.startswith("reasoning") for name in message) for message in turns)
            if has_all:
                self._learned.pop("thoughts", None)
            return "no thoughts" if has_all else "thoughts"
        if _ON_IDS.search(text) and not all(_USUAL_ID.fullmatch(call["id"]) for call in calls):
            return "short ids"
        if not _ON_ROLES.search(text):
            return None
        return "no system" if messages[0]["role"] == "system" else "no tools" if turns else None

    def remembering(self, turn: ModelTurn, reading: Reading) -> ModelTurn:
        """Return a turn with what the service wants back with its calls, such as the signature of a Gemini thought.

        It is kept with the turn, and nowhere by the ids of calls, which many services number anew for each person.
        """
        self.read = max(self.read, turn.usage.prompt_tokens)
        self.heard = HEARD if reading.filter.has_thought_aloud else max(self.heard - 1, 0)
        return replace(turn, memo=TurnMemo(self, reading.extras, reading.thoughts)) if turn.tool_calls else turn

    def _told(self, messages: Iterable[ChatMessage], *, is_plain: bool) -> Iterator[ChatMessage]:
        """Yield messages as this endpoint takes them; calls that it would refuse are told in words, with their results.

        Those are data, as passages are, and nothing that the person has said. Results stand behind their own calls, and
        are told apart by that where two turns have calls of the same id.
        """
        told, ids, sent = dict[str, Any](), dict[str, str](), set[str]()
        for message in messages:
            calls: Sequence[dict[str, Any]] = message.get("tool_calls") or ()
            id_ = message.get("tool_call_id")
            if calls:
                memo: Any = message.get("memo")
                memo = memo if isinstance(memo, TurnMemo) and memo.giver is self else UNKNOWN
                is_told = is_plain or ("thoughts" in self._learned and not self._thoughts_of(memo))
                told = {call["id"]: call["function"] for call in calls} if is_told else {}
                ids = {call["id"]: self._id(call["id"], memo, sent) for call in calls}
                if not is_told:
                    yield self._calling(message, memo, ids)
                elif message.get("content"):
                    yield {"role": "assistant", "content": message["content"]}
            elif id_ is not None and (function := told.get(id_)):
                found = f"{function['arguments']}\n{message['content']}"
                yield {"role": "user", "content": fenced(f"results of {function['name']}", found)}
            elif is_plain:
                yield without_search(message)
            else:
                yield message if id_ is None else {**message, "tool_call_id": ids.get(id_, id_)}

    def _calling(self, message: ChatMessage, memo: TurnMemo, ids: Mapping[str, str]) -> ChatMessage:
        """Return a turn with what belongs to its calls, and with no arguments where they are no JSON.

        Several services parse the arguments of earlier calls, and refuse the conversation if they cannot.
        """
        written: list[dict[str, Any]] = []
        for call in message["tool_calls"]:
            function = call["function"]
            if not is_object(function["arguments"]):
                function = {**function, "arguments": "{}"}
            extra = memo.extras.get(call["id"]) or (UNSIGNED if "signatures" in self._learned else None)
            signed = {"extra_content": extra} if extra else {}
            written.append({**call, "id": ids[call["id"]], "function": function, **signed})
        said = {name: each for name, each in message.items() if name != "memo"}
        return {**said, **self._thoughts_of(memo), "tool_calls": written}

    def _thoughts_of(self, memo: TurnMemo) -> Mapping[str, Any]:
        """Return the thoughts that led to calls, in the field in which they came, if they are to be sent.

        Some services give them in two fields. A field that is only to be read is sent where it is asked for alone.
        """
        names = ("reasoning_details", "reasoning_content", *(("reasoning",) if "thoughts" in self._learned else ()))
        name = next((name for name in names if name in memo.thoughts), None)
        return {name: memo.thoughts[name]} if name and "no thoughts" not in self._learned else {}

    def _id(self, id_: str, memo: TurnMemo, sent: set[str]) -> str:
        """Return the id of a call as it is sent: one that the endpoint gave as it is, another one as all take it.

        One that was *sent* already is another one too.
        """
        is_usual = (memo is not UNKNOWN and "short ids" not in self._learned) or _USUAL_ID.fullmatch(id_)
        if not is_usual or id_ in sent:
            id_ = sha256(f"{id_} {len(sent)}".encode(errors="replace")).hexdigest()[:9]
        sent.add(id_)
        return id_

    def _alternating(self, messages: Iterable[ChatMessage]) -> list[ChatMessage]:
        """Return messages of which no two of the same side are neighbours, as several templates want them."""
        joined: list[ChatMessage] = []
        for message in messages:
            is_told = "no system" in self._learned and message["role"] == "system"
            own = {**message, "role": "user"} if is_told else message
            last = joined[-1] if joined else {}
            if own["role"] == last.get("role") and own.keys() == last.keys() == {"role", "content"}:
                joined[-1] = {**last, "content": f"{last['content']}\n\n{own['content']}"}
            else:
                joined.append(own)
        return joined
