"""What commands, buttons and forms work with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from core.events import Observer, unobserved
from core.model import Terms
from core.moderation import Moderation
from core.ports import Accepting, Inbox, Memo, VoteStore
from core.self_help import SelfHelp
from core.sentences import Practices


@dataclass(frozen=True, slots=True)
class Desk:
    """What people can use besides writing."""

    inbox: Inbox
    accepting: Accepting
    self_help: SelfHelp
    moderation: Moderation
    votes: VoteStore
    memo: Memo
    now: Callable[[], datetime]
    terms: Terms = Terms()
    practices: Practices = Practices()
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    observer: Observer = unobserved
