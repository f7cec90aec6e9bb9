"""What Slack says when it does not do what it was asked."""

from __future__ import annotations

from typing import Any

from tests.servers.service import Reply
from tests.servers.slack.shape import Json


class Refusal(Exception):
    """A call is refused with an error code; what else is said beside it is in *more*."""

    def __init__(self, code: str, **more: Any) -> None:
        super().__init__(code)
        self.code = code
        self.more = more

    @property
    def body(self) -> Json:
        """What is sent."""
        return {"ok": False, "error": self.code, **self.more}


def invalid_blocks(words: str, pointer: str, *, code: str = "invalid_blocks") -> Refusal:
    """Give the refusal of blocks, of which the one at *pointer* is wrong."""
    said = f"{words} [json-pointer:{pointer}]"
    return Refusal(code, errors=[said], response_metadata={"messages": [f"[ERROR] {said}"]})


def invalid_arguments(words: str) -> Refusal:
    """Give the refusal of a call whose arguments cannot be read."""
    return Refusal("invalid_arguments", response_metadata={"messages": [f"[ERROR] {words}"]})


def refuse(code: str, **more: Any) -> Reply:
    """Give the fault with which a method refuses in place of doing what it was asked."""
    return Reply(200, Refusal(code, **more).body)


def limit(seconds: float) -> Reply:
    """Give the fault of a call that came too early, and how long to wait."""
    return Reply(429, Refusal("ratelimited").body, {"Retry-After": f"{seconds:g}"})
