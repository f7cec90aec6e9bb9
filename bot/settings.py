"""Settings: read once from the environment and `.env`, checked, and never changed."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from core.errors import Misconfigured


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
    def conversation_ttl(self) -> timedelta:
        """How long a conversation lives after its last turn."""
        return timedelta(hours=self.conversation_hours)


def read_settings() -> Settings:
    """Read the settings, or raise `Misconfigured` with the name of each wrong one and what it may be."""
    try:
        return Settings()
    except ValidationError as error:
        wrong = [f"{item['loc'][0]}: {item['msg']}" for item in error.errors(include_url=False, include_input=False)]
        raise Misconfigured(f"Some settings cannot be used. {'; '.join(wrong)}.") from None
