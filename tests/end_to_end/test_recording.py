"""The recorded conversation in the documents is a real one, and is written down by this test."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from adapters.documents.folder import FolderWalk
from bot.app import Bot
from bot.roles import shares
from bot.settings import Settings
from bot.wiring import assemble
from core.events import Event, State, StateChanged
from tests.end_to_end.community import SECRET, Community
from tests.end_to_end.discord_transcript import DiscordTranscript
from tests.end_to_end.on_discord import DiscordCommunity
from tests.end_to_end.on_slack import SlackCommunity
from tests.end_to_end.slack_transcript import SlackTranscript
from tests.end_to_end.transcript import Transcript, joined, wrapped
from tests.fixtures.commands import copy_data
from tests.fixtures.redis import clean
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
RECORDINGS = DOCS / "_recordings"
AGAIN = f"The conversation has changed. If that is right: FOOTNOTE_RECORD=1 pytest {Path(__file__).relative_to(ROOT)}"
WRITES = "FOOTNOTE_RECORD" in os.environ  # read here, since no test sees the settings of whoever runs it
IN_PRIVATE = "Does it send my question over the internet?"
ABOUT = (
    "A conversation with Footnote on {}, as a test wrote it down while the bot answered from its own documents, "
    "without a chat model. A thread has a line along it, and what is written in small print begins with a dot. "
    "Footnotes are links: what they lead to stands below the last one to the same place. Of every scene only that is "
    "shown which is new."
)


def on_discord() -> tuple[Community, Transcript]:
    """Open a community on Discord, and read along."""
    community = DiscordCommunity()
    return community, DiscordTranscript(community.server)


def on_slack() -> tuple[Community, Transcript]:
    """Open a community on Slack, and read along."""
    community = SlackCommunity()
    return community, SlackTranscript(community.server)


PLATFORMS: dict[str, Callable[[], tuple[Community, Transcript]]] = {"Discord": on_discord, "Slack": on_slack}


@dataclass
class Record:
    """A community whose conversation is written down, scene by scene."""

    name: str
    community: Community
    transcript: Transcript
    events: list[Event] = field(default_factory=list[Event])
    scenes: list[list[str]] = field(default_factory=list[list[str]])

    async def told(self, scene: str, asked: str, *, below: str = "", times: int = 1) -> None:
        """Wait until a question has been answered so many times, and write down what is new on it or *below* it."""
        await wait_until(lambda: self._answers(asked) >= times, what="the end of an answer")
        self._add(scene, self.transcript.news(below or asked))

    async def alone(self, scene: str, name: str, **options: Any) -> None:
        """Let somebody use a command; write down what that person typed, and was told alone."""
        await self.community.command(name, **options)
        who = "Mod" if options.get("moderates") else "Ada"
        typed = f"{who} types {self.community.typed(name, **options)}"
        self._add(scene, [typed, *self.transcript.told(who)])

    async def press(self, scene: str, asked: str) -> None:
        """Let Ada press the first button below an answer; write down what she was told alone."""
        await self.community.press(asked)
        self._add(scene, self.transcript.told("Ada"))

    def text(self) -> str:
        """Give the whole of it."""
        return joined([wrapped(ABOUT.format(self.name)), *self.scenes])

    def _answers(self, asked: str) -> int:
        return len([one for one in self.events if _is_end(one, asked)])

    def _add(self, scene: str, lines: list[str]) -> None:
        self.scenes += [[f"== {scene} =="], lines]


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
        assert product.stores is not None
        bot = Bot(settings, product.agent, product.stores, record.events.append, product.index)
        running = asyncio.create_task(bot.run(shares((), settings)))
        await record.community.ready()
        try:
            yield
        finally:
            bot.stop()
            await running


async def play(record: Record) -> None:
    """Let people ask, go on, vote, ask in private, correct themselves, and look after the bot."""
    community = record.community

    kept = community.ask("How long are conversations kept?")
    await record.told("Ada asks in #general", kept)
    safe = community.follow_up(kept, "And are they encrypted?")
    await record.told("She goes on in the thread, without a mention", safe, below=kept)
    cost = community.ask("How much does it cost?", by="Bob")
    await record.told("Bob asks what the documents do not say", cost)
    await record.press("Ada presses Helpful", kept)
    await record.alone("She asks for herself", "ask", question=IN_PRIVATE, private=True)
    community.edit(cost, "How do I see what answers cost?")
    await record.told("Bob changes his question", cost, times=2)
    await record.alone("A moderator looks", "status", moderates=True)


@pytest.fixture(name="data", scope="module")
def _data(ingested_docs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a data folder with the pages in it."""
    return copy_data(ingested_docs, tmp_path_factory.mktemp("recorded") / "data")


@pytest.fixture(name="record", params=PLATFORMS)
async def _record(request: pytest.FixtureRequest) -> AsyncGenerator[Record]:
    """Open a community."""
    record = Record(request.param, *PLATFORMS[request.param]())
    async with record.community.open():
        yield record


@pytest.mark.promise("true-recording")
async def test_the_recorded_conversation_is_a_real_one(record: Record, redis_url: str, data: Path) -> None:
    """Played again it is the same to the letter."""
    async with clean(redis_url), at_work(record, redis_url, data):
        await play(record)

    recording = RECORDINGS / f"{record.name.lower()}.txt"
    if WRITES:
        recording.write_text(record.text())
    assert record.text() == recording.read_text(), AGAIN


def test_a_recording_is_no_document() -> None:
    """Nothing is answered from it, and nobody is told that it could not be read."""
    found = FolderWalk(DOCS, {".md", ".txt"}).findings()

    assert [one.relative.name for one in found] == sorted(page.name for page in DOCS.glob("*.md"))
