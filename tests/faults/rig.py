"""A whole installation on one machine: platforms with people, services, a store, and the bot in several processes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import signal
import time
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from bot.settings import Settings
from bot.wiring import RetryTiming, assemble
from core.model import Document
from tests.fakes.documents import ListSource
from tests.faults.attention import Attention
from tests.faults.audit import Ending, Kind, Scene, Wrong, endings, wrongs
from tests.faults.community import Asked, Community
from tests.faults.discord import OnDiscord
from tests.faults.host import Host, News
from tests.faults.model import NumberingModel
from tests.faults.points import LISTENING, Order
from tests.faults.slack import OnSlack
from tests.faults.store import Store, open_store
from tests.servers.cohere import CohereServer
from tests.servers.qdrant import QdrantServer

LEASE: Final = 2.0  # seconds
SECRET = "a secret that is long enough for a test"
LISTENERS = ("discord", "slack")
WORKERS = ("worker-1", "worker-2")
REST = 60.0  # seconds for everything that is under way
LOOK = 0.05  # seconds between two looks at what nobody tells of
MOST_HITS = 3  # processes that may die over a question before it is given up
ROBOTS = ("Ada", "Bolt", "Crank", "Dynamo", "Ember", "Flux", "Gear", "Hex", "Ion", "Joule", "Kelvin", "Lumen")
SOURCE = ListSource(
    "robots",
    [
        Document(
            source="robots",
            url=f"https://robots.example/{name.lower()}",
            title=f"The robot {name}",
            text=f"# The robot {name}\n\nThe robot {name} carries boxes through the hall of {name}.",
        )
        for name in ROBOTS
    ],
)


@dataclass
class Record:
    """What happened to questions, by the ids of their messages or by their names, and how soon they were over."""

    hurt_at: dict[str, float] = field(default_factory=dict[str, float])
    hits: Counter[str] = field(default_factory=Counter[str])
    held: dict[int, set[str]] = field(default_factory=dict[int, set[str]])
    recoveries: list[float] = field(default_factory=list[float])
    journal: list[str] = field(default_factory=list[str])

    def tell(self, what: object) -> None:
        """Write down what happens, for whoever has to find out why something went wrong."""
        self.journal.append(f"{time.monotonic():.2f} {what}")

    def take(self, news: News) -> None:
        """Take note of who holds what, and of what is held when a process stops."""
        self.tell(news)
        match news:
            case {"kind": "taken", "pid": pid, "question": question}:
                self.held.setdefault(pid, set()).add(question)
            case {"kind": "settled", "pid": pid, "question": question}:
                self.held.get(pid, set()).discard(question)
                self.hits.pop(question, None)
            case {"kind": "met", "pid": pid, "question": question}:
                self.hurt(question)
                self._lose(pid)
            case {"kind": "ended", "of": pid}:
                self._lose(pid)
            case _:
                pass

    def hurt(self, question: str) -> None:
        """Take note that something was broken for a question; recovery counts from here."""
        self.hurt_at[question] = time.monotonic()

    def over(self, name: str, question: str) -> None:
        """Take note of the end of a question."""
        self.tell(f"over: {name}, {question}")
        if self.hits[question] >= MOST_HITS:
            del self.hits[question]
        if hurt := [self.hurt_at.pop(key) for key in (name, question) if key in self.hurt_at]:
            seconds = time.monotonic() - max(hurt)
            self.recoveries.append(seconds)
            self.tell(f"recovered after {seconds:.1f} s: {name}")

    def _lose(self, pid: int) -> None:
        for question in self.held.pop(pid, ()):
            self.hits[question] += 1
            self.hurt(question)


@dataclass
class Rig:
    """What runs, and who has asked what."""

    host: Host
    store: Store
    model: NumberingModel
    cohere: CohereServer
    qdrant: QdrantServer
    discord: OnDiscord
    slack: OnSlack
    record: Record
    attention: Attention
    asked: dict[int, Asked] = field(default_factory=dict[int, Asked])
    pending: dict[int, Asked] = field(default_factory=dict[int, Asked])
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _orders: itertools.count[int] = field(default_factory=itertools.count)

    @property
    def communities(self) -> Sequence[Community]:
        """Give both platforms."""
        return (self.discord, self.slack)

    # People

    def ask(self, platform: str, place: str = "") -> Asked:
        """Let somebody mention the bot, in a thread of people if it is named."""
        number = next(self._numbers)
        return self._note(self.on(platform).ask(number, self._text(number), place))

    def command(self, platform: str) -> Asked:
        """Let somebody ask by a command."""
        number = next(self._numbers)
        self.attention.asked(number, platform, is_heard=self._listens(platform))
        return self._note(self.on(platform).command(number, self._text(number)))

    def _listens(self, platform: str) -> bool:
        process = self.host.processes[platform]
        return process.pid is not None and not process.is_frozen and self.on(platform).is_heard()

    @staticmethod
    def _text(number: int) -> str:
        return f"What does the robot {ROBOTS[number % len(ROBOTS)]} carry? q{number}"

    def _note(self, asked: Asked) -> Asked:
        self.asked[asked.number] = self.pending[asked.number] = asked
        self.record.tell(asked)
        return asked

    def on(self, platform: str) -> Community:
        """Give a platform."""
        return self.discord if platform == self.discord.name else self.slack

    # What breaks

    def order(self, point: str, question: Asked, *, freeze: bool = False) -> Path:
        """Have the process stop that comes to a point with a question, before anything else can run; give the order."""
        role = question.platform if point in LISTENING else "worker"
        order = Order(point, freeze=freeze, question=question.message, platform=question.platform)
        path = self.host.orders(role) / str(next(self._orders))
        order.write(path)
        return path

    def holder(self, asked: Asked) -> str | None:
        """Give the process that works on a question; None if nobody does."""
        message = self.on(asked.platform).message_of(asked)
        pids = {pid for pid, held in self.record.held.items() if message in held}
        return next((each.name for each in self.host.processes.values() if each.pid in pids), None)

    async def patience(self) -> None:
        """Wait until no question is left for which one more death would be one too many."""
        async with asyncio.timeout(REST):
            while any(hits >= MOST_HITS - 1 for hits in self.record.hits.values()):
                await asyncio.sleep(LOOK)
                if not await self.store.unsettled():
                    self.record.hits.clear()  # whoever settled it died before it could tell

    # What can be seen

    def scenes(self) -> dict[str, Scene]:
        """Give every place where somebody has asked."""
        places = dict.fromkeys((asked.platform, asked.place) for asked in self.asked.values())
        return {f"{platform} {place}": self.on(platform).scene(place) for platform, place in places}

    def wrongs(self) -> list[Wrong]:
        """Give all that is wrong anywhere."""
        found = [(at, wrong) for at, scene in self.scenes().items() for wrong in wrongs(scene)]
        ignored = [number for number in self.ended(Ending.UNHEARD) if not self.attention.lapsed(number)]
        found += [("commands", Wrong(Kind.LOST, f"q{number} was not heard, and should be")) for number in ignored]
        strays = [(each.name, Wrong(Kind.STRAY, text[:80])) for each in self.communities for text in each.strays()]
        return [replace(wrong, what=f"{at}: {wrong.what}") for at, wrong in (*found, *strays)]

    def ended(self, how: Ending) -> list[int]:
        """Give the questions that ended in a way."""
        ended = (endings(scene) for scene in self.scenes().values())
        return [number for each in ended for number, ending in each.items() if ending is how]

    def look(self) -> None:
        """Take note of the questions that are over."""
        for number, asked in list(self.pending.items()):
            community = self.on(asked.platform)
            if endings(community.scene(asked.place))[number] is not Ending.PENDING:
                self.record.over(asked.name, community.message_of(asked))
                del self.pending[number]

    async def settled(self, *, seconds: float = REST) -> None:
        """Wait until every question is over, for people and for the bot. Raises `TimeoutError` with what is not."""
        try:
            async with asyncio.timeout(seconds):
                while self.pending or await self.store.unsettled():
                    await asyncio.sleep(LOOK)
                    self.look()  # nothing tells when it is too late to hear a command
        except TimeoutError as error:
            left = [f"q{number} on {asked.platform}" for number, asked in self.pending.items()]
            raise TimeoutError(f"still open after {seconds:g} s: {left}, {self.wrongs()}") from error

    async def ready(self, *, seconds: float = REST) -> None:
        """Wait until the bot hears what is written. Raises `TimeoutError` with what its processes have said."""
        try:
            async with asyncio.timeout(seconds):
                while not all(each.is_heard() for each in self.communities):  # noqa: ASYNC110 - two servers tell of it
                    await asyncio.sleep(LOOK)
        except TimeoutError as error:
            raise TimeoutError(f"the bot is not there: {self.host.words()}") from error

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncGenerator[None]:
        """Look whenever something changes on a platform."""
        tasks = [asyncio.create_task(self._watch(each)) for each in self.communities]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _watch(self, community: Community) -> None:
        await community.changes.until(self.look, float("inf"), "the end of the world")


@contextlib.asynccontextmanager
async def rig(folder: Path, *, doubled: bool = False) -> AsyncGenerator[Rig]:
    """Run everything. A *doubled* store has a replica."""
    async with contextlib.AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(folder / "redis", doubled=doubled))
        model, cohere, qdrant = NumberingModel(), CohereServer(), QdrantServer()
        discord, slack = OnDiscord(), OnSlack()
        for server in (model, cohere, qdrant, discord.open(), slack.open()):
            await stack.enter_async_context(server)
        settings = {
            "FOOTNOTE_SECRET_KEY": SECRET,
            "FOOTNOTE_LEASE_SECONDS": f"{LEASE:g}",
            "FOOTNOTE_QUESTIONS_PER_MINUTE": "1000",
            "FOOTNOTE_ANSWERS_AT_ONCE": "8",
            "OPENAI_API_KEY": model.key,
            "OPENAI_BASE_URL": model.base_url,
            "COHERE_API_KEY": cohere.key,
            "COHERE_BASE_URL": cohere.url,
            "COHERE_RERANK_MODEL": "off",
            "QDRANT_URL": qdrant.url,
            **discord.settings(),
            **slack.settings(),
        }
        await _ingest(settings, folder / "ingestion")
        processes = folder / "processes"
        processes.mkdir()
        record, attention = Record(), Attention()
        host = Host(processes, record.take, disturbed=attention.disturb)
        await stack.enter_async_context(host.open())
        running = Rig(host, store, model, cohere, qdrant, discord, slack, record, attention)
        stack.callback(_thaw, host)
        for name in (*LISTENERS, *WORKERS):
            own = {**settings, "REDIS_URL": await store.url(name)}
            host.add(name, name.partition("-")[0], settings=own)
        await running.ready()
        await stack.enter_async_context(running.watching())
        yield running


async def _ingest(settings: dict[str, str], folder: Path) -> None:
    values: dict[str, Any] = {**settings, "FOOTNOTE_DATA_DIR": str(folder)}
    async with assemble(Settings(**values), timing=RetryTiming(retry_wait=0.001)) as app:
        steps = [step async for step in app.ingestion.run(SOURCE)]
    assert len(steps) == len(ROBOTS) + 1


def _thaw(host: Host) -> None:
    """Let no process stay frozen."""
    for name in host.processes:
        host.signal(name, signal.SIGCONT)
