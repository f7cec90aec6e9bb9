"""Slack: how the bot hears it, and in how many workspaces it speaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings

from bot.settings.kinds import Address, AppToken, BotToken, Key
from core.errors import Misconfigured

UNHEARD = (
    "SLACK_BOT_TOKEN alone does not let the bot hear anything. Set SLACK_APP_TOKEN too, for Socket Mode, "
    "or SLACK_SIGNING_SECRET, for HTTP."
)
MUTE = (
    "The settings of Slack name no workspace to speak in. Set SLACK_BOT_TOKEN for one workspace, "
    "or SLACK_CLIENT_ID and SLACK_CLIENT_SECRET for several."
)
HALF = "SLACK_CLIENT_ID and SLACK_CLIENT_SECRET belong together. Set both or none of them."
ONE_OR_MANY = (
    "SLACK_BOT_TOKEN is for one workspace, and SLACK_CLIENT_ID with SLACK_CLIENT_SECRET for several. Leave one out."
)
UNSIGNED = "Installing in several workspaces works over HTTP. Set SLACK_SIGNING_SECRET too."
NO_SOCKETS = "Installing in several workspaces works over HTTP. Leave SLACK_APP_TOKEN out."


class Slack(BaseSettings):
    """Slack, in Socket Mode or over HTTP."""

    slack_bot_token: Annotated[
        BotToken | None,
        Field(
            validation_alias="SLACK_BOT_TOKEN",
            description="The token of the bot in one Slack workspace, which begins with xoxb-. "
            "Without it and without a client id, there is no Slack.",
        ),
    ] = None
    slack_app_token: Annotated[
        AppToken | None,
        Field(
            validation_alias="SLACK_APP_TOKEN",
            description="The app-level token for Socket Mode, which begins with xapp-. "
            "With it, Slack is heard over connections that the bot opens itself.",
        ),
    ] = None
    slack_signing_secret: Annotated[
        Key | None,
        Field(
            validation_alias="SLACK_SIGNING_SECRET",
            description="What Slack signs its requests with. It is needed where the bot is heard over HTTP.",
        ),
    ] = None
    slack_client_id: Annotated[
        Key | None,
        Field(
            validation_alias="SLACK_CLIENT_ID",
            description="The id of the app, for installing it in several workspaces in the place of one.",
        ),
    ] = None
    slack_client_secret: Annotated[
        Key | None,
        Field(
            validation_alias="SLACK_CLIENT_SECRET",
            description="The secret that goes with the id of the app.",
        ),
    ] = None
    slack_guests: Annotated[
        bool,
        Field(
            validation_alias="SLACK_GUESTS",
            description="Whether guests of a workspace, and people of other companies in its channels, are answered.",
        ),
    ] = False
    slack_moderators: Annotated[
        str | None,
        Field(
            validation_alias="SLACK_MODERATORS",
            pattern=r"^S[A-Z0-9]+$",
            description="The id of a user group, such as S0123456789, whose members moderate the bot besides admins.",
        ),
    ] = None
    slack_api_url: Annotated[
        Address | None,
        Field(
            validation_alias="SLACK_API_URL",
            description="Another address of Slack's API, such as a proxy of your network.",
        ),
    ] = None
    host: Annotated[
        str,
        Field(
            validation_alias="HOST",
            min_length=1,
            description="The address of this machine that Slack is heard at over HTTP.",
        ),
    ] = "0.0.0.0"  # noqa: S104 - a host has its own doors, and requests are verified
    port: Annotated[
        int,
        Field(
            validation_alias="PORT",
            ge=0,
            le=65_535,
            description="The port that Slack is heard at over HTTP.",
        ),
    ] = 3000

    @property
    def has_slack(self) -> bool:
        """Whether anything was set that only Slack needs."""
        return any((self.slack_bot_token, self.slack_app_token, self.slack_signing_secret, self._is_distributed))

    @property
    def has_installations(self) -> bool:
        """Whether the bot can be installed in several workspaces."""
        return self.slack_client_id is not None

    @property
    def _is_distributed(self) -> bool:
        return self.slack_client_id is not None or self.slack_client_secret is not None

    def check_slack(self) -> None:
        """Raise `Misconfigured` with one sentence if the settings of Slack do not go together."""
        if sentence := next(self._slips_of_slack(), None):
            raise Misconfigured(sentence)

    def _slips_of_slack(self) -> Iterator[str]:
        if (self.slack_client_id is None) != (self.slack_client_secret is None):
            yield HALF
        if self._is_distributed:
            if self.slack_bot_token is not None:
                yield ONE_OR_MANY
            if self.slack_app_token is not None:
                yield NO_SOCKETS
            if self.slack_signing_secret is None:
                yield UNSIGNED
        elif self.slack_bot_token is None:
            yield MUTE
        elif self.slack_app_token is None and self.slack_signing_secret is None:
            yield UNHEARD
