"""The services that the bot uses, each instead of something that is built in."""

from __future__ import annotations

from pydantic import SecretStr
from pydantic_settings import BaseSettings

from bot.settings.kinds import Address, Key, setting
from core.model import Prices

OFF = "off"


class ServiceSettings(BaseSettings):
    """A chat model, Cohere, a Qdrant server and a Redis server."""

    openai_key: Key | None = setting(
        "OPENAI_API_KEY", None, "The key of the chat model's service. Without it and without an address, answers quote."
    )
    openai_url: Address | None = setting(
        "OPENAI_BASE_URL",
        None,
        "Any service that speaks OpenAI's chat completions, such as http://localhost:11434/v1. Without it, "
        "OpenAI's own.",
    )
    openai_model: str = setting("OPENAI_MODEL", "gpt-4o-mini", "The chat model, by the name that its service gives it.")
    price_prompt: float | None = setting(
        "OPENAI_PRICE_PROMPT",
        None,
        "What a million prompt tokens cost, in your currency. With both prices, JSON and the log say what an "
        "answer cost.",
        ge=0,
        allow_inf_nan=False,
    )
    price_cached: float | None = setting(
        "OPENAI_PRICE_CACHED",
        None,
        "What a million prompt tokens cost that the service had in its cache. Without it, as much as others.",
        ge=0,
        allow_inf_nan=False,
    )
    price_completion: float | None = setting(
        "OPENAI_PRICE_COMPLETION",
        None,
        "What a million tokens of answers cost, in your currency.",
        ge=0,
        allow_inf_nan=False,
    )
    cohere_key: Key | None = setting(
        "COHERE_API_KEY",
        None,
        "The key for embeddings and reranking by Cohere. Without it, a small model in this process embeds, and "
        "nothing is reranked.",
    )
    cohere_url: Address | None = setting(
        "COHERE_BASE_URL", None, "Another address of Cohere's API, such as a private deployment."
    )
    cohere_embed_model: str = setting(
        "COHERE_EMBED_MODEL",
        "embed-v4.0",
        "Cohere's model for embeddings. With another one, all documents have to be ingested again.",
    )
    cohere_dimension: int = setting(
        "COHERE_DIMENSION",
        1536,
        "The dimensions of that model's vectors. With another number, all documents have to be ingested again.",
        ge=64,
        le=4096,
    )
    cohere_rerank_model: str = setting(
        "COHERE_RERANK_MODEL", "rerank-v3.5", f"Cohere's model for reranking; `{OFF}` does without."
    )
    qdrant_url: Address | None = setting(
        "QDRANT_URL",
        None,
        "A Qdrant server for the passages, such as http://localhost:6333. Without it, the same engine runs in this"
        " process.",
    )
    qdrant_key: Key | None = setting("QDRANT_API_KEY", None, "The key of the Qdrant server, if it wants one.")
    qdrant_collection: str = setting(
        "QDRANT_COLLECTION",
        "documents",
        "The name of the passages' collection on the Qdrant server.",
        pattern=r"^[A-Za-z0-9_-]{1,200}$",
    )
    redis_url: SecretStr | None = setting(
        "REDIS_URL",
        None,
        "A Redis or Valkey server for conversations, such as redis://localhost:6379/0. Without it, a private one "
        "runs in the data folder.",
    )

    @property
    def prices(self) -> Prices | None:
        """What the chat model's tokens cost, if both prices are set."""
        if self.price_prompt is None or self.price_completion is None:
            return None
        cached = self.price_prompt if self.price_cached is None else self.price_cached
        return Prices(prompt=self.price_prompt, cached=cached, completion=self.price_completion)

    @property
    def has_chat_model(self) -> bool:
        """Whether a service writes the answers; local ones need an address and no key."""
        return self.openai_key is not None or self.openai_url is not None

    @property
    def is_shared(self) -> bool:
        """Whether index and store are servers, so that several processes may use the data folder."""
        return self.qdrant_url is not None and self.redis_url is not None
