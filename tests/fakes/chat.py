"""A chat model that follows a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from core.answering.prompts import read_passages
from core.model import ChatMessage, Handover, ModelTurn, Prompt, Restarted, TextDelta, ToolCall, ToolSpec, Usage


class Silence:
    """A place in the script where the model says nothing any more; `begun` is set when it gets there."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()


Piece: TypeAlias = str | ToolCall | Restarted | Handover | Exception | Silence


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """What the model does when it is asked once; made with `turn`."""

    pieces: tuple[Piece, ...]
    usage: Usage
    model: str
    is_cut: bool = False


def turn(*pieces: Piece, usage: Usage | None = None, model: str = "scripted", is_cut: bool = False) -> ScriptedTurn:
    """Script one turn: text is streamed piece by piece, tool calls come at the end, an exception ends it."""
    return ScriptedTurn(pieces, usage or Usage(), model, is_cut)


def search(query: str, *, id: str = "call-1", **arguments: Any) -> ToolCall:  # noqa: A002 - the field's name
    """Script a call of the search tool."""
    return call(json.dumps({"query": query, **arguments}), id=id)


def asked_of(message: ChatMessage) -> str:
    """Return what a message says, of one with passages only the question."""
    text = str(message["content"])
    found = read_passages(text)
    return found[1] if found else text


def call(arguments: str, *, name: str = "search_documents", id: str = "call-1") -> ToolCall:  # noqa: A002 - the field's name
    """Script a tool call with whatever arguments a model may write."""
    return ToolCall(id=id, name=name, arguments=arguments)


class ScriptedChatModel:
    """Takes its turns one after the other, and keeps what it was asked in `prompts`, `tools` and `may_call`.

    To be asked more often than the script says is an `AssertionError`; `check` raises one if a turn is left over (the
    fixture `script` calls it). `closed_early` counts the streams that were closed before their end. With `most_tokens`
    it is one that is paid for.
    """

    def __init__(self, *turns: ScriptedTurn, reads_history: bool = True) -> None:
        self.prompts: list[Prompt] = []
        self.tools: list[tuple[ToolSpec, ...]] = []
        self.may_call: list[bool] = []
        self.closed_early = 0
        self.most_tokens = 0
        self.only_quotes = False
        self.context_tokens: int | None = None
        self._turns = list(turns)
        self._reads_history = reads_history

    @property
    def reads_history(self) -> bool:
        """As the test wants it."""
        return self._reads_history

    async def stream(
        self, prompt: Prompt, *, tools: Sequence[ToolSpec], may_call: bool = True
    ) -> AsyncGenerator[TextDelta | Restarted | Handover | ModelTurn, None]:
        """Take the next turn of the script."""
        self.prompts.append(prompt)
        self.tools.append(tuple(tools))
        self.may_call.append(may_call)
        assert self._turns, f"the script has no turn left for: {prompt.messages[-1]}"
        taken = self._turns.pop(0)
        try:
            for item in _played(taken):
                if isinstance(item, Silence):
                    item.begun.set()
                    await asyncio.Event().wait()
                else:
                    yield item
        except (GeneratorExit, asyncio.CancelledError):
            self.closed_early += 1
            raise

    def check(self) -> None:
        """Fail if the model was not asked as often as the script says."""
        assert not self._turns, f"turns of the script that nobody asked for: {self._turns}"


class Script(Protocol):
    """Makes scripted models; the fixture `script` is one."""

    def __call__(self, *turns: ScriptedTurn, reads_history: bool = True) -> ScriptedChatModel:
        """Give a model that has to be asked for each of the *turns*."""
        ...


def _played(taken: ScriptedTurn) -> Iterator[TextDelta | Restarted | Handover | ModelTurn | Silence]:
    text = ""
    calls: list[ToolCall] = []
    for piece in taken.pieces:
        match piece:
            case str():
                text += piece
                yield TextDelta(piece)
            case ToolCall():
                calls.append(piece)
            case Restarted():
                text = ""
                yield piece
            case Handover() | Silence():
                yield piece
            case Exception():
                raise piece
    yield ModelTurn(text, tuple(calls), taken.usage, taken.model, taken.is_cut)
