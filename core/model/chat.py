"""What is said to a model, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from core.model.refs import Value

ChatMessage: TypeAlias = dict[str, Any]
"""One message in the chat completions format: `role`, `content`, and `tool_calls` or `tool_call_id`."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything that the model is given for one turn, oldest first, so that its beginning stays cacheable."""

    messages: tuple[ChatMessage, ...]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told about it; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolCall(Value):
    """The model's wish to call a tool; `arguments` is the text that it wrote, hopefully JSON."""

    id: str
    name: str
    arguments: str


class Usage(Value):
    """Tokens as the model's service counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Sum two turns."""
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
        )


class Prices(Value):
    """What a million tokens of each kind cost, in whatever currency the person who pays thinks in."""

    prompt: float
    cached: float
    completion: float

    def cost(self, usage: Usage) -> float:
        """Return the price of *usage*; cached tokens are part of the prompt's."""
        fresh = max(usage.prompt_tokens - usage.cached_tokens, 0)
        price = fresh * self.prompt + usage.cached_tokens * self.cached + usage.completion_tokens * self.completion
        return price / 1_000_000


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """What the model said in one turn, complete."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    model: str = ""
