"""Guilds with their roles and members, and the users who are members."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.servers.discord.permissions import EVERYONE, NOTHING, Permission


@dataclass(slots=True)
class User:
    """Somebody with an account, or a bot."""

    id: int
    name: str
    bot: bool = False
    refuses_dms: bool = False

    @property
    def mention(self) -> str:
        """The text that mentions them."""
        return f"<@{self.id}>"


@dataclass(slots=True)
class Role:
    """A name for permissions that several members have."""

    id: int
    name: str
    permissions: Permission
    mentionable: bool = False

    @property
    def mention(self) -> str:
        """The text that mentions all who have it."""
        return f"<@&{self.id}>"


@dataclass(slots=True)
class Member:
    """A user in a guild."""

    user: User
    roles: set[int] = field(default_factory=set[int])
    pending: bool = False  # has not accepted the rules yet
    joined_at: str = "2026-01-01T12:00:00+00:00"


ROLE, USER, CHANNEL = 1, 2, 3  # kinds of rules


@dataclass(frozen=True, slots=True)
class CommandRule:
    """Whether a role, a user or a channel may use commands; two ids stand for everyone and for all channels."""

    id: int
    kind: int
    allowed: bool


@dataclass(slots=True)
class Guild:
    """A community; the role with the guild's own id is everyone's.

    In `updates_channel_id` the platform itself writes to the moderators. `command_rules` are what admins have set for
    integrations, by the id of a command, or of the application for all of its commands.
    """

    id: int
    name: str
    owner_id: int
    updates_channel_id: int | None = None
    roles: dict[int, Role] = field(default_factory=dict[int, Role])
    members: dict[int, Member] = field(default_factory=dict[int, Member])
    command_rules: dict[int, list[CommandRule]] = field(default_factory=dict[int, list[CommandRule]])

    def __post_init__(self) -> None:
        self.roles.setdefault(self.id, Role(self.id, "@everyone", EVERYONE))

    def permissions_of(self, user_id: int) -> Permission:
        """Give what a member may do where no channel says otherwise."""
        member = self.members.get(user_id)
        if member is None:
            return NOTHING
        if user_id == self.owner_id:
            return Permission.ADMINISTRATOR
        permissions = self.roles[self.id].permissions
        for role in member.roles:
            permissions |= self.roles[role].permissions
        return permissions
