"""The platforms that people ask on: Discord, and Slack in one workspace or many."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic_settings import BaseSettings

from bot.settings.kinds import Address, AppToken, BotToken, Gateway, Key, setting
from core.errors import Misconfigured


class DiscordSettings(BaseSettings):
    """Discord."""

    discord_token: Key | None = setting(
        "DISCORD_TOKEN",
        None,
        "The token of the bot on Discord, from the Bot page of the application. Without it, there is no Discord.",
    )
    discord_message_content: bool = setting(
        "DISCORD_MESSAGE_CONTENT",
        False,
        "Whether the bot may read messages that do not mention it, as follow-ups in its threads. Needs the Message"
        " Content Intent of the Bot page.",
    )
    discord_api_url: Address | None = setting(
        "DISCORD_API_URL", None, "Another address of Discord's API, such as a proxy of your network."
    )
    discord_gateway_url: Gateway | None = setting(
        "DISCORD_GATEWAY_URL", None, "Another address of Discord's gateway, to go with it."
    )


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


class SlackSettings(BaseSettings):
    """Slack, in Socket Mode or over HTTP."""

    slack_bot_token: BotToken | None = setting(
        "SLACK_BOT_TOKEN",
        None,
        "The token of the bot in one Slack workspace, which begins with xoxb-. Without it and without a client id,"
        " there is no Slack.",
    )
    slack_app_token: AppToken | None = setting(
        "SLACK_APP_TOKEN",
        None,
        "The app-level token for Socket Mode, which begins with xapp-. With it, the bot opens the "
        "connections to Slack itself.",
    )
    slack_signing_secret: Key | None = setting(
        "SLACK_SIGNING_SECRET",
        None,
        "What Slack signs its requests with. Needed if Slack calls the bot over HTTP.",
    )
    slack_client_id: Key | None = setting(
        "SLACK_CLIENT_ID", None, "The id of the app, for installing it in several workspaces instead of one."
    )
    slack_client_secret: Key | None = setting(
        "SLACK_CLIENT_SECRET", None, "The secret that goes with the id of the app."
    )
    slack_guests: bool = setting(
        "SLACK_GUESTS",
        False,
        "Whether guests of a workspace, and people of other companies in its channels, are answered.",
    )
    slack_moderators: str | None = setting(
        "SLACK_MODERATORS",
        None,
        "The id of a user group, such as S0123456789, whose members moderate the bot besides admins.",
        pattern=r"^S[A-Z0-9]+$",
    )
    slack_api_url: Address | None = setting(
        "SLACK_API_URL", None, "Another address of Slack's API, such as a proxy of your network."
    )
    host: str = setting(
        "HOST",
        "0.0.0.0",  # noqa: S104 - a host has its own doors, and requests are verified
        "The address of this machine at which Slack's requests arrive over HTTP.",
        min_length=1,
    )
    port: int = setting("PORT", 3000, "The port at which Slack's requests arrive over HTTP.", ge=0, le=65_535)

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
