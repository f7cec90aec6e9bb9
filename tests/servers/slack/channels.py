"""Places where people write."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class ChannelKind(StrEnum):
    """What a channel is, in the words of events."""

    PUBLIC = "channel"
    PRIVATE = "group"
    DIRECT = "im"
    SEVERAL = "mpim"


@dataclass(eq=False, slots=True)
class Channel:
    """A channel; `shared_with` are other companies' teams that use it.

    `is_org_shared` says that other workspaces of the same organization use it too, and `refuses` is the code with which
    posts are refused. `locked` holds the timestamps of the threads that are locked.
    """

    id: str
    team_id: str
    kind: ChannelKind
    name: str = ""
    members: set[str] = field(default_factory=set[str])
    shared_with: set[str] = field(default_factory=set[str])
    locked: set[str] = field(default_factory=set[str])
    is_archived: bool = False
    is_org_shared: bool = False
    refuses: str | None = None

    @property
    def is_direct(self) -> bool:
        """Whether only the bot and one person are here."""
        return self.kind is ChannelKind.DIRECT
