"""Channels: those of text and forums, threads, and direct messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from tests.servers.discord.permissions import Overwrite


class ChannelKind(IntEnum):
    """The kinds that matter here, by Discord's numbers."""

    TEXT = 0
    DM = 1
    VOICE = 2
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12
    FORUM = 15


THREADS = frozenset({ChannelKind.PUBLIC_THREAD, ChannelKind.PRIVATE_THREAD})


@dataclass(slots=True)
class Channel:
    """A place for messages, or in a forum for threads.

    A thread has a parent, and an owner who began it; a channel of direct messages has a recipient, who is not the bot.
    One that is private is between people, and the bot is not there.
    Tags that are moderated are set and taken away by those who may manage threads.
    """

    id: int
    kind: ChannelKind
    guild_id: int | None = None
    name: str = ""
    parent_id: int | None = None
    owner_id: int | None = None
    recipient_id: int | None = None
    is_private: bool = False
    overwrites: dict[int, Overwrite] = field(default_factory=dict[int, Overwrite])
    tags: dict[int, str] = field(default_factory=dict[int, str])
    moderated_tags: set[int] = field(default_factory=set[int])
    requires_tag: bool = False
    applied_tags: list[int] = field(default_factory=list[int])
    archived: bool = False
    locked: bool = False
    auto_archive_minutes: int = 1440
    joined: set[int] = field(default_factory=set[int])
    names: list[str] = field(default_factory=list[str])
    reason: str | None = None

    @property
    def is_thread(self) -> bool:
        """Whether it lies in another channel."""
        return self.kind in THREADS

    @property
    def mention(self) -> str:
        """The text that links to it."""
        return f"<#{self.id}>"
