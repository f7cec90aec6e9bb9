"""The recorded conversation in the documents is a real one, and is written down by this test."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from adapters.documents.tree import Tree
from bot.app import Bot
from bot.roles import shares
from bot.settings import Settings
from bot.wiring import assemble, folder
from core.events import Event, State, StateChanged
from tests.end_to_end.community import SECRET
from tests.end_to_end.on_discord import DiscordCommunity
from tests.end_to_end.transcript import Transcript, joined, wrapped
from tests.fixtures.redis import clean
from tests.servers.discord import Channel, Message, User
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
RECORDING = DOCS / "_recordings" / "discord.txt"
AGAIN = f"The conversation has changed. If that is right: FOOTNOTE_RECORD=1 pytest {Path(__file__).relative_to(ROOT)}"
WRITES = "FOOTNOTE_RECORD" in os.environ  # read here, since no test sees the settings of whoever runs it
SCORE = re.compile(r"\b[01]\.\d\d\b")
IN_PRIVATE = "Does it send my question over the internet?"
ABOUT = (
    "A conversation with Footnote on Discord, as a test wrote it down while the bot answered from its own documents, "
    "without a chat model. A thread has a line along it, and what is written in small print begins with a dot. "
    "Footnotes are links: what they lead to stands below the last one to the same place. Of every scene only that is "
    "shown which is new."
)


@dataclass
class Record:
    """A community whose conversation is written down, scene by scene."""

    community: DiscordCommunity
    events: list[Event] = field(default_factory=list[Event])
    blocks: list[list[str]] = field(default_factory=lambda: [wrapped(ABOUT)])

    def __post_init__(self) -> None:
        self._transcript = Transcript(self.community.server)

    async def told(self, scene: str, asked: Message, *, below: Message | None = None, times: int = 1) -> None:
        """Wait until a question has been answered so many times, and write down what is new on it or *below* it."""
        await wait_until(lambda: self._answers(asked) >= times, what="the end of an answer")
        self._add(scene, self._transcript.news(below or asked))

    def alone(self, scene: str, who: User, channel: Channel, *typed: str) -> None:
        """Write down what somebody typed, and what the bot told them alone."""
        found = [one for one in self.community.server.platform.messages_in(channel) if one.seen_by == who.id]
        self._add(scene, [*typed, *self._transcript.news(found[-1])])

    def _answers(self, asked: Message) -> int:
        return len([one for one in self.events if _is_end(one, str(asked.id))])

    def _add(self, scene: str, lines: list[str]) -> None:
        self.blocks += [[f"== {scene} =="], lines]


def _is_end(event: Event, asked: str) -> bool:
    match event:
        case StateChanged(question, State.COMPLETE | State.ERROR):
            return question.id == asked
        case _:
            return False


@contextlib.asynccontextmanager
async def at_work(record: Record, redis_url: str, data: Path) -> AsyncGenerator[None]:
    """Run the product on Discord, over its own documents, with nothing else connected."""
    values: dict[str, Any] = {
        **record.community.settings(),
        "REDIS_URL": redis_url,
        "FOOTNOTE_DATA_DIR": str(data),
        "FOOTNOTE_SECRET_KEY": SECRET,
    }
    settings = Settings(**values)
    async with assemble(settings, memory=True, observer=record.events.append) as product:
        async for _ in product.ingestion.run(folder(DOCS, name="footnote", base_url="https://footnote.example")):
            pass
        assert product.stores is not None
        bot = Bot(settings, product.agent, product.stores, record.events.append)
        running = asyncio.create_task(bot.run(shares((), settings)))
        await record.community.ready()
        try:
            yield
        finally:
            bot.stop()
            await running


async def play(record: Record) -> None:
    """Let people ask, go on, vote, ask in private, correct themselves, and look after the bot."""
    community, server = record.community, record.community.server
    general, ada, bob = community.channel, community.ada, community.bob

    kept = server.post_as(ada, general, "How long are conversations kept?", mentions=[server.bot])
    await record.told("Ada asks in #general", kept)
    thread = server.platform.channels[kept.id]
    safe = server.post_as(ada, thread, "And are they encrypted?")
    await record.told("She goes on in the thread, without a mention", safe, below=kept)
    cost = server.post_as(bob, general, "How much does it cost?", mentions=[server.bot])
    await record.told("Bob asks what the documents do not say", cost)
    await community.press(str(kept.id))
    record.alone("Ada presses Helpful", ada, thread)
    await community.command("ask", question=IN_PRIVATE, private=True)
    record.alone("She asks for herself", ada, general, f"Ada types /ask question: {IN_PRIVATE} private: True")
    server.edit_as(bob, cost, f"{server.bot.mention} How do I see what answers cost?")
    await record.told("Bob changes his question", cost, times=2)
    await community.command("status", moderates=True)
    record.alone("A moderator looks", community.moderator, general, "Mod types /footnote-admin status")


@pytest.fixture(name="record")
async def _record() -> AsyncGenerator[Record]:
    """Open a community."""
    record = Record(DiscordCommunity())
    async with record.community.open():
        yield record


@pytest.mark.promise("true-recording")
async def test_the_recorded_conversation_is_a_real_one(record: Record, redis_url: str, tmp_path: Path) -> None:
    """Played again it is the same to the letter, but for scores, whose last digit is up to the machine."""
    async with clean(redis_url), at_work(record, redis_url, tmp_path):
        await play(record)

    text = joined(record.blocks)
    if WRITES:
        RECORDING.write_text(text)
    assert SCORE.sub("0.00", text) == SCORE.sub("0.00", RECORDING.read_text()), AGAIN


def test_a_recording_is_no_document() -> None:
    """Nothing is answered from it, and nobody is told that it could not be read."""
    found = Tree(DOCS, {".md", RECORDING.suffix}).findings()

    assert [one.relative.name for one in found] == sorted(page.name for page in DOCS.glob("*.md"))
