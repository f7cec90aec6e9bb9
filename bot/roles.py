"""What a process of the bot does."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import TYPE_CHECKING

from core.errors import Misconfigured

if TYPE_CHECKING:
    from bot.settings import Settings

NOTHING_TO_RUN = "There is nothing to run: DISCORD_TOKEN is not set. The page docs/discord.md says where to find it."
NOT_SHARED = (
    "Processes that share the work need QDRANT_URL and REDIS_URL, since they meet there. "
    "`footnote run` does everything in one process."
)


class Role(StrEnum):
    """A share of the work: hearing what people write on a platform, or answering it."""

    DISCORD = "discord"
    WORKER = "worker"


def shares(named: Collection[Role], settings: Settings) -> frozenset[Role]:
    """Give what this process does: what is *named*, or everything. Raises `Misconfigured` if a setting is missing."""
    chosen = frozenset(named) or frozenset(Role)
    if settings.discord_token is None:
        raise Misconfigured(NOTHING_TO_RUN)
    if chosen != frozenset(Role) and not settings.is_shared:
        raise Misconfigured(NOT_SHARED)
    return chosen
