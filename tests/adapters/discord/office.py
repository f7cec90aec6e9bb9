"""A client with commands, buttons and forms, over stores in memory."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any

from adapters.chat.desk import Desk
from adapters.discord.client.connection import connect
from adapters.discord.commands.install import install
from core.errors import StoreUnavailable
from core.forgetting import Forgetting
from core.model import Citation, MessageRef, Signal, Task, Terms, ThreadRef, Turn, WorkspaceRef
from core.moderation import Moderation
from core.self_help import SelfHelp
from core.sentences import Practices
from tests.adapters.discord.eager import EagerClient
from tests.builders import NOON
from tests.fakes.conversations import MemoryConversations
from tests.fakes.inbox import MemoryInbox
from tests.fakes.memo import MemoryMemo
from tests.fakes.moderation import MemoryAudit, MemoryPolicies
from tests.fakes.votes import MemoryVotes
from tests.servers.discord import DiscordServer, Interaction, Message

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


class OfficeClient(EagerClient):
    """Learns the commands before it connects."""

    def __init__(self, *, desk: Desk, **options: Any) -> None:
        super().__init__(**options)
        self._desk = desk

    async def setup_hook(self) -> None:
        """Install everything."""
        await install(self, self._desk)


@dataclass
class Office:
    """What stands behind the commands, and the clients that have them."""

    server: DiscordServer
    inbox: Counter = field(default_factory=Counter)
    votes: MemoryVotes = field(default_factory=MemoryVotes)
    memo: MemoryMemo = field(default_factory=MemoryMemo)
    audit: MemoryAudit = field(default_factory=MemoryAudit)
    policies: MemoryPolicies = field(default_factory=MemoryPolicies)
    conversations: MemoryConversations = field(
        default_factory=lambda: MemoryConversations(ttl=timedelta(hours=1), now=lambda: NOON)
    )
    unregistered: list[str] = field(default_factory=list[str])

    @cached_property
    def desk(self) -> Desk:
        """Put it together."""
        forgetting = Forgetting(self.conversations, self.votes, MemoryInbox(), self.policies)
        moderation = Moderation(self.policies, self.audit, self.conversations, forgetting, now=lambda: NOON)
        return Desk(
            inbox=self.inbox,
            self_help=SelfHelp(self.conversations, forgetting, moderation),
            moderation=moderation,
            votes=self.votes,
            memo=self.memo,
            now=lambda: NOON,
            terms=TERMS,
            practices=Practices(conversation_hours=48, services=("OpenAI",)),
            unregistered=self.unregistered.append,
        )

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncGenerator[OfficeClient]:
        """Run a client that is connected and knows its guilds."""
        client = connect(
            OfficeClient,
            message_content=False,
            api_url=self.server.api_url,
            gateway_url=self.server.gateway_url,
            desk=self.desk,
        )
        running = asyncio.create_task(client.start(self.server.token))
        try:
            await self.server.connected()
            await client.wait_until_ready()
            yield client
        finally:
            await client.close()
            await running

    async def remember(self, thread: ThreadRef, asker: int, *, id: str = "1", **fields: Any) -> None:  # noqa: A002 - the field's name
        """Keep a turn that somebody has asked for."""
        ref = MessageRef(thread=thread, id=id)
        turn = Turn(question_ref=ref, question="?", answer="!", at=NOON, author_id=str(asker), **fields)
        await self.conversations.append(thread, turn)

    def shut(self) -> None:
        """Let every call to a store fail from now on."""
        self.inbox.fails = StoreUnavailable("The data store cannot be reached. Try again in a moment.")
        self.conversations.fails = self.votes.fails = self.memo.fails = True

    async def told(self, interaction: Interaction) -> Message:
        """Wait for what the bot says to the one who used something, and give it."""
        await self.server.until(lambda: self._words(interaction), what="a reply")
        return self._words(interaction)[-1]

    def _words(self, interaction: Interaction) -> list[Message]:
        ids = [interaction.original_id, *interaction.follow_ups]
        found = [self.server.platform.messages[one] for one in ids if one is not None]
        return [one for one in found if one.interaction_id == interaction.id and one.content]

    async def heard(self) -> Signal:
        """Wait for a signal and take it."""
        async with asyncio.timeout(5):
            while not self.inbox.signals:
                self.inbox.came.clear()
                await self.inbox.came.wait()
        return self.inbox.signals.pop(0)


def thread_ref(workspace: object, channel: object, thread: object) -> ThreadRef:
    """Name a thread of the server."""
    return ThreadRef(platform="discord", workspace=str(workspace), channel=str(channel), thread=str(thread))


def home(workspace: object) -> WorkspaceRef:
    """Name a guild of the server."""
    return WorkspaceRef(platform="discord", workspace=str(workspace))
