"""People and bots."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class User:
    """An account; `team_id` is where it is at home, which may be elsewhere than where it writes.

    `teams` are other workspaces of its organization that it is in, and `guest_in` those in which it is a guest.
    """

    id: str
    team_id: str
    name: str
    is_bot: bool = False
    is_admin: bool = False
    is_owner: bool = False
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    is_stranger: bool = False
    deleted: bool = False
    locale: str = "en-US"
    enterprise_id: str | None = None
    teams: frozenset[str] = frozenset()
    guest_in: frozenset[str] = frozenset()

    @property
    def mention(self) -> str:
        """The token that mentions the account."""
        return f"<@{self.id}>"
