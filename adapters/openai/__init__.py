"""The chat model of OpenAI, or of any service that speaks its chat completions."""

from adapters.openai.chat import OpenAIChat
from adapters.openai.checking import Degraded, Overloaded, checked
from adapters.openai.client import OpenAILimits
from adapters.openai.fallback import FallbackChat

__all__ = ["Degraded", "FallbackChat", "OpenAIChat", "OpenAILimits", "Overloaded", "checked"]
