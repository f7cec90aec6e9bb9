"""Which events a session asks for."""

from __future__ import annotations

from enum import IntFlag


class Intent(IntFlag):
    """The bits that matter here."""

    GUILDS = 1 << 0
    MEMBERS = 1 << 1
    PRESENCES = 1 << 8
    GUILD_MESSAGES = 1 << 9
    GUILD_REACTIONS = 1 << 10
    DIRECT_MESSAGES = 1 << 12
    DIRECT_REACTIONS = 1 << 13
    MESSAGE_CONTENT = 1 << 15


HIGHEST = 1 << 26


def about_messages(guild_id: int | None) -> Intent:
    """Give the intent that covers messages there."""
    return Intent.DIRECT_MESSAGES if guild_id is None else Intent.GUILD_MESSAGES


def about_reactions(guild_id: int | None) -> Intent:
    """Give the intent that covers reactions there."""
    return Intent.DIRECT_REACTIONS if guild_id is None else Intent.GUILD_REACTIONS
