"""What stands behind commands, buttons and forms on every platform, in memory."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any

from adapters.chat.desk import Desk

from core.errors import StoreUnavailable
from core.forgetting import Forgetting
from core.model import Citation, MessageRef, Signal, Task, Terms, ThreadRef, Turn
from core.moderation import Moderation
from core.self_help import SelfHelp
from core.sentences import Practices
from tests.builders import NOON
from tests.fakes.conversations import MemoryConversations
from tests.fakes.inbox import MemoryInbox
from tests.fakes.memo import MemoryMemo
from tests.fakes.moderation import MemoryPolicies
from tests.fakes.promises import MemoryPromises
from tests.fakes.votes import MemoryVotes
from tests.waiting import at_once

TERMS = Terms(top_k=7, relevance_threshold=0.25)
SOURCE = Citation(
    number=1, chapter="one", section="Arms", title="Robots", url="https://docs.example/arms", relevance_score=0.8
)


@dataclass
class Counter:
    """The end of the inbox at which signals are handed in; it keeps them, and says of each whether it was news.

    Set `fails` to an error that each call raises, and clear `opens` to let them wait.
    """

    signals: list[Signal] = field(default_factory=list[Signal])
    fails: Exception | None = None
    is_news: bool = True
    opens: asyncio.Event = field(default_factory=asyncio.Event)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        """Begin open."""
        self.opens.set()

    async def put(self, signal: Signal) -> bool:
        """Keep a signal."""
        await self.opens.wait()
        if self.fails:
            raise self.fails
        self.signals.append(signal)
        self.came.set()
        return self.is_news

    def claim(self) -> contextlib.AbstractAsyncContextManager[Task]:
        """Nobody works here."""
        raise NotImplementedError

    async def keep(self, task: Task) -> bool:
        """Nobody works here."""
        raise NotImplementedError

    async def knows(self, message: MessageRef) -> bool:
        """Nobody listens here."""
        raise NotImplementedError

    async def waiting(self) -> int:
        """All that came still wait."""
        return len(self.signals)


@dataclass(kw_only=True)
class MemoryDesk:
    """Stores that tests fill, read and shut, with the desk that works on them."""

    inbox: Counter = field(default_factory=Counter)
    votes: MemoryVotes = field(default_factory=MemoryVotes)
    memo: MemoryMemo = field(default_factory=MemoryMemo)
    promises: MemoryPromises = field(default_factory=MemoryPromises)
    policies: MemoryPolicies = field(default_factory=MemoryPolicies)
    conversations: MemoryConversations = field(
        default_factory=lambda: MemoryConversations(ttl=timedelta(hours=1), now=lambda: NOON)
    )
    unregistered: list[str] = field(default_factory=list[str])
    sleep: Callable[[float], Awaitable[object]] = at_once

    @cached_property
    def desk(self) -> Desk:
        """Put it together."""
        forgetting = Forgetting(self.conversations, self.votes, MemoryInbox(), self.policies)
        moderation = Moderation(self.policies, self.conversations, forgetting, now=lambda: NOON)
        return Desk(
            inbox=self.inbox,
            self_help=SelfHelp(self.conversations, forgetting, moderation),
            moderation=moderation,
            votes=self.votes,
            memo=self.memo,
            promises=self.promises,
            now=lambda: NOON,
            terms=TERMS,
            practices=Practices(conversation_hours=48, services=("OpenAI",)),
            unregistered=self.unregistered.append,
            sleep=self.sleep,
        )

    async def remember(self, thread: ThreadRef, asker: object, *, id: str = "1", **fields: Any) -> None:  # noqa: A002 - the field's name
        """Keep a turn that somebody has asked for."""
        ref = MessageRef(thread=thread, id=id)
        turn = Turn(question_ref=ref, question="?", answer="!", at=NOON, author_id=str(asker), **fields)
        await self.conversations.append(thread, turn)

    @property
    def away(self) -> StoreUnavailable:
        """What a store that is away says."""
        return StoreUnavailable("The data store cannot be reached. Try again in a moment.")

    def shut(self) -> None:
        """Let every call to a store fail from now on."""
        self.inbox.fails = self.away
        self.conversations.fails = self.votes.fails = self.memo.fails = self.promises.fails = True

    async def heard(self) -> Signal:
        """Wait for a signal and take it."""
        async with asyncio.timeout(5):
            while not self.inbox.signals:
                self.inbox.came.clear()
                await self.inbox.came.wait()
        return self.inbox.signals.pop(0)
