"""Who asks: puts questions into the inbox as a platform's listener does, and looks at the server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from adapters.redis.connection import connect
from adapters.redis.conversations import RedisConversations
from adapters.redis.inbox import RedisInbox
from adapters.redis.inbox_store import Bounds
from adapters.redis.secrets import Seal
from bench.chat.load import QUESTIONS, Asking
from bench.scale.product import NO_BOUND, PLATFORM, SECRET
from core.model import Asked, MessageRef, Person, Question, ThreadRef
from tests.servers.valkey import Node

LOOK = 0.25  # seconds
PATIENCE = 300.0  # seconds for the last answers
KEPT = timedelta(hours=24)  # for a conversation
BYTES = ("total_net_input_bytes", "total_net_output_bytes")


@dataclass(frozen=True, slots=True)
class Server:
    """What the server has done since it began: commands, those in scripts included, bytes both ways, seconds of CPU."""

    commands: int
    sent: int
    cpu: float

    def __sub__(self, earlier: Server) -> Server:
        return Server(self.commands - earlier.commands, self.sent - earlier.sent, self.cpu - earlier.cpu)

    @classmethod
    def of(cls, node: Node) -> Server:
        """Ask it."""
        stats, cpu = info(node, "stats"), info(node, "cpu")
        calls = sum(int(told.split("calls=")[1].split(",")[0]) for told in info(node, "commandstats").values())
        seconds = float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"])
        return cls(calls, sum(int(stats[name]) for name in BYTES), seconds)


def info(node: Node, section: str) -> dict[str, str]:
    """Read a section of what a server tells of itself."""
    text: str = node.say("INFO", section)
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


@dataclass(frozen=True, slots=True)
class Stores:
    """The inbox and the conversations, as another process of the bot has them."""

    inbox: RedisInbox
    conversations: RedisConversations


@asynccontextmanager
async def stores(url: str, *, per_workspace: int = NO_BOUND) -> AsyncGenerator[Stores]:
    """Open both."""
    client, blocking, seal = connect(url), connect(url, blocking=True), Seal.parse(SECRET)
    bounds = Bounds(per_person=NO_BOUND, per_workspace=per_workspace)
    try:
        async with RedisInbox(client, blocking, seal=seal, bounds=bounds) as inbox:
            yield Stores(inbox, RedisConversations(client, ttl=KEPT, seal=seal))
    finally:
        await blocking.aclose()
        await client.aclose()


def question(number: int, *, workspace: str = "w") -> Question:
    """Give a question that somebody asks in a thread of its own."""
    thread = ThreadRef(platform=PLATFORM, workspace=workspace, channel=f"c{number % 40}", thread=f"t{number}")
    return Question.create(
        message=MessageRef(thread=thread, id=f"m{number}"),
        text=f"{QUESTIONS[number % len(QUESTIONS)]} (no. {number})",
        author=Person(id=f"p{number}", name="Ada"),
        asked_at=datetime.now(UTC),
    )


async def ask(inbox: RedisInbox, asking: Asking) -> dict[int, float]:
    """Ask at the rate; give the time of each question by its number."""
    loop, put = asyncio.get_running_loop(), dict[int, float]()
    begun = loop.time()
    for place in range(asking.count):
        if asking.rate is not None:
            await asyncio.sleep(max(begun + place / asking.rate - loop.time(), 0))
        number = asking.first + place
        put[number] = time.time()
        await inbox.put(Asked(question=question(number)))
    return put


async def answered(inbox: RedisInbox) -> None:
    """Wait until nothing is left to do."""
    async with asyncio.timeout(PATIENCE):
        while (left := await inbox.backlog()).waiting or left.running:  # noqa: ASYNC110 - it is in other processes
            await asyncio.sleep(LOOK)
