"""What is sent: as little as will do, and still less where an endpoint refuses a part of it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.openai.calls import is_object
from core.model import ChatMessage, Prompt, ToolSpec

SIGNATURES_KEPT = 1_000  # calls; those of an answer are needed until it is written, seconds later
UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}


class EndpointDialect:
    """Writes requests for one endpoint, and learns from its refusals what it understands."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._asks_usage = True
        self._signs = False
        self._extras: OrderedDict[str, Any] = OrderedDict()

    def body(self, prompt: Prompt, tools: Sequence[ToolSpec]) -> dict[str, Any]:
        """Write a request for a streamed turn."""
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [self._message(message) for message in prompt.messages],
            "stream": True,
        }
        if self._asks_usage:
            body["stream_options"] = {"include_usage": True}
        if tools:
            body["tools"] = [_tool(spec) for spec in tools]
            body["tool_choice"] = "auto"
        return body

    def concede(self, body: Mapping[str, Any], refusal: str) -> bool:
        """Return up what the endpoint refused of *body*, from now on; return whether another body would be written now.

        It counts what was sent, not what is known: of several requests at once, each has to be sent again.
        """
        if "stream_options" in body and ("stream_options" in refusal or "include_usage" in refusal):
            self._asks_usage = False
            return True
        if "thought_signature" in refusal and not _is_signed(body):
            self._signs = True
            return True
        return False

    def remember(self, extras: Mapping[str, Any]) -> None:
        """Keep what the service wants back with its tool calls, such as the signature of a Gemini thought, by id."""
        self._extras.update(extras)
        while len(self._extras) > SIGNATURES_KEPT:
            self._extras.popitem(last=False)

    def _message(self, message: ChatMessage) -> ChatMessage:
        if not message.get("tool_calls"):
            return message
        return {**message, "tool_calls": [self._call(call) for call in message["tool_calls"]]}

    def _call(self, call: dict[str, Any]) -> dict[str, Any]:
        function = call["function"]
        if not is_object(function["arguments"]):
            # Several services parse the arguments of earlier calls, and refuse the conversation if they cannot.
            call = {**call, "function": {**function, "arguments": "{}"}}
        extra = self._extras.get(call["id"], UNSIGNED if self._signs else None)
        return {**call, "extra_content": extra} if extra else call


def _is_signed(body: Mapping[str, Any]) -> bool:
    """Return whether every call in the request has a signature, so that there is none to add."""
    calls = [call for message in body["messages"] for call in message.get("tool_calls") or ()]
    return all("extra_content" in call for call in calls)


def _tool(spec: ToolSpec) -> dict[str, Any]:
    function = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    return {"type": "function", "function": function}
