"""What chat services refuse that are like OpenAI's only from afar, each in its own words.

A rule looks at a request as its service does, and returns the refusal, or nothing where it would answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from tests.servers.openai_refusals import error
from tests.servers.service import Reply

Rule: TypeAlias = Callable[[Mapping[str, Any]], Reply | None]


def _turns(body: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the messages that call tools, with their places."""
    return ((place, each) for place, each in enumerate(body["messages"]) if each.get("tool_calls"))


def deepseek(body: Mapping[str, Any]) -> Reply | None:
    """A thinking model of DeepSeek wants its thoughts back with the calls that they led to."""
    if all(turn.get("reasoning_content") for _, turn in _turns(body)):
        return None
    says = "The `reasoning_content` in the thinking mode must be passed back to the API."
    return error(400, says, type="invalid_request_error", param=None, code="invalid_request_error")


def kimi(body: Mapping[str, Any]) -> Reply | None:
    """So does Kimi, through a gateway that has no `error` around its own."""
    missing = next((place for place, turn in _turns(body) if not turn.get("reasoning_content")), None)
    says = f"thinking is enabled but reasoning_content is missing in assistant tool call message at index {missing}"
    return None if missing is None else Reply(400, {"code": 20015, "message": says, "data": None})


def groq_fields(body: Mapping[str, Any]) -> Reply | None:
    """Groq takes no field that it does not know."""
    place = next((place for place, turn in _turns(body) if "reasoning_content" in turn), None)
    says = (
        f"'messages.{place}' : for 'role:assistant' the following must be satisfied[('messages.{place}' : property "
        "'reasoning_content' is unsupported)]"
    )
    return None if place is None else error(400, says, type="invalid_request_error")


def openrouter_details(body: Mapping[str, Any]) -> Reply | None:
    """Models behind OpenRouter want their blocks of thoughts back as they were."""
    wanted = [
        {"type": "reasoning.text", "text": "Hm. Robots.", "format": "anthropic-claude-v1", "index": 0, "signature": "s"}
    ]
    if all(turn.get("reasoning_details") == wanted for _, turn in _turns(body)):
        return None
    return error(
        400, "Provider returned error", code=400, metadata={"raw": "a thinking block must be passed back unmodified"}
    )


def _without_tools(reply: Reply) -> Rule:
    return lambda body: reply if "tools" in body else None


WITHOUT_TOOLS: Mapping[str, Rule] = {
    "Ollama": _without_tools(
        error(
            400, "registry.ollama.ai/library/gemma3:4b does not support tools", type="api_error", param=None, code=None
        )
    ),
    "vLLM": _without_tools(
        error(
            400,
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            type="BadRequestError",
            param=None,
            code=400,
        )
    ),
    "llama.cpp": _without_tools(error(500, "tools param requires --jinja flag", code=500, type="server_error")),
    "OpenRouter": _without_tools(
        error(
            404,
            "No endpoints found that support tool use. To learn more about provider routing, visit: "
            "https://openrouter.ai/docs/provider-routing",
            code=404,
        )
    ),
    "DeepSeek": _without_tools(
        error(400, "deepseek-reasoner does not support Function Calling", type="invalid_request_error")
    ),
    "LiteLLM": _without_tools(
        error(400, "litellm.UnsupportedParamsError: together_ai does not support parameters: ['tools'], for model=x")
    ),
}
"""Each refuses a request with tools, because of the model or of how the server was started."""


STREAM_REFUSED = (
    "Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings.",
    "Unsupported value: 'stream' does not support true with this model. Supported values are: false.",
    "Streaming is not supported for this model.",
)
"""How services say that they answer in one piece alone, OpenAI to whom it does not know."""


def openai_effort(body: Mapping[str, Any]) -> Reply | None:
    """Newer models of OpenAI that reason take tools only where they are told not to, even if nobody asked them to."""
    says = (
        "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function "
        "tools, use /v1/responses or set reasoning_effort to 'none'."
    )
    is_taken = "tools" not in body or body.get("reasoning_effort") == "none"
    return None if is_taken else error(400, says, type="invalid_request_error", param="reasoning_effort", code=None)


def bedrock(body: Mapping[str, Any]) -> Reply | None:
    """Bedrock behind a gateway takes no history with calls where no tools are named."""
    if "tools" in body or not any(_turns(body)):
        return None
    return error(
        400, "BedrockException - The toolConfig field must be defined when using toolUse and toolResult content blocks."
    )


def without_choice(*choices: str) -> Rule:
    """Return the rule of a service that does not know these choices of tools."""

    def rule(body: Mapping[str, Any]) -> Reply | None:
        choice = body.get("tool_choice")
        says = f"No endpoints found that support the provided 'tool_choice' value ({choice})."
        return error(404, says, code=404) if choice in choices else None

    return rule


def mistral(body: Mapping[str, Any]) -> Reply | None:
    """Mistral takes ids of nine letters and digits alone."""
    ids = [call["id"] for _, turn in _turns(body) for call in turn["tool_calls"]]
    ids += [each["tool_call_id"] for each in body["messages"] if each["role"] == "tool"]
    odd = next((each for each in ids if not re.fullmatch(r"[a-zA-Z0-9]{9}", each)), None)
    says = f"Tool call id was {odd} but must be a-z, A-Z, 0-9, with a length of 9."
    shape = {"object": "error", "message": says, "type": "invalid_function_call", "param": None, "code": "3280"}
    return None if odd is None else Reply(400, shape)


def gemma(body: Mapping[str, Any]) -> Reply | None:
    """The template of Gemma has no system, and wants the sides to take turns."""
    roles = [each["role"] for each in body["messages"]]
    if roles[0] == "system":
        return error(400, "System role not supported", type="BadRequestError", code=400)
    wrong = [role for place, role in enumerate(roles) if role != ("user", "assistant")[place % 2]]
    says = "Conversation roles must alternate user/assistant/user/assistant/..."
    return error(400, says, type="BadRequestError", code=400) if wrong else None
