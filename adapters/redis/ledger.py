"""What the inbox writes down: questions, their order, and who works on them; what people wrote is sealed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote
from uuid import uuid4

from adapters.redis import inbox_scripts as scripts
from adapters.redis import queue_scripts, signal_scripts
from adapters.redis.blocking import bounded
from adapters.redis.clock import waking_time
from adapters.redis.connection import translated
from adapters.redis.failure import UNREACHABLE
from adapters.redis.inbox_scripts import PRELUDE
from adapters.redis.scribe import PREFIX, READY, Scribe, Script, Words
from adapters.redis.seal import Seal
from core.errors import StoreUnavailable
from core.model import (
    Asked,
    AskedAgain,
    Claim,
    Deleted,
    Delivery,
    Edited,
    Interaction,
    Interruption,
    MessageRef,
    Question,
    Recheck,
    ReplyAddress,
    Signal,
    Stopped,
    Task,
    ThreadRef,
    WaitNotice,
    Withdrawal,
    WorkspaceRef,
)

if TYPE_CHECKING:
    from redis.asyncio import Redis

SIGNALS, GROUP = f"{PREFIX}signals", "workers"
LIFE = timedelta(days=3)  # since something was last heard of a question; as long is a repetition noticed
EARLY = timedelta(minutes=10)  # for what was heard of a question before itself
KEPT = timedelta(hours=1)  # for the words of a question that failed
GIVEN_UP = timedelta(days=1)  # for the words of a question that nobody tries any more, so that an operator can
ACCEPTED = timedelta(minutes=30)  # for a question whose place nobody finds; no way back to a person is open for longer
PAUSE = 0.1  # seconds between two tries to accept a question, while somebody waits
TOO_LATE = -1
WITHDRAWN = -1  # the revision of a question that is gone
UNREADABLE = "The stored question cannot be read: FOOTNOTE_SECRET_KEY has changed, or another version wrote it."


@dataclass(frozen=True, slots=True)
class Hold:
    """What shows that somebody works on a question.

    It is the entry of its thread, how often it was taken, and a name that no other hold has.
    """

    message: MessageRef
    entry: str
    fence: int
    revision: int
    name: str

    @property
    def words(self) -> Words:
        """The hold as scripts take it."""
        return str(self.message), str(self.message.thread), self.entry, f"{self.fence} {self.name}", self.revision


@dataclass(frozen=True, slots=True)
class Bounds:
    """For how many seconds a task is held, and how many are held at once for one person and for one workspace.

    `accepted` are the seconds for which one process looks for the place of a question that was asked by a command.
    """

    lease: float = 30.0
    per_person: int = 4
    per_workspace: int = 1_000
    accepted: float = 30.0


@dataclass(frozen=True, slots=True)
class Taken:
    """A task, and the hold on it.

    It is held *since* the moment before the server was asked, by `waking_time`; *failures* are the attempts before it
    that failed, those not counted which ended with their process.
    """

    task: Task
    hold: Hold
    since: float
    failures: int = 0


class Ledger:
    """Does each step of the inbox on the server, as one script that may be repeated. Raises `StoreUnavailable`."""

    def __init__(self, client: Redis, blocking: Redis, *, seal: Seal, life: timedelta = LIFE) -> None:
        self._client = client
        self._blocking = blocking
        self.scribe = Scribe(client, seal, life)
        script = self.scribe.script
        self._ask, self._edit = script(signal_scripts.ASK), script(signal_scripts.EDIT)
        self._delete, self._stop = script(signal_scripts.DELETE), script(signal_scripts.STOP)
        self._retry, self._forget = script(signal_scripts.RETRY), script(signal_scripts.FORGET)
        self._due, self._take, self._renew = script(scripts.DUE), script(scripts.TAKE), script(scripts.RENEW)
        self._settle, self._fail = script(scripts.SETTLE), script(scripts.FAIL)
        self._hand_back, self._keep = script(scripts.HAND_BACK), script(scripts.KEEP)
        self._record, self._sweep, self._reap = script(scripts.RECORD), script(scripts.SWEEP), script(scripts.REAP)
        self._doubt, self._waiting = script(signal_scripts.DOUBT), script(queue_scripts.WAITING)
        named = self.scribe.named
        self._accept, self._overdue = named("accept", PRELUDE), named("overdue", PRELUDE)
        self._announce = named("announce", PRELUDE)

    async def put(self, signal: Signal) -> bool:
        """Write down what happened; say whether it changes anything."""
        match signal:
            case Asked():
                return await self.ask(signal)
            case Edited(question=question):
                return await self._put(self._edit, signal, *self._words(question))
            case Deleted():
                return await self._put(self._delete, signal)
            case Stopped():
                return await self._put(self._stop, signal)
            case AskedAgain():
                return await self._put(self._retry, signal)
            case Recheck(question=question):
                return await self._put(self._doubt, signal, *self._words(question))

    async def ask(self, asked: Asked, *, accepted: MessageRef | None = None) -> bool:
        """Write down a question, and that it is no longer what was *accepted*; False if either was known before."""
        question = asked.question
        words = *self._words(question), *self._address(question, asked.address), _asked_at(question)
        return await self._put(self._ask, asked, *words, str(accepted or ""))

    async def accept(self, asked: Asked, *, within: float, lease: float) -> bool:
        """Write down a question without a thread, again and again while there is time. Raises `StoreUnavailable`."""
        question, latest = asked.question, asyncio.get_running_loop().time() + within
        text, person, home = self._words(question)
        address, token, expires = self._address(question, asked.address)
        words = {"ref": str(asked.message), "platform": _platform(question.thread.platform)} | {
            "person": person,
            "home": home,
            "text": text,
            "address": address,
            "token": token,
            "expires": expires,
            "lease": _milliseconds(lease),
            "kept": ACCEPTED // timedelta(milliseconds=1),
        }
        with suppress(TimeoutError):
            async with asyncio.timeout_at(latest):
                while True:
                    with suppress(StoreUnavailable):
                        now = cast("int", await self._accept(**words, latest=""))
                        left = latest - asyncio.get_running_loop().time()
                        done = await self._accept(**words, latest=now + _milliseconds(left))
                        if done != TOO_LATE:
                            return done == 1
                    await asyncio.sleep(PAUSE)
        raise StoreUnavailable(UNREACHABLE)

    async def overdue(self, platform: str, *, lease: float) -> Asked | None:
        """Take over a question of whoever has not moved it in time; what cannot be read any more is dropped."""
        words = {"platform": _platform(platform), "lease": _milliseconds(lease)}
        while found := cast("list[bytes | None] | None", await self._overdue(**words)):
            ref, text, address, token = found
            message = MessageRef.parse((ref or b"").decode())
            question = self.scribe.unsealed(message, "text", text, Question)
            if question is not None:
                return Asked(question=question, address=self._place(message, address, token))
            await self.put(Deleted(message=message))
        return None

    async def knows(self, message: MessageRef) -> bool:
        """Look whether a message is a question."""
        with translated():
            state = await cast("Awaitable[bytes | None]", self._client.hget(f"{PREFIX}question:{message}", "state"))
        return state not in (None, b"early")

    async def running(self, thread: ThreadRef) -> Question | None:
        """Look at the first question of a thread, unless it is gone."""
        with translated():
            first = await cast("Awaitable[bytes | None]", self._client.lindex(f"{PREFIX}thread:{thread}", 0))
            if first is None:
                return None
            message = MessageRef.parse(first.decode())
            text = await cast("Awaitable[bytes | None]", self._client.hget(f"{PREFIX}question:{message}", "text"))
        return self.scribe.unsealed(message, "text", text, Question)

    async def announce(self, message: MessageRef, notice: WaitNotice) -> bool:
        """Note what is said below a question, as long as nobody has had that."""
        sealed = self.scribe.sealed(message, "delivery", Delivery(notice=notice))
        return await self._announce(ref=str(message), delivery=sealed) == 1

    async def waiting(self) -> int:
        """Count the questions that wait."""
        return cast("int", await self._waiting())

    async def forget_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Remove the words of every question of a person, each as one step; give the number of those that had any."""
        return await self._forget_all(_person(home, person_id), home)

    async def forget_workspace(self, home: WorkspaceRef) -> int:
        """Do the same for everybody of a workspace."""
        return sum([await self._forget_all(person, home) for person in await self._noted(f"workspace:{home}")])

    async def due(self) -> float | None:
        """Bring forward what has waited long enough; give the seconds until the next, None if nothing waits."""
        milliseconds = cast("int", await self._due())
        return None if milliseconds < 0 else milliseconds / 1000

    async def read(self, consumer: str, *, block: float, count: int = 1) -> list[tuple[str, str]]:
        """Wait at most *block* seconds for threads that have something to do; give the entry and the name of each."""
        milliseconds = max(_milliseconds(block), 1)
        read = cast("Awaitable[Any]", self._blocking.xreadgroup(GROUP, consumer, {READY: ">"}, count, milliseconds))
        streams = cast("dict[bytes, list[tuple[bytes, dict[bytes, bytes]]]]", await bounded(read, block=block))
        return [(entry.decode(), fields[b"thread"].decode()) for entry, fields in streams.get(READY.encode(), ())]

    async def sweep(self, consumer: str, *, lease: float) -> tuple[str, str] | None:
        """Return a thread that somebody else has shown no sign of life of for *lease* seconds, as `read` does."""
        found = cast("list[bytes] | None", await self._sweep(consumer, _milliseconds(lease)))
        return (found[0].decode(), found[1].decode()) if found else None

    async def take(self, consumer: str, entry: str, thread: str, bounds: Bounds) -> Taken | None:
        """Take the first question of a thread.

        None if there is none, if it is not for *consumer* any more, or if it has to wait until less is done at once for
        whoever asks: then it comes by itself.
        """
        limits, name, since = (bounds.per_person, bounds.per_workspace), uuid4().hex, waking_time()
        words = consumer, thread, _milliseconds(bounds.lease), *limits, name
        found = cast("list[Any] | None", await self._take(entry, *words))
        if not found:
            return None
        taken = self._taken(entry, name, found, since)
        if isinstance(taken, Hold):
            await self.bury(taken, None, reason=UNREADABLE)
            return None
        return taken

    async def renew(self, hold: Hold, consumer: str, *, lease: float) -> Interruption | None:
        """Say that the task is worked on for *lease* seconds more; give what has happened to it meanwhile."""
        found = cast("int", await self._renew(*hold.words, consumer, _milliseconds(lease)))
        return Interruption(found) if found else None

    async def record(self, hold: Hold, delivery: Delivery) -> bool:
        """Keep which messages belong to the question, if the task is still ours."""
        sealed = self.scribe.sealed(hold.message, "delivery", delivery)
        return await self._record(*hold.words, sealed) == 1

    async def keep(self, hold: Hold, task: Task) -> bool:
        """Keep the words of the question beyond its end, without those of others, if the task is still ours."""
        return await self._keep(*hold.words, *self._kept(task, KEPT)) == 1

    async def settle(self, hold: Hold) -> bool:
        """Conclude the task, if it is still ours; what changed meanwhile comes next."""
        return await self._settle(*hold.words) == 1

    async def hand_back(self, hold: Hold) -> bool:
        """Return the task to whoever is next, as if it had not been taken, if it is still ours."""
        return await self._hand_back(*hold.words) == 1

    async def delay(self, hold: Hold, *, seconds: float) -> bool:
        """Let the task wait for its next attempt, if it is still ours."""
        return await self._fail(*hold.words, _milliseconds(seconds)) == 1

    async def bury(self, hold: Hold, task: Task | None, *, reason: str) -> bool:
        """Lay the task aside as dead, if it is still ours, and keep the question's words for longer than `keep` does.

        None is a task whose words cannot be read.
        """
        return await self._fail(*hold.words, "", reason, *self._kept(task, GIVEN_UP)) == 1

    async def reap(self, consumer: str, held: Collection[str]) -> None:
        """Return back what the server handed to *consumer* without its knowledge, as the answer was lost."""
        await self._reap(consumer, *held)

    async def signals(self, after: str, *, block: float) -> tuple[str, tuple[str, ...]]:
        """Wait at most *block* seconds for messages that something has happened to; give where to read on, and them."""
        read = cast("Awaitable[Any]", self._blocking.xread({SIGNALS: after}, block=max(_milliseconds(block), 1)))
        streams = cast("dict[bytes, list[tuple[bytes, dict[bytes, bytes]]]]", await bounded(read, block=block))
        entries = streams.get(SIGNALS.encode(), [])
        last = entries[-1][0].decode() if entries else after
        return last, tuple(fields[b"message"].decode() for _, fields in entries)

    async def _put(self, script: Script, signal: Signal, *words: str | bytes | int) -> bool:
        revision = signal.question.revision if isinstance(signal, Asked | Edited | Recheck) else 0
        return await self._about(script, signal.message, revision, *words)

    async def _about(self, script: Script, message: MessageRef, revision: int, *words: str | bytes | int) -> bool:
        early = EARLY // timedelta(milliseconds=1)
        return await script(str(message), str(message.thread), revision, early, *words) == 1

    async def _forget_all(self, person: str, home: WorkspaceRef) -> int:
        messages = [MessageRef.parse(ref) for ref in await self._noted(f"person:{person}")]
        return sum([await self._about(self._forget, message, 0, person, str(home)) for message in messages])

    async def _noted(self, index: str) -> list[str]:
        with translated():
            members = await self._client.zrange(PREFIX + index, 0, -1)  # pyright: ignore[reportUnknownMemberType] - an option of it is untyped
        return [member.decode() for member in cast("list[bytes]", members)]

    def _words(self, question: Question) -> Words:
        """Return the question, sealed, and whose it is."""
        home = question.thread.home
        return self.scribe.sealed(question.message, "text", question), _person(home, question.author.id), str(home)

    def _kept(self, task: Task | None, life: timedelta) -> Words:
        """Return what is kept of a task, sealed, and for how long: nothing that others have written."""
        if not isinstance(task, Claim):
            return "", 0
        alone = task.question.model_copy(update={"context": ()})
        return self.scribe.sealed(task.message, "text", alone), life // timedelta(milliseconds=1)

    def _address(self, question: Question, address: ReplyAddress | None) -> Words:
        """Return the address, the token with which somebody may answer for us, and when that expires."""
        if address is None:
            return "", "", 0
        rest = self.scribe.sealed(question.message, "address", address.model_copy(update={"interaction": None}))
        if address.interaction is None:
            return rest, "", 0
        token = self.scribe.sealed(question.message, "interaction", address.interaction)
        return rest, token, int(address.interaction.expires_at.timestamp() * 1000)

    def _place(self, message: MessageRef, address: bytes | None, token: bytes | None) -> ReplyAddress | None:
        place = self.scribe.unsealed(message, "address", address, ReplyAddress)
        interaction = self.scribe.unsealed(message, "interaction", token, Interaction)
        return place and place.model_copy(update={"interaction": interaction})

    def _taken(self, entry: str, name: str, found: list[Any], since: float) -> Taken | Hold:
        """Read what was taken; the bare hold if the question cannot be read."""
        ref, attempt, fence, token, revision, text, address, delivery, concluded, deleted, stopped, *more = found
        failures, was_released = int(more[0] or 0), bool(more[1])
        message = MessageRef.parse(ref.decode())
        posted = self.scribe.unsealed(message, "delivery", delivery, Delivery) or Delivery()
        hold = Hold(message, entry, fence, WITHDRAWN if deleted else int(revision), name)
        if deleted:
            withdrawal = Withdrawal(message, attempt, fence, posted, was_released=was_released)
            return Taken(withdrawal, hold, since, failures)
        question = self.scribe.unsealed(message, "text", text, Question)
        if question is None:
            return hold
        place = self._place(message, address, token)
        claim = Claim(question, attempt, fence, posted, place, is_update=bool(concluded), was_released=was_released)
        if stopped:
            claim.cancelled.set(Interruption.STOPPED)
        return Taken(claim, hold, since, failures)


def _asked_at(question: Question) -> int:
    return int(question.asked_at.timestamp() * 1000)


def _platform(name: str) -> str:
    """Name a platform as the places of questions begin."""
    return quote(name, safe="")


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)


def _person(home: WorkspaceRef, person_id: str) -> str:
    return f"{home}:{quote(person_id, safe='')}"
