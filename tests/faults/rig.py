"""A whole installation on one machine: platforms with people, services, a store, and the bot in several processes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import signal
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from adapters.redis.connection import connect
from adapters.redis.secrets import RedisVault, Seal
from bot.settings import Settings
from bot.wiring import RetryTiming, assemble
from core.model import Audience, Document, SourceRecord
from tests.fakes.documents import ListSource
from tests.faults.attention import Attention
from tests.faults.audit import Behind, Ending, Kind, Scene, Wrong, endings, wrongs, wrongs_behind
from tests.faults.community import RETRIES, Asked, Community
from tests.faults.discord import OnDiscord
from tests.faults.host import Host
from tests.faults.model import SHORT, NumberingModel, words
from tests.faults.points import LISTENING, Order
from tests.faults.record import MOST_HITS, Deeds, Record
from tests.faults.slack import OnSlack
from tests.faults.spending import Spending, spending_of, wrongs_of
from tests.faults.store import FSYNCS, Store, attempts, open_store, turns_of, unsettled
from tests.servers.cohere import CohereServer
from tests.servers.qdrant import QdrantServer

LEASE: Final = 2.0  # seconds
QUESTION = "What does the robot"
BUDGETS = ", ".join(f"{holder} 1000000 questions day" for holder in ("person", "channel", "community"))  # all count
SECRET = "a secret that is long enough for a test"
LISTENERS = ("discord", "slack")
WORKERS = ("worker-1", "worker-2")
REST = 60.0  # seconds for everything that is under way
TAKEN = 5.0  # seconds until somebody works on what is tried again
LOOK = 0.05  # seconds between two looks at what nobody tells of
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
    fsync: str
    deeds: Deeds = field(default_factory=Deeds)
    asked: dict[int, Asked] = field(default_factory=dict[int, Asked])
    pending: dict[int, Asked] = field(default_factory=dict[int, Asked])
    _pressed: dict[int, tuple[Scene, float]] = field(default_factory=dict[int, tuple[Scene, float]])
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _orders: itertools.count[int] = field(default_factory=itertools.count)

    @property
    def communities(self) -> Sequence[Community]:
        """Give both platforms."""
        return (self.discord, self.slack)

    # People

    def ask(self, platform: str, place: str = "", how: str = "") -> Asked:
        """Let somebody mention the bot, in a thread of people if it is named; how else, a community says."""
        number = next(self._numbers)
        if how == "direct":
            self._told(number, platform)
        return self._note(self.on(platform).ask(number, self._text(number), place, how))

    def command(self, platform: str, *, private: bool = False) -> Asked:
        """Let somebody ask by a command; what is posted twice by what Slack offers for a private answer is left out."""
        number = next(self._numbers)
        while private and len(words(number)) > SHORT:
            number = next(self._numbers)
        if private:
            self.deeds.private.add(number)
        self._told(number, platform)
        return self._note(self.on(platform).command(number, self._text(number), private=private))

    def edit(self, asked: Asked) -> None:
        """Let whoever asked ask something else by the same message."""
        number = next(self._numbers)
        self.record.tell(f"edited: {asked.name}")
        self._told(number, asked.platform)
        del self.asked[asked.number]
        self.pending.pop(asked.number, None)
        self.record.open.pop(asked.name, None)
        self.deeds.former[number] = asked.number
        self._note(self.on(asked.platform).edit(asked, number, self._text(number)))

    def delete(self, asked: Asked) -> None:
        """Let whoever asked delete the question."""
        self.record.tell(f"deleted: {asked.name}")
        self._told(-asked.number, asked.platform)
        self.deeds.withdrawn.add(asked.number)
        self.on(asked.platform).delete(asked)

    def forget(self, asked: Asked) -> Callable[[], bool]:
        """Let whoever asked be forgotten; the answer may stay. Give what says whether that was confirmed."""
        self.record.tell(f"forgotten: {asked.name}")
        self._told(-asked.number, asked.platform)
        self.deeds.withdrawn.add(asked.number)
        if asked.message in self.record.active:
            self.deeds.known.add(asked.number)
        is_told = self.deeds.forgotten[asked.number] = self.on(asked.platform).forget(asked)
        return is_told

    def retry(self) -> int:
        """Let those try again who got an apology instead of an answer; give how many can."""
        again = [self.asked[number] for number in self.ended(Ending.EXCUSED)]
        before = {asked.number: self.scene(asked.platform, asked.place) for asked in again}
        pressed = [asked for asked in again if self.on(asked.platform).press(asked, RETRIES)]
        for asked in pressed:
            self.model.begin_again(asked.number)
            self.record.begin_again(asked.name, self.on(asked.platform).message_of(asked))
            self._pressed[asked.number] = before[asked.number], time.monotonic() + TAKEN
        self.pending |= {asked.number: asked for asked in pressed}
        return len(pressed)

    def _told(self, key: int, platform: str) -> None:
        """Take note of what a platform tells once."""
        self.attention.asked(key, platform, is_heard=self._listens(platform))

    def _listens(self, platform: str) -> bool:
        process = self.host.processes[platform]
        return process.pid is not None and not process.is_frozen and self.on(platform).is_heard()

    def secrets(self) -> Iterable[str]:
        """Give what must not be written anywhere: words of questions, names, and all that opens something."""
        others = (one for each in self.communities for one in each.secrets())
        return SECRET, self.model.key, self.cohere.key, QUESTION, *others

    @staticmethod
    def _text(number: int) -> str:
        return f"{QUESTION} {ROBOTS[number % len(ROBOTS)]} carry? q{number}"

    def _note(self, asked: Asked) -> Asked:
        self.asked[asked.number] = self.pending[asked.number] = asked
        self.record.tell(asked)
        self.record.begin(asked.name)
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
        """Wait until no question is left for which one more death would be one too many.

        Whoever takes a question and dies at once tells nobody of it, but has written it down.
        """
        async with asyncio.timeout(REST):
            while any(hits >= MOST_HITS - 1 for hits in [*self.record.hits.values(), *await self._deaths()]):
                await asyncio.sleep(LOOK)
                if not await unsettled(self.store):
                    self.record.hits.clear()  # whoever settled it died before it could tell

    async def _deaths(self) -> list[int]:
        """Count the workers that have died over each question, as the store knows it: all that began it but one."""
        held = set[str]().union(*self.record.held.values())
        return [count - (question in held) for question, count in (await attempts(self.store)).items()]

    # What can be seen

    def scenes(self) -> dict[str, Scene]:
        """Give every place where somebody has asked."""
        places = dict.fromkeys((asked.platform, asked.place) for asked in self.asked.values())
        return {f"{platform} {place}": self.scene(platform, place) for platform, place in places}

    def scene(self, platform: str, place: str) -> Scene:
        """Give what is to be seen in a place, and what nobody can know any more of what was asked by a command."""
        found, deeds, record = self.on(platform).scene(place), self.deeds, self.record
        names = {number: self.asked[number].name for number in found.asked if number in self.asked}
        is_told_once = place.startswith(("/", "direct"))
        return replace(
            found,
            gone=frozenset(n for n, name in names.items() if is_told_once and self._may_be_unknown(n, name)),
            withdrawn=frozenset(deeds.withdrawn.intersection(names)),
            stopped=frozenset(deeds.stopped.intersection(names)),
            former={number: deeds.former[number] for number in names if number in deeds.former},
            kept=frozenset(
                n
                for n, name in names.items()
                if n in deeds.forgotten or record.lost[name] or self._unheard(n, platform)
            ),
        )

    def _may_be_unknown(self, number: int, name: str) -> bool:
        """Say whether nobody knows a question of which no platform tells again; Discord shows no direct messages."""
        asked = self.asked[number]
        message, since = self.on(asked.platform).message_of(asked), self.attention.at(number)
        is_lost = self.record.is_unknown(name, message, asked.platform, since)
        return is_lost or (asked.place.startswith("direct") and self.attention.lapsed(number))

    def _unheard(self, number: int, platform: str) -> bool:
        """Say whether an answer may stay though its question was changed, of which Discord tells once."""
        if number in self.deeds.forgotten:
            return True  # what was answered before stays
        key = number if number in self.deeds.former else -number
        is_changed = number in self.deeds.former or number in self.deeds.withdrawn
        return is_changed and platform == self.discord.name and self.attention.lapsed(key)

    async def wrongs(self) -> list[Wrong]:
        """Give all that is wrong anywhere."""
        turns, spending = await turns_of(self.store, Seal([SECRET])), await spending_of(self.store)
        scenes = self.scenes()
        ended = {number: ending for scene in scenes.values() for number, ending in endings(scene).items()}
        told = {number: scene.words_of(number) for scene in scenes.values() for number in scene.asked}
        hidden = [
            ("behind", wrong)
            for number in ended
            for wrong in wrongs_behind(number, self._behind(number, ended[number], turns[told[number]], spending))
        ]
        hidden += [("budgets", wrong) for wrong in wrongs_of(spending)]
        found = [(at, wrong) for at, scene in scenes.items() for wrong in wrongs(scene)]
        ignored = [n for n, how in ended.items() if how is Ending.UNHEARD and not self.attention.lapsed(n)]
        found += [("commands", Wrong(Kind.LOST, f"q{number} was not heard, and should be")) for number in ignored]
        strays = [(each.name, Wrong(Kind.STRAY, text[:80])) for each in self.communities for text in each.strays()]
        return [replace(wrong, what=f"{at}: {wrong.what}") for at, wrong in (*found, *strays, *hidden)]

    async def is_remembering(self) -> bool:
        """Say whether a question is remembered that was deleted while nobody heard it."""
        unheard = [n for n in self.deeds.withdrawn - self.deeds.forgotten.keys() if self.attention.lapsed(-n)]
        return bool(unheard) and not (await turns_of(self.store, Seal([SECRET]))).keys().isdisjoint(unheard)

    def _behind(self, number: int, ending: Ending, turns: int, spending: Spending) -> Behind:
        losses, begun, deeds = self.losses(number), self.losses(number, is_open=True), self.deeds
        message = self.on(self.asked[number].platform).message_of(self.asked[number])
        message, changed = message if number not in deeds.private else "", {*deeds.former, *deeds.withdrawn}
        known = Behind(ending, self.model.given(number), turns, losses, self._memory(number, losses), begun)
        counted, is_held = (spending.counted(message), spending.is_held(message)) if message else (None, False)
        return replace(known, counted=counted, is_held=is_held, was_changed=number in changed)

    def losses(self, number: int, *, is_open: bool = False) -> int:
        """Give how often the store lost what it knew of a question, or only while that was *open*."""
        asked, lost = self.asked[number], self.record.lost_open if is_open else self.record.lost
        return max(lost[asked.name], lost[self.on(asked.platform).message_of(asked)])

    def _memory(self, number: int, losses: int) -> frozenset[int]:
        """Give how many turns may be remembered of what is private, or of somebody who is forgotten."""
        if number in self.deeds.private:
            return frozenset({0})
        is_forgotten = self.deeds.forgotten.get(number)
        if is_forgotten is None:
            return frozenset()
        is_due = number in self.deeds.known and is_forgotten()  # what is heard after it is a new question
        return frozenset({0} if is_due and not losses else {0, 1})

    def ended(self, how: Ending) -> list[int]:
        """Give the questions that ended in a way."""
        ended = (endings(scene) for scene in self.scenes().values())
        return [number for each in ended for number, ending in each.items() if ending is how]

    def look(self) -> None:
        """Take note of the questions that are over."""
        for number, asked in list(self.pending.items()):
            scene, (before, until) = self.scene(asked.platform, asked.place), self._pressed.get(number, (None, 0.0))
            if scene == before and time.monotonic() < until:
                continue  # what stands there is the apology that is tried again
            self._pressed.pop(number, None)
            if endings(scene)[number] is not Ending.PENDING:
                self.record.over(asked.name, self.on(asked.platform).message_of(asked))
                del self.pending[number]

    async def settled(self, *, seconds: float = REST) -> None:
        """Wait until every question is over, for people and for the bot. Raises `TimeoutError` with what is not."""
        try:
            async with asyncio.timeout(seconds):
                while self.pending or await unsettled(self.store):
                    await asyncio.sleep(LOOK)
                    self.look()  # nothing tells when it is too late to hear a command
        except TimeoutError as error:
            left = [f"q{number} on {asked.platform}" for number, asked in self.pending.items()]
            raise TimeoutError(f"still open after {seconds:g} s: {left}, {await self.wrongs()}") from error

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
async def rig(
    folder: Path, *, doubled: bool = False, fsync: str = FSYNCS[0], several: bool = False
) -> AsyncGenerator[Rig]:
    """Run everything. A *doubled* store has a replica; any other writes to its disk as *fsync* says.

    With *several* workspaces, Slack has two, each with channels, people and a token of its own.
    """
    async with contextlib.AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(folder / "redis", doubled=doubled, fsync=fsync))
        model, cohere, qdrant = NumberingModel(), CohereServer(), QdrantServer()
        discord, slack = OnDiscord(), OnSlack(is_several=several)
        for server in (model, cohere, qdrant, discord.open(), slack.open()):
            await stack.enter_async_context(server)
        settings = {
            "FOOTNOTE_SECRET_KEY": SECRET,
            "FOOTNOTE_LEASE_SECONDS": f"{LEASE:g}",
            "FOOTNOTE_QUESTIONS_PER_MINUTE": "1000",
            "FOOTNOTE_BUDGETS": BUDGETS,
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
        settings["FOOTNOTE_COMMUNITIES"] += f",{slack.community}"  # which no store can lose
        await _ingest(settings, folder / "ingestion")
        async with connect(f"redis://127.0.0.1:{store.node.port}/0") as client:
            await slack.install(RedisVault(client, seal=Seal([SECRET])))
        processes = folder / "processes"
        processes.mkdir(parents=True)
        record, attention = Record(), Attention()
        model.told = record.tell
        host = Host(processes, record.take, disturbed=attention.disturb)
        await stack.enter_async_context(host.open())
        running = Rig(host, store, model, cohere, qdrant, discord, slack, record, attention, fsync)
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
        await app.index.record(SourceRecord(name=SOURCE.name, audience=Audience(everyone=True)))
    assert len(steps) == len(ROBOTS) + 1


def _thaw(host: Host) -> None:
    """Let no process stay frozen."""
    for name in host.processes:
        host.signal(name, signal.SIGCONT)
