"""What a listener is connected to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from adapters.chat.wait_notice import Waits
from core.model import Terms, ThreadRef, WorkspaceRef
from core.ports import Inbox, Memo, PolicyStore

if TYPE_CHECKING:
    from discord import AutoShardedClient


def unnoticed(reason: str) -> None:
    """Take no note of what could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """What is left out is done without.

    `askers` says who has asked in a thread, None if nobody knows; `purge` forgets a workspace that the bot was thrown
    out of; `setup` is called once a client has logged in, before it hears anything; `waits` knows how long people wait;
    `cut_short` hears why not all could be read that was missed.
    """

    inbox: Inbox
    terms: Terms = field(default_factory=Terms)
    memo: Memo | None = None
    policies: PolicyStore | None = None
    askers: Callable[[ThreadRef], Awaitable[Collection[str] | None]] | None = None
    purge: Callable[[WorkspaceRef], Awaitable[object]] | None = None
    setup: Callable[[AutoShardedClient], Awaitable[object]] | None = None
    waits: Waits | None = None
    cut_short: Callable[[str], None] = unnoticed
    now: Callable[[], datetime] = partial(datetime.now, UTC)
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
