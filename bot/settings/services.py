"""The services that the bot uses, each in the place of something that is built in."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings

from bot.settings.kinds import Address, Key
from core.model import Prices

OFF = "off"


class Services(BaseSettings):
    """A chat model, Cohere, a Qdrant server and a Redis server."""

    openai_key: Annotated[
        Key | None,
        Field(
            validation_alias="OPENAI_API_KEY",
            description="The key of the chat model's service. Without it and without an address, answers quote.",
        ),
    ] = None
    openai_url: Annotated[
        Address | None,
        Field(
            validation_alias="OPENAI_BASE_URL",
            description="Any service that speaks OpenAI's chat completions, such as http://localhost:11434/v1. "
            "Without it, OpenAI's own.",
        ),
    ] = None
    openai_model: Annotated[
        str,
        Field(
            validation_alias="OPENAI_MODEL",
            description="The chat model, by the name that its service gives it.",
        ),
    ] = "gpt-4o-mini"
    price_prompt: Annotated[
        float | None,
        Field(
            validation_alias="OPENAI_PRICE_PROMPT",
            ge=0,
            allow_inf_nan=False,
            description="What a million prompt tokens cost, in your currency. "
            "With both prices, JSON and the log say what an answer cost.",
        ),
    ] = None
    price_cached: Annotated[
        float | None,
        Field(
            validation_alias="OPENAI_PRICE_CACHED",
            ge=0,
            allow_inf_nan=False,
            description="What a million prompt tokens cost that the service had in its cache. "
            "Without it, as much as others.",
        ),
    ] = None
    price_completion: Annotated[
        float | None,
        Field(
            validation_alias="OPENAI_PRICE_COMPLETION",
            ge=0,
            allow_inf_nan=False,
            description="What a million tokens of answers cost, in your currency.",
        ),
    ] = None
    cohere_key: Annotated[
        Key | None,
        Field(
            validation_alias="COHERE_API_KEY",
            description="The key for embeddings and reranking by Cohere. "
            "Without it, a small model in this process embeds, and nothing is reranked.",
        ),
    ] = None
    cohere_url: Annotated[
        Address | None,
        Field(
            validation_alias="COHERE_BASE_URL",
            description="Another address of Cohere's API, such as a private deployment.",
        ),
    ] = None
    cohere_embed_model: Annotated[
        str,
        Field(
            validation_alias="COHERE_EMBED_MODEL",
            description="Cohere's model for embeddings. Another one needs a new ingestion.",
        ),
    ] = "embed-v4.0"
    cohere_dimension: Annotated[
        int,
        Field(
            validation_alias="COHERE_DIMENSION",
            ge=64,
            le=4096,
            description="How many numbers a vector of that model has. Another number needs a new ingestion.",
        ),
    ] = 1536
    cohere_rerank_model: Annotated[
        str,
        Field(
            validation_alias="COHERE_RERANK_MODEL",
            description=f"Cohere's model for reranking; `{OFF}` does without.",
        ),
    ] = "rerank-v3.5"
    qdrant_url: Annotated[
        Address | None,
        Field(
            validation_alias="QDRANT_URL",
            description="A Qdrant server for the passages, such as http://localhost:6333. "
            "Without it, the same engine runs in this process.",
        ),
    ] = None
    qdrant_key: Annotated[
        Key | None,
        Field(
            validation_alias="QDRANT_API_KEY",
            description="The key of the Qdrant server, if it wants one.",
        ),
    ] = None
    qdrant_collection: Annotated[
        str,
        Field(
            validation_alias="QDRANT_COLLECTION",
            pattern=r"^[A-Za-z0-9_-]{1,200}$",
            description="The name of the passages' collection on the Qdrant server.",
        ),
    ] = "documents"
    redis_url: Annotated[
        SecretStr | None,
        Field(
            validation_alias="REDIS_URL",
            description="A Redis or Valkey server for conversations, such as redis://localhost:6379/0. "
            "Without it, a private one runs in the data folder.",
        ),
    ] = None

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
