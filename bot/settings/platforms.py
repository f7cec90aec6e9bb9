"""The platforms that people ask on, and how much is done there at once."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings

from bot.settings.kinds import Address, Gateway, Key


class Discord(BaseSettings):
    """Discord."""

    discord_token: Annotated[
        Key | None,
        Field(
            validation_alias="DISCORD_TOKEN",
            description="The token of the bot on Discord, from the Bot page of the application. "
            "Without it, there is no Discord.",
        ),
    ] = None
    discord_message_content: Annotated[
        bool,
        Field(
            validation_alias="DISCORD_MESSAGE_CONTENT",
            description="Whether the bot may read messages that do not mention it, as follow-ups in its threads. "
            "Needs the Message Content Intent of the Bot page.",
        ),
    ] = False
    discord_api_url: Annotated[
        Address | None,
        Field(
            validation_alias="DISCORD_API_URL",
            description="Another address of Discord's API, such as a proxy of your network.",
        ),
    ] = None
    discord_gateway_url: Annotated[
        Gateway | None,
        Field(
            validation_alias="DISCORD_GATEWAY_URL",
            description="Another address of Discord's gateway, to go with it.",
        ),
    ] = None


class Crowds(BaseSettings):
    """The bounds that hold on every platform."""

    questions_per_minute: Annotated[
        int,
        Field(
            validation_alias="FOOTNOTE_QUESTIONS_PER_MINUTE",
            ge=1,
            le=1_000,
            description="How many questions one person may ask in a minute on chat platforms; a thread, twice as many.",
        ),
    ] = 10
    answers_at_once: Annotated[
        int,
        Field(
            validation_alias="FOOTNOTE_ANSWERS_AT_ONCE",
            ge=1,
            le=1_000,
            description="How many questions one process answers at the same time; the others wait for their turn.",
        ),
    ] = 128
    answers_per_person: Annotated[
        int,
        Field(
            validation_alias="FOOTNOTE_ANSWERS_PER_PERSON",
            ge=1,
            le=1_000,
            description="How many questions of one person are answered at the same time; the others wait.",
        ),
    ] = 4
    answers_per_workspace: Annotated[
        int,
        Field(
            validation_alias="FOOTNOTE_ANSWERS_PER_WORKSPACE",
            ge=1,
            le=10_000,
            description="How many questions of one server or workspace all processes answer at the same time.",
        ),
    ] = 128
    lease_seconds: Annotated[
        float,
        Field(
            validation_alias="FOOTNOTE_LEASE_SECONDS",
            ge=1,
            le=600,
            description="How long a process may give no sign of life before another one goes on with its questions.",
        ),
    ] = 30
    grace_seconds: Annotated[
        float,
        Field(
            validation_alias="FOOTNOTE_GRACE_SECONDS",
            ge=0,
            le=600,
            description="How long a stop waits for answers that are being written. Hosts often allow 30 seconds.",
        ),
    ] = 20
