"""What listeners, commands, buttons and forms of every platform work with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime

from adapters.chat.platform import utc_now
from core.community.admission import WaitEstimate
from core.community.moderation import Moderation, SelfHelp
from core.errors import StoreUnavailable
from core.events import Connected, ConnectionLost, Observer, unobserved
from core.messages import Practices
from core.model import Outline, Question, Scope, Terms, ThreadRef, WorkspaceRef
from core.ports import Accepting, ChannelCursor, Dedup, Inbox, PolicyStore, VoteStore, WaitingRoom


@dataclass(slots=True)
class Presence:
    """Reports that a platform is gone, and that it is back, each once, whichever of the ways to it is closed."""

    platform: str
    observer: Observer = unobserved
    _name: str = field(default="", init=False)
    _closed: set[str] = field(default_factory=set[str], init=False)
    _is_told: bool = field(default=False, init=False)

    def expect(self, way: str) -> None:
        """Note that a way is not open yet, which is no news."""
        self._closed.add(way)

    def lost(self, way: str, reason: str) -> None:
        """Note that a way is closed; it may be said again."""
        self._closed.add(way)
        if not self._is_told:
            self._is_told = True
            self.observer(ConnectionLost(self.platform, reason))

    def back(self, way: str, name: str = "") -> None:
        """Note that a way is open, and with a *name* as whom the bot is there."""
        is_news = bool(name) or way in self._closed
        self._closed.discard(way)
        self._name = name or self._name
        if is_news and not self._closed:
            self._is_told = False
            self.observer(Connected(self.platform, self._name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """How long people wait, and who hears of it; `admits` says whether a question will be answered."""

    estimate: WaitEstimate
    room: WaitingRoom
    dedup: Dedup
    admits: Callable[[Question], Awaitable[bool]]
    now: Callable[[], datetime] = utc_now


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatServices:
    """One bundle for the platform of a `name`, as people call it.

    `askers` returns who has asked in a thread, None if nobody knows, and `owns` whether what is remembered of a thread
    began with its first message. `purge` forgets a workspace that the bot was thrown out of. `outline` returns what
    there is to search in a scope, or raises `RetrievalUnavailable`. `channel_cursor` says from when on something may
    have been missed, and `waits` how long people wait. `reads_all` says whether the bot may read messages that do not
    mention it.
    """

    name: str
    inbox: Inbox
    accepting: Accepting
    dedup: Dedup
    policies: PolicyStore
    votes: VoteStore
    channel_cursor: ChannelCursor
    moderation: Moderation
    self_help: SelfHelp
    askers: Callable[[ThreadRef], Awaitable[Collection[str] | None]]
    owns: Callable[[ThreadRef], Awaitable[bool]]
    purge: Callable[[WorkspaceRef], Awaitable[object]]
    outline: Callable[[Scope], Awaitable[Outline]]
    waits: Waits | None = None
    reads_all: bool = True
    terms: Terms = Terms()
    practices: Practices = Practices()
    now: Callable[[], datetime] = utc_now
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    observer: Observer = unobserved

    async def is_new(self, key: str, value: str) -> bool:
        """Give a key a value, and return whether it had another one; True if nobody knows: better twice than never."""
        try:
            return await self.dedup.changed(key, value)
        except StoreUnavailable:
            return True
