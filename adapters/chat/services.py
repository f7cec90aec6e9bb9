"""What the listeners of every platform work with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from adapters.chat.full_house import House
from core.model import Terms, ThreadRef, WorkspaceRef
from core.ports import Inbox, LastHeard, Memo, PolicyStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What is left out is done without.

    `askers` returns who has asked in a thread, None if nobody knows, and `owns` whether what is remembered of a thread
    began with its first message. `purge` forgets a workspace that the bot was thrown out of. `house` knows how many
    wait. `last_heard` says from when on something may have been missed, and `cut_short` is told why not all of it could
    be read.
    """

    inbox: Inbox
    terms: Terms = field(default_factory=Terms)
    memo: Memo | None = None
    policies: PolicyStore | None = None
    askers: Callable[[ThreadRef], Awaitable[Collection[str] | None]] | None = None
    owns: Callable[[ThreadRef], Awaitable[bool]] | None = None
    purge: Callable[[WorkspaceRef], Awaitable[object]] | None = None
    house: House | None = None
    last_heard: LastHeard | None = None
    cut_short: Callable[[str], object] | None = None
    now: Callable[[], datetime] = partial(datetime.now, UTC)
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
