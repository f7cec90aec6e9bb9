"""One turn that is asked for, and all that was sent for it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.openai.reading import Reading
from core.model import Prompt, ToolSpec


@dataclass(slots=True)
class Asking:
    """One turn that is asked for, however often: what the model did wrong, and what is left out for this turn alone."""

    prompt: Prompt
    tools: Sequence[ToolSpec]
    may_call: bool = True
    begun: float = 0.0
    slips: int = 0
    was_shown: bool = False
    left_out: tuple[str, ...] = ()
    body: dict[str, Any] = field(default_factory=dict[str, Any])
    reading: Reading | None = None

    def sent(self, secret: str) -> Iterator[str]:
        """Yield all that was sent, in the forms in which a service may repeat it."""
        yield secret
        for message in self.prompt.messages:
            arguments = (call["function"]["arguments"] for call in message.get("tool_calls") or ())
            for text in (str(message.get("content") or ""), *arguments):
                written = (text, json.dumps(text, ensure_ascii=False), json.dumps(text), repr(text))
                yield from dict.fromkeys((*written, *(" ".join(each.split()) for each in written)))
