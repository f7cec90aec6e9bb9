"""Permissions: the bits that Discord knows them by, and how those of a member in a channel come about."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntFlag
from typing import NamedTuple


class Permission(IntFlag):
    """What a member may do."""

    ADMINISTRATOR = 1 << 3
    MANAGE_CHANNELS = 1 << 4
    MANAGE_GUILD = 1 << 5
    ADD_REACTIONS = 1 << 6
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    USE_APPLICATION_COMMANDS = 1 << 31
    MANAGE_THREADS = 1 << 34
    CREATE_PUBLIC_THREADS = 1 << 35
    CREATE_PRIVATE_THREADS = 1 << 36
    SEND_MESSAGES_IN_THREADS = 1 << 38


ALL = ~Permission(0)
NOTHING = Permission(0)
INVITED = (
    Permission.VIEW_CHANNEL
    | Permission.SEND_MESSAGES
    | Permission.SEND_MESSAGES_IN_THREADS
    | Permission.CREATE_PUBLIC_THREADS
    | Permission.READ_MESSAGE_HISTORY
    | Permission.EMBED_LINKS
    | Permission.ATTACH_FILES
    | Permission.ADD_REACTIONS
)
EVERYONE = INVITED | Permission.USE_APPLICATION_COMMANDS
IN_A_DM = INVITED | Permission.USE_APPLICATION_COMMANDS


class Overwrite(NamedTuple):
    """What a channel allows and denies one role or member."""

    allow: Permission = NOTHING
    deny: Permission = NOTHING


def combine(base: Permission, overwrites: Iterable[Iterable[Overwrite]]) -> Permission:
    """Apply a channel's overwrites to *base*: everyone's, then all of the roles', then the member's."""
    if Permission.ADMINISTRATOR in base:
        return ALL
    for level in overwrites:
        allow = deny = NOTHING
        for overwrite in level:
            allow |= overwrite.allow
            deny |= overwrite.deny
        base = (base & ~deny) | allow
    return base
