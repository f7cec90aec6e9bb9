"""The chat model of OpenAI, or of any service that speaks its chat completions."""

from adapters.openai.chat import OpenAIChat
from adapters.openai.client import OpenAILimits

__all__ = ["OpenAIChat", "OpenAILimits"]
