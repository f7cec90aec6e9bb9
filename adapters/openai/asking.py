"""One turn that is asked for, and all that was sent for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.openai.reading import Reading
from core.model import Prompt, ToolSpec

NAMES = frozenset({"role", "type", "id", "tool_call_id", "name"})


@dataclass(slots=True)
class Asking:
    """One turn that is asked for, however often: what the model did wrong, and what is left out for this turn alone."""

    prompt: Prompt
    tools: Sequence[ToolSpec]
    may_call: bool = True
    begun: float = 0.0
    slips: int = 0
    was_shown: bool = False
    was_loading: bool = False
    left_out: tuple[str, ...] = ()
    body: dict[str, Any] = field(default_factory=dict[str, Any])
    reading: Reading | None = None

    def sent(self, *secrets: str) -> Iterator[str]:
        """Yield all that was sent but the names of things, thoughts and signatures too."""
        yield from secrets
        yield from _texts(self.body["messages"])


def _texts(sent: Any) -> Iterator[str]:
    if isinstance(sent, str):
        yield sent
    inside = ((name, each) for name, each in sent.items() if name not in NAMES) if isinstance(sent, dict) else ()  # pyright: ignore[reportUnknownVariableType] - JSON
    for each in sent if isinstance(sent, list) else (each for _, each in inside):  # pyright: ignore[reportUnknownVariableType] - JSON
        yield from _texts(each)
