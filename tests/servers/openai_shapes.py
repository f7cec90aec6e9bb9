"""What chat services refuse that are like OpenAI's only from afar, each in its own words.

A rule looks at a request as its service does, and returns the refusal, or nothing where it would answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from tests.servers.service import Reply

Rule: TypeAlias = Callable[[Mapping[str, Any]], Reply | None]


def _error(status: int, message: str, **fields: Any) -> Reply:
    return Reply(status, {"error": {"message": message, **fields}})


def _turns(body: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the messages that call tools, with their places."""
    return ((place, each) for place, each in enumerate(body["messages"]) if each.get("tool_calls"))


def deepseek(body: Mapping[str, Any]) -> Reply | None:
    """A thinking model of DeepSeek wants its thoughts back with the calls that they led to."""
    if all(turn.get("reasoning_content") for _, turn in _turns(body)):
        return None
    says = "The `reasoning_content` in the thinking mode must be passed back to the API."
    return _error(400, says, type="invalid_request_error", param=None, code="invalid_request_error")


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
    return None if place is None else _error(400, says, type="invalid_request_error")


def openrouter_details(body: Mapping[str, Any]) -> Reply | None:
    """Models behind OpenRouter want their blocks of thoughts back as they were."""
    wanted = [
        {"type": "reasoning.text", "text": "Hm. Robots.", "format": "anthropic-claude-v1", "index": 0, "signature": "s"}
    ]
    if all(turn.get("reasoning_details") == wanted for _, turn in _turns(body)):
        return None
    return _error(
        400, "Provider returned error", code=400, metadata={"raw": "a thinking block must be passed back unmodified"}
    )


def _without_tools(reply: Reply) -> Rule:
    return lambda body: reply if "tools" in body else None


WITHOUT_TOOLS: Mapping[str, Rule] = {
    "Ollama": _without_tools(
        _error(
            400, "registry.ollama.ai/library/gemma3:4b does not support tools", type="api_error", param=None, code=None
        )
    ),
    "vLLM": _without_tools(
        _error(
            400,
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            type="BadRequestError",
            param=None,
            code=400,
        )
    ),
    "llama.cpp": _without_tools(_error(500, "tools param requires --jinja flag", code=500, type="server_error")),
    "OpenRouter": _without_tools(
        _error(
            404,
            "No endpoints found that support tool use. To learn more about provider routing, visit: "
            "https://openrouter.ai/docs/provider-routing",
            code=404,
        )
    ),
    "DeepSeek": _without_tools(
        _error(400, "deepseek-reasoner does not support Function Calling", type="invalid_request_error")
    ),
    "LiteLLM": _without_tools(
        _error(400, "litellm.UnsupportedParamsError: together_ai does not support parameters: ['tools'], for model=x")
    ),
}
"""Each refuses a request with tools, because of the model or of how the server was started."""


STREAM_REFUSED = (
    "Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings.",
    "Unsupported value: 'stream' does not support true with this model. Supported values are: false.",
    "Streaming is not supported for this model.",
)
"""How services say that they answer in one piece alone, OpenAI to whom it does not know."""


def bedrock(body: Mapping[str, Any]) -> Reply | None:
    """Bedrock behind a gateway takes no history with calls where no tools are named."""
    if "tools" in body or not any(_turns(body)):
        return None
    return _error(
        400, "BedrockException - The toolConfig field must be defined when using toolUse and toolResult content blocks."
    )


def without_choice(*choices: str) -> Rule:
    """Return the rule of a service that does not know these choices of tools."""

    def rule(body: Mapping[str, Any]) -> Reply | None:
        choice = body.get("tool_choice")
        says = f"No endpoints found that support the provided 'tool_choice' value ({choice})."
        return _error(404, says, code=404) if choice in choices else None

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
        return _error(400, "System role not supported", type="BadRequestError", code=400)
    wrong = [role for place, role in enumerate(roles) if role != ("user", "assistant")[place % 2]]
    says = "Conversation roles must alternate user/assistant/user/assistant/..."
    return _error(400, says, type="BadRequestError", code=400) if wrong else None


TOO_LONG: Mapping[str, tuple[Reply, int | None]] = {
    "OpenAI": (
        _error(
            400,
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. "
            "Please reduce the length of the messages.",
            type="invalid_request_error",
            param="messages",
            code="context_length_exceeded",
        ),
        8192,
    ),
    "OpenAI, newer": (
        _error(
            400, "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300,001 tokens."
        ),
        272_000,
    ),
    "vLLM": (
        _error(
            400,
            "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens. Please "
            "reduce the length of the input messages.",
            type="BadRequestError",
            code=400,
        ),
        4096,
    ),
    "vLLM, older": (
        Reply(
            400,
            {
                "object": "error",
                "message": "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
            },
        ),
        4096,
    ),
    "llama.cpp": (
        _error(
            400,
            "the request exceeds the available context size, try increasing it",
            code=400,
            type="exceed_context_size_error",
            n_prompt_tokens=14429,
            n_ctx=4096,
        ),
        4096,
    ),
    "llama-cpp-python": (_error(500, "Requested tokens (2285) exceed context window of 2048"), 2048),
    "Anthropic": (
        _error(400, "prompt is too long: 208310 tokens > 200000 maximum", type="invalid_request_error"),
        200_000,
    ),
    "Groq": (
        _error(
            413,
            "Request too large for model `llama-3.1-8b-instant` in organization `org_1` service tier `on_demand` on "
            "tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size and try again.",
            type="tokens",
            code="rate_limit_exceeded",
        ),
        6000,
    ),
    "Gemini": (
        Reply(
            400,
            [
                {
                    "error": {
                        "code": 400,
                        "message": "The input token count (1200000) exceeds the maximum number of tokens allowed "
                        "(1048576).",
                        "status": "INVALID_ARGUMENT",
                    }
                }
            ],
        ),
        1_048_576,
    ),
    "Mistral": (
        Reply(
            400,
            {
                "object": "error",
                "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum "
                "context length",
                "type": "invalid_request_prompt",
                "param": None,
                "code": "3051",
            },
        ),
        32_768,
    ),
    "Kimi": (
        _error(
            400,
            "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)",
            type="invalid_request_error",
        ),
        8192,
    ),
    "SGLang": (
        Reply(
            400,
            {
                "object": "error",
                "message": "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
            },
        ),
        4096,
    ),
    "TGI": (
        Reply(
            422,
            {
                "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: "
                "9000 `inputs` tokens and 512 `max_new_tokens`",
                "error_type": "validation",
            },
        ),
        8193,
    ),
    "Bedrock": (_error(400, "BedrockException - Input is too long for requested model."), None),
    "DashScope": (
        _error(400, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]"),
        30_720,
    ),
    "SiliconFlow": (
        Reply(
            400,
            {
                "code": 20015,
                "message": "length of prompt_tokens (42000) must be less than max_seq_len (32768).",
                "data": None,
            },
        ),
        32_768,
    ),
    "Zhipu": (_error(400, "Prompt exceeds max length", code="1261"), None),
    "Databricks": (_error(400, "Input length 9000 exceeds the maximum allowed 8192"), 8192),
    "LM Studio": (
        Reply(
            400,
            {
                "error": "Trying to keep the first 5000 tokens when context the overflows. However, the model is "
                "loaded with context length of only 4096 tokens, which is not enough."
            },
        ),
        4096,
    ),
    "Cerebras": (
        _error(
            400,
            "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
            code="context_length_exceeded",
        ),
        8192,
    ),
    "vLLM, no room": (_error(400, "max_tokens must be at least 1, got -904."), None),
    "a gateway": (Reply(413, "<html>Request Entity Too Large</html>", {"Content-Type": "text/html"}), None),
}
"""How a prompt is refused that is too long, and the limit that is told."""

GONE: Mapping[str, Reply] = {
    "OpenAI": _error(404, "x", code="model_not_found"),
    "DeepSeek": _error(400, "Model Not Exist", type="invalid_request_error", code="invalid_request_error"),
    "OpenRouter": _error(400, "foo/bar is not a valid model ID", code=400),
    "Mistral": Reply(
        400,
        {"object": "error", "message": "Invalid model: foo", "type": "invalid_model", "param": None, "code": "1500"},
    ),
    "xAI": Reply(400, {"code": "Client specified an invalid argument", "error": "Model not found: grok-foo"}),
    "LiteLLM": _error(400, "{'error': '/chat/completions: Invalid model name passed in model=foo.'}", code="400"),
    "LM Studio": Reply(400, {"error": "Failed to load model"}),
    "Together": _error(400, "Unable to access model foo", type="invalid_request_error", code="model_not_available"),
}
"""How services say that there is no such model, or not any more."""

UNPAID: Mapping[str, Reply] = {
    "DeepSeek": _error(402, "Insufficient Balance", type="unknown_error", code="invalid_request_error"),
    "OpenRouter": _error(402, "This request requires more credits, or fewer max_tokens.", code=402),
    "Anthropic": _error(
        400,
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.",
        type="invalid_request_error",
    ),
    "LiteLLM": _error(
        400, "Budget has been exceeded! Current cost: 10.1, Max budget: 10.0", type="budget_exceeded", code="400"
    ),
}
"""How they say that an account is empty."""

WITHOUT_SYSTEM = (
    "Developer instruction is not enabled for models/gemma-3-27b-it",
    "System role not supported",
    "Conversation roles must alternate user/assistant/user/assistant/...",
    "Only user and assistant roles are supported!",
    "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
)
"""How templates refuse a first message of the system."""

LOADING = _error(503, "Loading model", type="unavailable_error", code=503)
"""What llama.cpp says until its model is there."""

TOO_MANY: Mapping[str, tuple[Reply, float]] = {
    "Gemini": (
        Reply(
            429,
            [
                {
                    "error": {
                        "code": 429,
                        "message": "You exceeded your current quota. Please retry in 34.07s.",
                        "status": "RESOURCE_EXHAUSTED",
                        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}],
                    }
                }
            ],
        ),
        34.0,
    ),
    "Groq": (
        _error(
            429,
            "Rate limit reached for model `llama-3.3-70b-versatile` on tokens per minute (TPM): Limit 12000, Used "
            "11900, Requested 1500. Please try again in 2m52.8s. Visit https://console.groq.com/docs/rate-limits.",
            type="tokens",
            code="rate_limit_exceeded",
        ),
        172.8,
    ),
    "OpenAI": (
        _error(
            429, "Rate limit reached for gpt-4o on requests per min (RPM): Limit 3, Used 3. Please try again in 20s."
        ),
        20.0,
    ),
}
"""How services say for how many seconds nothing more is answered."""
