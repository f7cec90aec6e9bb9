"""What the inbox writes down: questions, what happens to them, and what becomes of them; their words are sealed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from adapters.redis.connection import Argument, ScriptRunner, translated
from adapters.redis.failure import UNREACHABLE
from adapters.redis.secrets import Seal
from adapters.retry import SIGNAL
from core.errors import StoreUnavailable
from core.events import Observer, Passed, Step, unobserved
from core.model import (
    MOST_ATTEMPTS,
    Asked,
    AskedAgain,
    Backlog,
    DeadLetter,
    Deleted,
    Delivery,
    Edited,
    Interaction,
    MessageRef,
    Question,
    Recheck,
    ReplyAddress,
    Signal,
    Stopped,
    ThreadRef,
    WaitNotice,
    WorkspaceRef,
)

if TYPE_CHECKING:
    from redis.asyncio import Redis

PREFIX = "footnote:inbox:{inbox}:"  # the braces keep all keys on one node of a cluster
QUESTION = f"{PREFIX}question:"  # with its reference, the key of a question; each field is sealed for key and name
PAUSE = 0.1  # seconds between two tries to accept a question, while somebody waits
TOO_LATE = -1


@dataclass(frozen=True, slots=True)
class Bounds:
    """For how many seconds a task is held, and how many are held at once for one person and for one workspace.

    `accepted` are the seconds for which one process looks for the place of a question that was asked by a command.
    """

    lease: float = 30.0
    per_person: int = 4
    per_workspace: int = 1_000
    accepted: float = 30.0


USUAL = Bounds()


@dataclass(eq=False, repr=False, kw_only=True)
class InboxStore:
    """Implements all of the inbox but what workers do. What raises anything raises `StoreUnavailable`."""

    client: Redis = field(kw_only=False)
    seal: Seal
    bounds: Bounds = USUAL
    observer: Observer = unobserved

    def __post_init__(self) -> None:
        self._run = ScriptRunner(self.client, "inbox", "signals", "tasks")
        self.accepted_for = self.bounds.accepted

    async def put(self, signal: Signal) -> bool:
        """Write the signal down; that it is a question is told before.

        A failure may mean that it was written and the answer was lost, so it is written again before anybody is told.
        """
        given: dict[str, Argument] = {"ref": str(signal.message), "thread": str(signal.message.thread)}
        match signal:
            case Asked():
                self.observer(Passed(signal.message, Step.HEARD))
                script, given = "ask", {**self._words(signal.question, signal.address), "accepted": ""}
            case Edited(question=question):
                script, given = "edit", self._words(question)
            case Recheck(question=question):
                script, given = "recheck", {**self._words(question), "most_attempts": MOST_ATTEMPTS}
            case Deleted():
                script = "delete"
            case Stopped():
                script = "stop"
            case AskedAgain():
                script = "retry"
        is_new = await SIGNAL.call(lambda: self._run(script, PREFIX, **given))
        self.observer(Passed(signal.message, Step.PUT))
        return bool(is_new)

    async def accept(self, asked: Asked, *, within: float) -> bool:
        """Write down a question that has no place in a thread as yet, again and again while there is time."""
        latest = asyncio.get_running_loop().time() + within
        given = {**self._words(asked.question, asked.address), "lease": int(self.accepted_for * 1000)}
        with suppress(TimeoutError):
            async with asyncio.timeout_at(latest):
                while True:
                    with suppress(StoreUnavailable):
                        now = await self._run("accept", PREFIX, **given, latest="")
                        left = latest - asyncio.get_running_loop().time()
                        done = await self._run("accept", PREFIX, **given, latest=now + int(left * 1000))
                        if done == 1:
                            self.observer(Passed(asked.message, Step.ACCEPTED))
                        if done != TOO_LATE:
                            return done == 1
                    await asyncio.sleep(PAUSE)
        raise StoreUnavailable(UNREACHABLE)

    async def overdue(self, platform: str) -> Asked | None:
        """Take over what was accepted and not moved in time; what cannot be read any more is dropped."""
        given = {"platform": quote(platform, safe=""), "lease": int(self.accepted_for * 1000)}
        while found := cast("list[bytes | None] | None", await self._run("overdue", PREFIX, **given)):
            ref, text, address, token = found
            name = (ref or b"").decode()
            question = self.seal.read(Question, text, place=f"{QUESTION}{name} text")
            if question is not None:
                return Asked(question=question, address=self._address(name, address, token))
            await self.put(Deleted(message=MessageRef.parse(name)))
        return None

    async def move(self, accepted: MessageRef, asked: Asked) -> bool:
        """Put what was accepted under its own message."""
        self.observer(Passed(asked.message, Step.HEARD))
        given = self._words(asked.question, asked.address)
        is_moved = await self._run("ask", PREFIX, **given, accepted=str(accepted))
        self.observer(Passed(asked.message, Step.MOVED))
        return bool(is_moved)

    async def knows(self, message: MessageRef) -> bool:
        """Look whether a message is a question."""
        with translated():
            state = await cast("Awaitable[bytes | None]", self.client.hget(f"{QUESTION}{message}", "state"))
        return state not in (None, b"early")

    async def running(self, thread: ThreadRef) -> Question | None:
        """Look at the first question of a thread, unless it is gone."""
        with translated():
            first = await cast("Awaitable[bytes | None]", self.client.lindex(f"{PREFIX}thread:{thread}", 0))
            if first is None:
                return None
            key = QUESTION + first.decode()
            text = await cast("Awaitable[bytes | None]", self.client.hget(key, "text"))
        return self.seal.read(Question, text, place=f"{key} text")

    async def announce(self, message: MessageRef, notice: WaitNotice) -> bool:
        """Note what is said below a question, as long as nobody has had that."""
        text = Delivery(notice=notice).model_dump_json()
        sealed = self.seal.encrypt(text, place=f"{QUESTION}{message} delivery")
        return bool(await self._run("announce", PREFIX, ref=str(message), delivery=sealed))

    async def waiting(self) -> int:
        """Count what waits, for all processes."""
        return cast("int", await self._run("waiting", PREFIX))

    async def backlog(self) -> Backlog:
        """Count what waits, what is worked on and what was given up."""
        found = cast("list[int]", await self._run("backlog", PREFIX, lease=int(self.bounds.lease * 1000)))
        waiting, running, dead, oldest = found
        return Backlog(waiting, running, dead, oldest / 1000)

    async def forget_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Remove the words of every question of a person, each as one step; give the number of those that had any."""
        return await self._forget(home, f"{home}:{quote(person_id, safe='')}")

    async def forget_workspace(self, home: WorkspaceRef) -> int:
        """Do the same for everybody of a workspace."""
        return sum([await self._forget(home, person) for person in await self._members(f"workspace:{home}")])

    async def dead(self, *, limit: int) -> Sequence[DeadLetter]:
        """Return what was given up, newest first."""
        with translated():
            found = await self.client.zrange(f"{PREFIX}dead", 0, limit - 1, desc=True, withscores=True)  # pyright: ignore[reportUnknownMemberType] - an option of it is untyped
        named = cast("list[tuple[bytes, float]]", found)
        return [await self._dead_letter(MessageRef.parse(ref.decode()), died_at) for ref, died_at in named]

    async def letter(self, message: MessageRef) -> DeadLetter | None:
        """Return what is known of one question that was given up."""
        with translated():
            died_at = await self.client.zscore(f"{PREFIX}dead", str(message))
        return None if died_at is None else await self._dead_letter(message, died_at)

    async def revive(self, message: MessageRef) -> bool:
        """Have a question tried again."""
        if await self.letter(message) is None:
            return False
        return bool(await self._run("retry", PREFIX, ref=str(message), thread=str(message.thread)))

    async def drop(self, message: MessageRef) -> bool:
        """Remove a question with its words."""
        return bool(await self._run("drop", PREFIX, ref=str(message)))

    def _words(self, question: Question, address: ReplyAddress | None = None) -> dict[str, Argument]:
        """Return a question as scripts take it: its words and its address sealed, and whose it is."""
        message, home = question.message, question.message.thread.home
        rest, token, expires = b"", b"", 0
        if address is not None:
            text = address.model_copy(update={"interaction": None}).model_dump_json()
            rest = self.seal.encrypt(text, place=f"{QUESTION}{message} address")
        if address is not None and address.interaction is not None:
            text = address.interaction.model_dump_json()
            token = self.seal.encrypt(text, place=f"{QUESTION}{message} interaction")
            expires = int(address.interaction.expires_at.timestamp() * 1000)
        return {
            "ref": str(message),
            "thread": str(question.message.thread),
            "platform": quote(question.message.thread.platform, safe=""),  # as the places of questions begin
            "revision": question.revision,
            "text": self.seal.encrypt(question.model_dump_json(), place=f"{QUESTION}{message} text"),
            "person": f"{home}:{quote(question.author.id, safe='')}",
            "home": str(home),
            "address": rest,
            "token": token,
            "expires": expires,
            "asked_at": int(question.asked_at.timestamp() * 1000),
        }

    def _address(self, message: str, sealed: bytes | None, token: bytes | None) -> ReplyAddress | None:
        """Read where the answer to a question goes, with the token by which we may speak there."""
        address = self.seal.read(ReplyAddress, sealed, place=f"{QUESTION}{message} address")
        interaction = self.seal.read(Interaction, token, place=f"{QUESTION}{message} interaction")
        return address and address.model_copy(update={"interaction": interaction})

    async def _members(self, index: str) -> list[str]:
        with translated():
            members = await self.client.zrange(PREFIX + index, 0, -1)  # pyright: ignore[reportUnknownMemberType] - an option of it is untyped
        return [member.decode() for member in cast("list[bytes]", members)]

    async def _forget(self, home: WorkspaceRef, person: str) -> int:
        messages = [MessageRef.parse(ref) for ref in await self._members(f"person:{person}")]
        given = {"person": person, "home": str(home)}
        return sum(
            [
                bool(await self._run("forget", PREFIX, **given, ref=str(message), thread=str(message.thread)))
                for message in messages
            ]
        )

    async def _dead_letter(self, message: MessageRef, died_at: float) -> DeadLetter:
        with translated():
            about = self.client.hmget(f"{QUESTION}{message}", ["attempts", "reason"])
            attempts, reason = await cast("Awaitable[list[Any]]", about)
            words = await cast("Awaitable[bytes | None]", self.client.get(f"{PREFIX}retry:{message}"))
        return DeadLetter(
            message,
            datetime.fromtimestamp(died_at / 1000, UTC),
            int(attempts or 0),
            (reason or b"").decode(),
            can_be_retried=words is not None,
            question=self.seal.read(Question, words, place=f"{QUESTION}{message} text"),
        )
