"""What listeners, commands, buttons and forms of every platform work with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from adapters.chat.full_house import House
from core.events import Observer, unobserved
from core.model import Outline, Terms, ThreadRef, WorkspaceRef
from core.moderation import Moderation
from core.ports import Inbox, LastHeard, Memo, PolicyStore, Promises, VoteStore
from core.self_help import SelfHelp
from core.sentences import Practices


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatServices:
    """One bundle for a platform.

    `askers` returns who has asked in a thread, None if nobody knows, and `owns` whether what is remembered of a thread
    began with its first message. `purge` forgets a workspace that the bot was thrown out of. `outline`
    returns what there is to search, or raises `RetrievalUnavailable`. `last_heard` says from
    when on something may have been missed; `cut_short` is told why not all of it could be read, and `unregistered` why
    a platform took no new commands. `reads_all` says whether the bot may read messages that do not mention it.
    """

    inbox: Inbox
    memo: Memo
    policies: PolicyStore
    votes: VoteStore
    promises: Promises
    last_heard: LastHeard
    moderation: Moderation
    self_help: SelfHelp
    askers: Callable[[ThreadRef], Awaitable[Collection[str] | None]]
    owns: Callable[[ThreadRef], Awaitable[bool]]
    purge: Callable[[WorkspaceRef], Awaitable[object]]
    outline: Callable[[], Awaitable[Outline]]
    house: House | None = None
    reads_all: bool = True
    terms: Terms = Terms()
    practices: Practices = Practices()
    cut_short: Callable[[str], object] | None = None
    unregistered: Callable[[str], object] | None = None
    now: Callable[[], datetime] = partial(datetime.now, UTC)
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    observer: Observer = unobserved
