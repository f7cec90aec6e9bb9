"""What the chat model's service refuses, in the words and the shape of the real one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from tests.servers.service import Received

KNOWN_FIELDS = {
    *("model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls"),
    *("temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stop", "user", "n", "response_format"),
    "reasoning_effort",
}
ROLES = {"system", "developer", "user", "assistant", "tool"}
CLASSIC = re.compile(r"/openai/deployments/[\w.-]+/(?P<what>chat/completions)\?api-version=[\w-]+")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error as the service says it."""

    message: str
    status: int = 400
    param: str | None = None
    code: str | None = None
    type: str = "invalid_request_error"


def size_of(text: str) -> int:
    """Count four bytes as a token."""
    return len(text.encode()) // 4 + 1


def refusal_of(
    received: Received, *, key: str, models: Sequence[str], stream_options: bool, is_azure: bool = False
) -> Refusal | None:
    """Find the first thing wrong with a request; None if it is good."""
    given, path = received.headers.get("Authorization", "").removeprefix("Bearer "), received.path
    if is_azure:
        given, path = _at_azure(received)
    if given != key:
        return Refusal(f"Incorrect API key provided: {given}.", 401, code="invalid_api_key")
    match received.method, path:
        case "GET", "/v1/models":
            return None
        case "POST", "/v1/chat/completions":
            return next(_problems(received.body, models, stream_options=stream_options), None)
        case method, path:
            return Refusal(f"Invalid URL ({method} {path})", 404)


def _at_azure(received: Received) -> tuple[str, str]:
    """Return the key and the path as OpenAI has them, for Azure's classic address and for its newer one.

    The classic one has the key in a header of its own and takes no other, and a version in the address.
    """
    authorization = received.headers.get("Authorization", "")
    if (found := CLASSIC.fullmatch(received.path)) and not authorization:
        return received.headers.get("api-key", ""), f"/v1/{found['what']}"
    is_newer = received.path.startswith("/openai/v1/")
    return authorization.removeprefix("Bearer "), received.path.removeprefix("/openai") if is_newer else "/nowhere"


def _problems(raw: object, models: Sequence[str], *, stream_options: bool) -> Iterator[Refusal]:
    if not isinstance(raw, dict):
        yield Refusal("We could not parse the JSON body of your request.")
        return
    body = cast("dict[str, Any]", raw)
    if body.get("model") not in models:
        message = f"The model `{body.get('model')}` does not exist or you do not have access to it."
        yield Refusal(message, 404, code="model_not_found")
    if not stream_options and "stream_options" in body:
        yield Refusal("Unrecognized request argument supplied: stream_options", param="stream_options")
    for unknown in body.keys() - KNOWN_FIELDS:
        yield Refusal(f"Unrecognized request argument supplied: {unknown}")
    if "stream_options" in body and not body.get("stream"):
        yield Refusal(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.", param="stream_options"
        )
    if "tool_choice" in body and not body.get("tools"):
        yield Refusal("'tool_choice' is only allowed when 'tools' are specified.", param="tool_choice")
    yield from _tool_problems(body.get("tools", []))
    yield from _message_problems(body.get("messages"))


def _tool_problems(tools: list[Any]) -> Iterator[Refusal]:
    for place, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - JSON
        if not isinstance(function, dict):
            yield Refusal(f"Missing required parameter: 'tools[{place}].function'.", param=f"tools[{place}].function")
            continue
        fields = cast("dict[str, Any]", function)
        if not TOOL_NAME.fullmatch(str(fields.get("name"))):
            yield Refusal(f"Invalid 'tools[{place}].function.name'.", param=f"tools[{place}].function.name")
        if fields.get("parameters", {}).get("type") != "object":
            yield Refusal(f"Invalid schema for function '{fields.get('name')}': schema must be of 'type: \"object\"'.")


def _message_problems(messages: object) -> Iterator[Refusal]:
    if not isinstance(messages, list) or not messages:
        yield Refusal("Invalid 'messages': empty array. Expected an array with minimum length 1.", param="messages")
        return
    said = cast("list[dict[str, Any]]", messages)
    for place, message in enumerate(said):
        where = f"messages[{place}]"
        if message.get("role") not in ROLES:
            yield Refusal(f"Invalid value: '{message.get('role')}'.", param=f"{where}.role")
        if message.get("content") is None and not message.get("tool_calls"):
            yield Refusal("Invalid value for 'content': expected a string, got null.", param=f"{where}.content")
    yield from _unpaired(said)


def _unpaired(messages: list[dict[str, Any]]) -> Iterator[Refusal]:
    """Every call needs its result right behind it, and every result its call."""
    open_calls: set[str] = set()
    end: dict[str, Any] = {"role": "the end"}
    for message in [*messages, end]:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_calls:
                yield Refusal("messages with role 'tool' must be a response to a preceding message with 'tool_calls'.")
            open_calls.discard(message.get("tool_call_id", ""))
            continue
        if open_calls:
            yield _unanswered(open_calls)
        open_calls = {call["id"] for call in message.get("tool_calls") or ()}


def _unanswered(calls: set[str]) -> Refusal:
    missing = ", ".join(sorted(calls))
    return Refusal(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {missing}"
    )
