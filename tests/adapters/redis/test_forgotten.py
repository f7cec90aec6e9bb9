"""Who or what is forgotten: no key holds a word of it, whatever happened before, and all that others wrote is there."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from random import Random
from typing import cast

import pytest
from redis.asyncio import Redis

from adapters.redis.community import RedisPolicies, RedisVotes
from adapters.redis.connection import connect
from adapters.redis.conversations import RedisConversations
from adapters.redis.dedup import RedisDedup
from adapters.redis.inbox import RedisInbox
from adapters.redis.inbox_store import PREFIX, QUESTION
from adapters.redis.quota import RedisQuota
from adapters.redis.secrets import VERSION, Seal
from core.community.moderation import Forgetting
from core.errors import StoreUnavailable
from core.model import (
    Answer,
    AnyPlace,
    Asked,
    AskedAgain,
    Budget,
    ChannelRef,
    Claim,
    Cost,
    Deleted,
    Edited,
    Holder,
    Interaction,
    Message,
    MessageRef,
    Period,
    Person,
    Question,
    ReplyAddress,
    Reservation,
    Status,
    Task,
    ThreadRef,
    Turn,
    Vote,
    WorkspaceRef,
)
from tests.adapters.redis.desk import Desk
from tests.builders import NOON
from tests.fakes.vault import MemoryVault
from tests.fixtures.redis import all_keys, say
from tests.inboxes import PATIENCE, POSTED, SECRET
from tests.portion import examples
from tests.servers.clock import ServerClock
from tests.servers.valkey import Node

SOON = 0.05  # seconds in which a question comes that can be taken, if all is well; what does not come is left
DAY = 24 * 3600
THREADS = [
    ThreadRef(platform="test", workspace=workspace, channel=channel, thread=thread)
    for workspace, channel, thread in (
        *(("w", "c", "1"), ("w", "c", "12"), ("w", "cd", "1"), ("wx", "c", "1")),
        *(("e/1", "c", "1"), ("e/2", "c", "1"), ("e", "c", "1"), ("ex/1", "c", "1")),
    )
]
PEOPLE = [Person(id=f"somebody{number}:{{}}", name=f"Some{number}") for number in range(3)]


@dataclass
class History:
    """What people did, at random, and what they wrote: each time a word that nobody else has."""

    client: Redis
    inbox: RedisInbox
    conversations: RedisConversations
    votes: RedisVotes
    quota: RedisQuota
    dedup: RedisDedup
    clock: ServerClock
    chance: Random
    said: list[tuple[Person, Question]] = field(default_factory=list[tuple[Person, Question]])
    held: list[tuple[Task, AsyncExitStack]] = field(default_factory=list[tuple[Task, AsyncExitStack]])
    quoted: list[tuple[Person, Question]] = field(default_factory=list[tuple[Person, Question]])
    deleted: set[MessageRef] = field(default_factory=set[MessageRef])
    ahead: int = 0

    def word(self) -> str:
        """Make up a word."""
        return f"word{len(self.said)}x{len(self.quoted)}said"

    def asks(self) -> Question:
        """Let somebody write a question somewhere, often below what others have written."""
        message = MessageRef(thread=self.chance.choice(THREADS), id=f"m{len(self.said)}")
        author = self.chance.choice(PEOPLE)
        question = Question.create(message=message, text=f"What is {self.word()}?", author=author, asked_at=NOON)
        self.said.append((author, question))
        return self.quoting(question)

    def quoting(self, question: Question) -> Question:
        """Quote what some people have written to a question."""
        for person in self.chance.sample(PEOPLE, self.chance.choice([0, 0, 1, 2])):
            line = Message(role="user", text=f"A {self.word()}.", author=person.name, author_id=person.id)
            question = question.model_copy(update={"context": (*question.context, line)})
            self.quoted.append((person, question.model_copy(update={"text": line.text})))
        return question

    async def ask(self) -> None:
        """Ask, in a thread."""
        await self.inbox.put(Asked(question=self.asks()))

    async def command(self) -> None:
        """Ask by a command, of which nobody may know as yet where it goes."""
        question = self.asks()
        token = Interaction(id="i", token="t", expires_at=datetime.now(UTC) + timedelta(minutes=15))
        asked = Asked(question=question, address=ReplyAddress(thread=question.message.thread, interaction=token))
        await self.inbox.accept(asked, within=5.0)
        if self.chance.random() < 0.5:
            message = question.message.model_copy(update={"id": f"moved{len(self.said)}"})
            await self.inbox.move(question.message, Asked(question=question.model_copy(update={"message": message})))

    async def edit(self) -> None:
        """Change a question, which may not have come yet, may be done, or gone."""
        if not self.said:
            return
        author, question = self.chance.choice(self.said)
        if self.chance.random() < 0.2:
            question = question.model_copy(update={"message": question.message.model_copy(update={"id": "early"})})
        changed = {"revision": len(self.said) + 1, "text": f"What is {self.word()}?"}
        self.said.append((author, question.model_copy(update=changed)))
        await self.inbox.put(Edited(question=self.quoting(self.said[-1][1])))

    async def retry(self) -> None:
        """Have a question tried again that failed."""
        if self.said:
            author, question = self.chance.choice(self.said)
            await self.inbox.put(AskedAgain(message=question.message, by=author))

    async def delete(self) -> None:
        """Delete a question."""
        if self.said:
            self.deleted.add(self.chance.choice(self.said)[1].message)
            for message in self.deleted:
                await self.inbox.put(Deleted(message=message))

    async def vote(self) -> None:
        """Think something of an answer."""
        person, home = self.chance.choice(PEOPLE), self.chance.choice(THREADS).home
        await self.votes.cast(home, Vote(answer_id="a", person_id=person.id, is_helpful=True, at=NOON))

    async def speak(self) -> None:
        """Say something in a thread that is no question, of which is noted who did."""
        await self.conversations.hear(self.chance.choice(THREADS), self.chance.choice(PEOPLE).id, NOON)

    async def be_counted(self) -> None:
        """Ask as much as is allowed and once more, of which some is settled."""
        if not self.said:
            return
        _, question = self.chance.choice(self.said)
        budgets = tuple(Budget(holder=Holder.PERSON, period=each, most=2) for each in (Period.MINUTE, Period.DAY))
        run = f"run{self.chance.random()}"
        asked = Reservation(question=question, run=run, most=Cost(questions=1), budgets=budgets, at=NOON)
        if reached := await self.quota.reserve(asked):
            await self.quota.turn_away(question, reached, NOON)
        elif self.chance.random() < 0.5:
            await self.quota.settle(asked, Cost(questions=1))

    async def be_told(self) -> None:
        """Hear why there is no answer, which is noted."""
        person, home = self.chance.choice(PEOPLE), self.chance.choice(THREADS).home
        await self.dedup.changed("refused:paused", "now", person=f"{home}:{person.id}")

    async def take(self) -> None:
        """Begin to work on a question, if there is one."""
        stack = AsyncExitStack()
        with suppress(TimeoutError):
            self.held.append((await self._next(stack), stack))

    async def answer(self) -> None:
        """Answer what is worked on, and remember it."""
        if self.held:
            task, stack = self.held.pop()
            await self._remember(task)
            await stack.aclose()

    async def fall_short(self) -> None:
        """Answer it in a way that can be tried again."""
        if self.held:
            task, stack = self.held.pop()
            await self.inbox.keep(task)
            await stack.aclose()

    async def fail(self) -> None:
        """Fail at it; after some times it is given up."""
        if self.held:
            _, stack = self.held.pop()
            error = ValueError()
            await stack.__aexit__(ValueError, error, None)

    async def wait(self) -> None:
        """Let time pass, without a process that works on anything."""
        while self.held:
            await self.answer()
        self.ahead += self.chance.choice([1800, 20 * 3600, 2 * DAY, 3 * DAY - 60])
        self.clock.put(ahead=self.ahead)
        with suppress(StoreUnavailable):  # once: what the inbox reads has expired
            await self.take()

    async def finish(self) -> None:
        """Do all that is left to do, so that what waited is remembered."""
        async with asyncio.timeout(PATIENCE):
            while any(name.startswith(f"{PREFIX}thread:".encode()) for name in await all_keys(self.client)):
                await self.take()
                while self.held:
                    await self.answer()

    async def stored(self) -> str:
        """Return all that every key holds, with the names of the keys, unsealed."""
        return "\n".join([text for name in await all_keys(self.client) async for text in self._texts(name.decode())])

    async def _texts(self, name: str) -> AsyncIterator[str]:
        yield name
        kind, seal = cast("bytes", await say(self.client, "TYPE", name)), Seal([SECRET])
        match kind:
            case b"string":
                place = re.sub(rf"^{re.escape(PREFIX)}(retry):(.*)", rf"{QUESTION}\2 text", name)
                place = re.sub(rf"^{re.escape(PREFIX)}(interaction):(.*)", rf"{QUESTION}\2 interaction", place)
                values = {place: cast("bytes", await say(self.client, "GET", name))}
            case b"hash":
                fields = cast("dict[bytes, bytes]", await say(self.client, "HGETALL", name))
                values = {f"{name} {field.decode()}": each for field, each in fields.items()}
            case b"list":
                found = cast("list[bytes]", await say(self.client, "LRANGE", name, "0", "-1"))
                entries = [entry.partition(b" ") for entry in found]
                values = {f"{name} {ref.decode()}": sealed or ref for ref, _, sealed in entries}
            case _:
                yield repr(await say(self.client, "DUMP", name))
                return
        for place, value in values.items():
            text = seal.read(str, value, place=place)
            assert text is not None or not value.startswith(VERSION), f"{place} cannot be read"
            yield text or value.decode(errors="replace")

    async def _next(self, stack: AsyncExitStack) -> Task:
        async with asyncio.timeout(SOON):
            task = await stack.enter_async_context(self.inbox.claim())
        await self.inbox.record(task, POSTED)
        return task

    async def _remember(self, task: Task) -> None:
        if not isinstance(task, Claim):
            await self.conversations.remove(task.message)
            return
        asked = task.question
        said = "".join(each.text for each in (asked, *asked.context))
        turn = Turn.of(asked, Answer(id="a", text=said, status=Status.ANSWERED), (), at=NOON, past=())
        if self.chance.random() < 0.5:  # the answer stands in the channel, which is noted
            outside = task.message.thread.model_copy(update={"thread": task.message.thread.channel})
            turn = turn.model_copy(update={"messages": (MessageRef(thread=outside, id=f"a{len(self.said)}"),)})
        await self.conversations.append(task.message.thread, turn)


STEPS = {
    History.ask: 8,
    History.command: 2,
    History.edit: 3,
    History.retry: 2,
    History.delete: 1,
    History.vote: 2,
    History.speak: 3,
    History.be_counted: 2,
    History.be_told: 2,
    History.take: 10,
    History.answer: 3,
    History.fall_short: 2,
    History.fail: 5,
    History.wait: 3,
}


@asynccontextmanager
async def history(server: Node, clock: ServerClock, seed: int) -> AsyncGenerator[History]:
    """Begin with nothing."""
    clock.put(ahead=0)
    server.say("FLUSHALL")
    url = f"redis://{server.host}"
    async with connect(url) as client, connect(url, blocking=True) as blocking, Desk(client, blocking).inbox() as inbox:
        conversations = RedisConversations(client, ttl=timedelta(days=1), seal=Seal([SECRET]))
        name = Seal([SECRET]).pseudonym
        quota, dedup = RedisQuota(client, pseudonym=name), RedisDedup(client, pseudonym=name)
        yield History(client, inbox, conversations, RedisVotes(client), quota, dedup, clock, Random(seed))


def words(text: str) -> set[str]:
    """Return the words that people said."""
    return set(re.findall(r"word[\dx]+said", text))


ORGANIZATION = "e/"
SEEDS = sorted({*range(examples(60)), 31, 40})
"""In the 31st, an answer to others quotes them; in the 40th, a question fails in the minute before it expires."""
SCOPES: list[AnyPlace | Person | str] = [
    ORGANIZATION,
    PEOPLE[1],
    THREADS[0],
    ChannelRef(platform="test", workspace="w", channel="c"),
    WorkspaceRef(platform="test", workspace="w"),
]


async def forget(past: History, scope: AnyPlace | Person | str, home: WorkspaceRef) -> None:
    """Forget a person in a *home*, a place, or all workspaces of an organization, as where it throws the bot out."""
    policies = RedisPolicies(past.client)
    forgetting = Forgetting(past.conversations, past.votes, past.inbox, policies, MemoryVault())
    match scope:
        case Person(id=person):
            await forgetting.person(home, person)
        case str():
            for each in await policies.workspaces("test"):
                if each.workspace.startswith(scope):
                    await forgetting.farewell(each)
        case _:
            await forgetting.place(scope)


@pytest.mark.promise("forget-person")
@pytest.mark.promise("forget-workspace")
@pytest.mark.parametrize("scope", SCOPES, ids=["organization", "person", "thread", "channel", "workspace"])
@pytest.mark.parametrize("seed", SEEDS)
async def test_no_key_holds_a_word_of_what_is_forgotten(
    server: Node, clock: ServerClock, seed: int, scope: AnyPlace | Person | str
) -> None:
    """Nor the id of who is; what is worked on meanwhile comes to its end, and others lose nothing."""
    async with history(server, clock, seed) as past:
        for step in past.chance.choices(list(STEPS), list(STEPS.values()), k=50):
            await step(past)
        before, home = words(await past.stored()), WorkspaceRef(platform="test", workspace="w")
        await forget(past, scope, home)
        at_once = words(await past.stored())
        await past.finish()
        after = await past.stored()

    def is_forgotten(author: Person, question: Question) -> bool:
        thread = question.message.thread
        if isinstance(scope, str):
            return thread.workspace.startswith(scope)
        is_there = f"{thread}:".startswith(f"{home if isinstance(scope, Person) else scope}:")
        return is_there and (author == scope or not isinstance(scope, Person))

    latest = {question.message: question for _, question in past.said if question.message not in past.deleted}
    written = [*past.said, *past.quoted]
    gone = {word for author, question in written if is_forgotten(author, question) for word in words(question.text)}
    assert (at_once | words(after)).isdisjoint(gone)
    assert words(after) >= (before & words("".join(each.text for each in latest.values()))) - gone
    if isinstance(scope, Person):
        at_home = "".join(line for line in after.splitlines() if "test:w:" in line or "test:w}" in line)
        assert "somebody1" not in at_home
        guessed = sha256(f"{home}:{PEOPLE[1].id}".encode()).hexdigest()[:8]
        assert guessed not in after  # nor by a name that whoever knows the id can make
