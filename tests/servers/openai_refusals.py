"""How chat services refuse what they cannot do at the moment, or not for this account, each in its own words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.servers.service import Reply


def error(status: int, message: str, **fields: Any) -> Reply:
    """Return a refusal as most of them frame it."""
    return Reply(status, {"error": {"message": message, **fields}})


def _cloudflare(status: int, message: str, code: int) -> Reply:
    """Return one as Cloudflare frames it."""
    return Reply(status, {"errors": [{"message": message, "code": code}], "success": False, "result": {}})


def minimax(code: int, message: str) -> Reply:
    """Return one as MiniMax does, within what would be an answer."""
    return Reply(200, {"id": "0", "choices": None, "base_resp": {"status_code": code, "status_msg": message}})


TOO_LONG: Mapping[str, tuple[Reply, int | None]] = {
    "OpenAI": (
        error(
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
        error(
            400, "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300,001 tokens."
        ),
        272_000,
    ),
    "vLLM": (
        error(
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
        error(
            400,
            "the request exceeds the available context size, try increasing it",
            code=400,
            type="exceed_context_size_error",
            n_prompt_tokens=14429,
            n_ctx=4096,
        ),
        4096,
    ),
    "llama-cpp-python": (error(500, "Requested tokens (2285) exceed context window of 2048"), 2048),
    "Anthropic": (
        error(400, "prompt is too long: 208310 tokens > 200000 maximum", type="invalid_request_error"),
        200_000,
    ),
    "Groq": (
        error(
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
        error(
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
    "Bedrock": (error(400, "BedrockException - Input is too long for requested model."), None),
    "DashScope": (
        error(400, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]"),
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
    "Zhipu": (error(400, "Prompt exceeds max length", code="1261"), None),
    "Databricks": (error(400, "Input length 9000 exceeds the maximum allowed 8192"), 8192),
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
        error(
            400,
            "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
            code="context_length_exceeded",
        ),
        8192,
    ),
    "Cloudflare": (
        _cloudflare(
            413,
            "AiError: The estimated number of input and maximum output tokens (9000) exceeded this model context "
            "window limit (7968).",
            5021,
        ),
        7968,
    ),
    "GitHub Models": (
        error(413, "Request body too large for gpt-4.1 model. Max size: 8000 tokens.", code="tokens_limit_reached"),
        8000,
    ),
    "vLLM, no room": (error(400, "max_tokens must be at least 1, got -904."), None),
    "a gateway": (Reply(413, "<html>Request Entity Too Large</html>", {"Content-Type": "text/html"}), None),
}
"""How a prompt is refused that is too long, and the limit that is told."""

GONE: Mapping[str, Reply] = {
    "OpenAI": error(404, "x", code="model_not_found"),
    "DeepSeek": error(400, "Model Not Exist", type="invalid_request_error", code="invalid_request_error"),
    "OpenRouter": error(400, "foo/bar is not a valid model ID", code=400),
    "Mistral": Reply(
        400,
        {"object": "error", "message": "Invalid model: foo", "type": "invalid_model", "param": None, "code": "1500"},
    ),
    "xAI": Reply(400, {"code": "Client specified an invalid argument", "error": "Model not found: grok-foo"}),
    "LiteLLM": error(400, "{'error': '/chat/completions: Invalid model name passed in model=foo.'}", code="400"),
    "LM Studio": Reply(400, {"error": "Failed to load model"}),
    "Cloudflare": _cloudflare(400, "AiError: No such model @cf/foo/bar or task", 5007),
    "Hugging Face": error(
        400, "The requested model 'foo' is not supported by any provider you have enabled.", code="model_not_supported"
    ),
    "Azure": error(
        400,
        "The chatCompletion operation does not work with the specified model, gpt-5-codex. Please choose different "
        "model and try again.",
        code="OperationNotSupported",
    ),
    "OpenRouter, for whoever shares no data": error(
        404, "No endpoints available matching your guardrail restrictions and data policy.", code=404
    ),
    "Together": error(400, "Unable to access model foo", type="invalid_request_error", code="model_not_available"),
}
"""How services say that there is no such model, or not any more."""

UNPAID: Mapping[str, Reply] = {
    "DeepSeek": error(402, "Insufficient Balance", type="unknown_error", code="invalid_request_error"),
    "OpenRouter": error(402, "This request requires more credits, or fewer max_tokens.", code=402),
    "Anthropic": error(
        400,
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.",
        type="invalid_request_error",
    ),
    "Zhipu": error(429, "Insufficient balance or no resource package. Please recharge.", code="1113"),
    "xAI": Reply(
        429,
        {
            "code": "Some resource has been exhausted",
            "error": "Your team has either used all available credits or reached its monthly spending limit.",
        },
    ),
    "Fireworks": error(
        412,
        "Account foo is suspended, possibly due to reaching the monthly spending limit or failure to pay invoices.",
        code="PRECONDITION_FAILED",
    ),
    "MiniMax": minimax(1008, "insufficient balance"),
    "LiteLLM": error(
        400, "Budget has been exceeded! Current cost: 10.1, Max budget: 10.0", type="budget_exceeded", code="400"
    ),
}
"""How they say that an account is empty."""

HELD_BACK: Mapping[str, Reply] = {
    "Azure": error(400, "The response was filtered.", code="content_filter"),
    "OpenAI": error(
        400, "Invalid prompt: your prompt was flagged as potentially violating our usage policy.", code="invalid_prompt"
    ),
    "OpenRouter": error(
        403,
        'google/gemini requires moderation on Google. Your input was flagged for "harassment".',
        code=403,
        metadata={"reasons": ["harassment"], "flagged_input": "What is a robot?"},
    ),
    "xAI": Reply(
        403,
        {
            "code": "The caller does not have permission to execute the specified operation",
            "error": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO",
        },
    ),
    "DashScope": error(
        400,
        "<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content.",
        code="data_inspection_failed",
    ),
    "DeepSeek": error(400, "Content Exists Risk", type="invalid_request_error", code="invalid_request_error"),
}
"""How they say that a question, or what stands with it, is not answered for what is in it."""

SLIPS: Mapping[str, Reply] = {
    "Groq": error(
        400,
        "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
        type="invalid_request_error",
        code="tool_use_failed",
        failed_generation='<function=search_documents{"query": "arms"}</function>',
    ),
    "llama.cpp": error(
        500, 'Failed to parse input at pos 12: <tool_call>{"name": "search_documents"', code=500, type="server_error"
    ),
    "Ollama": error(
        500, 'error parsing tool call: raw=\'{"query":"arms\', err=unexpected end of JSON input', type="api_error"
    ),
}
"""How they say that they do not understand the call that their model has written."""

WITHOUT_SYSTEM = (
    "Developer instruction is not enabled for models/gemma-3-27b-it",
    "System role not supported",
    "Conversation roles must alternate user/assistant/user/assistant/...",
    "Only user and assistant roles are supported!",
    "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
)
"""How templates refuse a first message of the system."""

LOADING = error(503, "Loading model", type="unavailable_error", code=503)
"""What llama.cpp says until its model is there."""

TOO_MANY: Mapping[str, tuple[Reply, float]] = {
    "GitHub Models": (
        error(
            429,
            "Rate limit of 10 per 60s exceeded for UserByModelByMinute. Please wait 46 seconds before retrying.",
            code="RateLimitReached",
        ),
        46.0,
    ),
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
        error(
            429,
            "Rate limit reached for model `llama-3.3-70b-versatile` on tokens per minute (TPM): Limit 12000, Used "
            "11900, Requested 1500. Please try again in 2m52.8s. Visit https://console.groq.com/docs/rate-limits.",
            type="tokens",
            code="rate_limit_exceeded",
        ),
        172.8,
    ),
    "OpenAI": (
        error(
            429, "Rate limit reached for gpt-4o on requests per min (RPM): Limit 3, Used 3. Please try again in 20s."
        ),
        20.0,
    ),
}
"""How services say for how many seconds nothing more is answered."""
