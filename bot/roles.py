"""What a process of the bot does."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import TYPE_CHECKING

from core.errors import Misconfigured

if TYPE_CHECKING:
    from bot.settings import Settings

NOTHING_TO_RUN = (
    "There is nothing to run: neither DISCORD_TOKEN nor SLACK_BOT_TOKEN is set. "
    "`footnote docs discord` and `footnote docs slack` say where to find them."
)
NOT_SET_UP = "{role} is not set up. `footnote docs {role}` says what to set."
NOT_SHARED = (
    "Processes that share the work need QDRANT_URL and REDIS_URL, since they meet there. "
    "`footnote run` does everything in one process."
)


class Role(StrEnum):
    """A share of the work: hearing what people write on a platform, answering it, or keeping sources up to date."""

    DISCORD = "discord"
    SLACK = "slack"
    WORKER = "worker"
    SYNC = "sync"


def shares(named: Collection[Role], settings: Settings) -> frozenset[Role]:
    """Return what this process does: what is *named*, or everything. Raises `Misconfigured` if a setting is missing."""
    is_set = {Role.DISCORD: settings.discord_token is not None, Role.SLACK: settings.has_slack}
    platforms = frozenset(role for role, there in is_set.items() if there)
    if not platforms:
        raise Misconfigured(NOTHING_TO_RUN)
    chosen = frozenset(named) or platforms | {Role.WORKER, Role.SYNC}
    if missing := sorted(chosen - platforms - {Role.WORKER, Role.SYNC}):
        raise Misconfigured(NOT_SET_UP.format(role=missing[0]))
    if not (Role.WORKER in chosen and chosen & platforms) and not settings.is_shared:
        raise Misconfigured(NOT_SHARED)
    if settings.has_slack:
        settings.check_slack()
    return chosen
