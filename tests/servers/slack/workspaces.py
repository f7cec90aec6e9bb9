"""Workspaces and what was installed in them."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.servers.slack.users import User

SCOPES = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "files:read",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "mpim:history",
    "mpim:read",
    "reactions:read",
    "reactions:write",
    "team:read",
    "usergroups:read",
    "users:read",
)


@dataclass(eq=False, slots=True)
class Installation:
    """What a token stands for: the bot in a workspace, or in all those of an organisation.

    `revoked` is the error code that calls get since the token is dead, and `lacks` names methods that are unknown here.
    """

    bot: User
    bot_id: str
    token: str
    app_id: str
    teams: list[str] = field(default_factory=list[str])
    enterprise_id: str | None = None
    is_enterprise_install: bool = False
    scopes: set[str] = field(default_factory=lambda: set(SCOPES))
    lacks: set[str] = field(default_factory=set[str])
    revoked: str | None = None
    refresh_token: str | None = None
    expires_at: float | None = None


@dataclass(eq=False, slots=True)
class Workspace:
    """A workspace, with the bot in it."""

    team_id: str
    name: str
    domain: str
    app_token: str
    installation: Installation
    groups: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    @property
    def bot(self) -> User:
        """The bot's account."""
        return self.installation.bot

    @property
    def bot_id(self) -> str:
        """The bot's other id, which its messages carry."""
        return self.installation.bot_id

    @property
    def token(self) -> str:
        """The bot's token."""
        return self.installation.token

    @property
    def app_id(self) -> str:
        """The id of the app."""
        return self.installation.app_id

    @property
    def enterprise_id(self) -> str | None:
        """The organisation that the workspace belongs to."""
        return self.installation.enterprise_id

    @property
    def is_enterprise_install(self) -> bool:
        """Whether the app is installed for the whole organisation."""
        return self.installation.is_enterprise_install

    @property
    def scopes(self) -> set[str]:
        """What the token may do; what is taken out of here it may do no more."""
        return self.installation.scopes

    @property
    def lacks(self) -> set[str]:
        """The methods that are unknown in this workspace."""
        return self.installation.lacks
