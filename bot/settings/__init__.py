"""Settings: read once from the environment and `.env`, checked, and never changed."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import SettingsConfigDict

from bot.settings.kinds import revealed
from bot.settings.platforms import Crowds, Discord
from bot.settings.services import OFF, Services
from bot.settings.slack import Slack
from bot.settings.watching import Watching
from bot.spelling import Slip, slips
from core.errors import Misconfigured
from core.model import Terms

__all__ = ["OFF", "Settings", "read_settings", "revealed", "slips_of_settings"]


class Settings(Watching, Crowds, Slack, Discord, Services):
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
    def terms(self) -> Terms:
        """How questions are asked on chat platforms."""
        return Terms(top_k=self.top_k, relevance_threshold=self.relevance_threshold)

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
