"""Settings: read once from the environment and `.env`, checked, and never changed."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal, TypeAlias
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.spelling import Slip, slips
from core.errors import Misconfigured
from core.model import Prices


def _checked_address(value: str) -> str:
    """Refuse what is no web address, and one with a secret in it, since addresses are shown."""
    parts = urlsplit("")
    with suppress(ValueError):  # its words quote the address
        parts = _split(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("it is no web address. One looks like https://api.example.com/v1")
    if parts.username or parts.password:
        raise ValueError("leave the key out of the address, since addresses are shown; it has a setting of its own")
    return value.rstrip("/")


def _split(value: str) -> SplitResult:
    """Take an address apart, with its port, which is looked at only when it is asked for."""
    parts = urlsplit(value)
    return parts if parts.port != 0 else urlsplit("")


def _checked_key(value: SecretStr) -> SecretStr:
    """Take white space from the ends of a key that was pasted, and refuse what no request could carry."""
    key = value.get_secret_value().strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ValueError("it holds a character that no key has. Copy it again")
    return SecretStr(key)


Address: TypeAlias = Annotated[str, AfterValidator(_checked_address)]
Key: TypeAlias = Annotated[SecretStr, AfterValidator(_checked_key)]
OFF = "off"


class Settings(BaseSettings):
    """What the person who runs the bot can choose. Every field is one environment variable; see `.env.example`."""

    model_config = SettingsConfigDict(
        env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True, hide_input_in_errors=True
    )

    data_dir: Annotated[
        Path,
        Field(
            validation_alias="FOOTNOTE_DATA_DIR",
            description="Where the embedded index and state live.",
        ),
    ] = Path(".footnote")
    secret_key: Annotated[
        SecretStr | None,
        Field(
            validation_alias="FOOTNOTE_SECRET_KEY",
            description="Encrypts what people wrote, at rest; several, separated by commas: the first one encrypts. "
            "Without it, a key is made in the data folder.",
        ),
    ] = None
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
    conversation_hours: Annotated[
        float,
        Field(
            validation_alias="FOOTNOTE_CONVERSATION_HOURS",
            gt=0,
            le=24 * 365,
            description="How long a conversation is kept after its last turn.",
        ),
    ] = 24
    top_k: Annotated[
        int,
        Field(
            validation_alias="FOOTNOTE_TOP_K",
            ge=1,
            le=20,
            description="How many passages a search gives the model.",
        ),
    ] = 5
    relevance_threshold: Annotated[
        float,
        Field(
            validation_alias="FOOTNOTE_RELEVANCE_THRESHOLD",
            ge=0,
            le=1,
            description="Passages below this relevance are not used. 0.5 is the measured boundary.",
        ),
    ] = 0.5
    excerpt_characters: Annotated[
        int,
        Field(
            validation_alias="FOOTNOTE_EXCERPT_CHARACTERS",
            ge=100,
            le=4_000,
            description="How much of a passage the model reads. Longer excerpts help some models.",
        ),
    ] = 500
    history_tokens: Annotated[
        int,
        Field(
            validation_alias="FOOTNOTE_HISTORY_TOKENS",
            ge=0,
            le=2_000_000,
            description="How many tokens of the conversation go to the model, at most.",
        ),
    ] = 100_000
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Field(
            validation_alias="FOOTNOTE_LOG_LEVEL",
            description="How much goes into footnote.log in the data folder: debug, info, warning or error.",
        ),
    ] = "info"

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

    @property
    def conversation_ttl(self) -> timedelta:
        """How long a conversation lives after its last turn."""
        return timedelta(hours=self.conversation_hours)


def read_settings() -> Settings:
    """Read the settings, or raise `Misconfigured` with the name of each wrong one and what it may be."""
    try:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured("The file .env cannot be read. It has to be text in UTF-8 that you may read.") from error
    except ValidationError as error:
        wrong = [
            f"{item['loc'][0]}: {item['msg'].removeprefix('Value error, ')}"
            for item in error.errors(include_url=False, include_input=False)
        ]
        raise Misconfigured(f"Some settings cannot be used. {'; '.join(wrong)}.") from None


def slips_of_settings() -> list[Slip]:
    """Find the names in the environment and in `.env` that look like settings and are none."""
    from dotenv import dotenv_values

    known = {str(field.validation_alias) for field in Settings.model_fields.values()}
    return slips([*os.environ, *dotenv_values(".env")], known)
