"""What the inbox writes down: questions, what happens to them, and what becomes of them; their words are sealed."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import quote

from adapters.redis.connection import Argument, ScriptRunner, names, newest, translated
from adapters.redis.failure import UNREACHABLE
from adapters.redis.secrets import Seal
from adapters.retry import SIGNAL
from core.errors import StoreUnavailable
from core.events import Observer, Passed, Step, unobserved
from core.model import (
    MOST_ATTEMPTS,
    Answer,
    AnyPlace,
    Asked,
    AskedAgain,
    Backlog,
    Claim,
    DeadLetter,
    Deleted,
    Delivery,
    Edited,
    Interaction,
    Interruption,
    Kept,
    MessageRef,
    Question,
    Recheck,
    ReplyAddress,
    Signal,
    Stage,
    Stopped,
    Task,
    ThreadRef,
    Value,
    WaitNotice,
    Withdrawal,
    WorkspaceRef,
)

if TYPE_CHECKING:
    from redis.asyncio import Redis

PREFIX = "footnote:inbox:{inbox}:"  # the braces keep all keys on one node of a cluster
QUESTION = f"{PREFIX}question:"  # with its reference, the key of a question; each field is sealed for key and name
PAUSE = 0.1  # seconds between two tries to accept a question, while somebody waits
TOO_LATE = UNCERTAIN = -1
STAGES = {
    **dict.fromkeys([b"", b"early"], Stage.UNKNOWN),
    b"accepted": Stage.WAITING,
    b"waiting": Stage.WAITING,
    b"running": Stage.RUNNING,
    b"released": Stage.RELEASED,
    b"left": Stage.LEFT,
}
"""What the states of the inbox mean for whoever has put a question there; all others are its end."""
READ_AT_ONCE = 500  # questions, by one script
CLOCK_JUMP = timedelta(hours=1)  # by which the server's clock may be set right without harm


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

waking_time: Final = partial(time.clock_gettime, getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
"""Returns seconds that go on while the process is frozen and, where the system knows one, while it sleeps."""


class InboxStore:
    """Implements all of the inbox but what workers do. What raises anything raises `StoreUnavailable`."""

    def __init__(
        self,
        client: Redis,
        *,
        seal: Seal,
        bounds: Bounds = USUAL,
        now: Callable[[], float] = waking_time,
        observer: Observer = unobserved,
    ) -> None:
        self._client = client
        self._seal = seal
        self._bounds = bounds
        self._now = now
        self._observer = observer
        self._run = ScriptRunner(client, "inbox", "signals", "tasks")
        self.accepted_for = bounds.accepted
        self._unseen = int(min(1000 * bounds.lease / 3, 10_000))  # milliseconds; whoever is at a task is seen twice
        self._ahead: int | None = None  # by how many milliseconds the server's clock was ahead of ours when last seen
        self._looked = -math.inf  # when a script last looked at it for us, by our clock: it hears how long ago that was

    async def put(self, signal: Signal) -> bool | None:
        """Write the signal down; that it is a question is told before.

        A failure may mean that it was written and the answer was lost, so it is written again before anybody is told.
        """
        given = dict[str, Argument](ref=str(signal.message), thread=str(signal.message.thread), person="", home="")
        match signal:
            case Asked():
                self._observer(Passed(signal.message, Step.HEARD))
                script, given = "ask", {**self._asking(signal), "accepted": ""}
            case Edited(question=question):
                script, given = "edit", self._words(question)
            case Recheck(question=question, answer=answer):
                known = self._words(question) | self._sealed(signal.message, answer=answer)
                script, given = "recheck", {**known, "most_attempts": MOST_ATTEMPTS}
            case Deleted():
                script, given = "delete", {**given, **self._sealed(signal.message, delivery=signal.delivery)}
            case Stopped():
                script = "stop"
            case AskedAgain():
                question = await self._to_retry(signal.message)
                script, given = "retry", self._words(question) if question else given
        is_new = await SIGNAL.call(lambda: self._run(script, PREFIX, **given))
        if is_new == UNCERTAIN:
            return None
        self._observer(Passed(signal.message, Step.PUT))
        return bool(is_new)

    async def accept(self, asked: Asked, *, within: float) -> bool:
        """Write down a question that has no place in a thread as yet, again and again while there is time."""
        ours = asyncio.get_running_loop().time
        latest = ours() + within
        given = {**self._words(asked.question, asked.address), "lease": int(self.accepted_for * 1000)}
        with suppress(TimeoutError):
            async with asyncio.timeout_at(latest):
                while True:
                    with suppress(StoreUnavailable):
                        if (ahead := self._ahead) is None:
                            now: int = await self._run("accept", PREFIX, **given, latest="")
                            self._ahead = ahead = now - int(ours() * 1000)
                        done = await self._run("accept", PREFIX, **given, latest=ahead + int(latest * 1000))
                        if done == 1:
                            self._observer(Passed(asked.message, Step.ACCEPTED))
                        if done != TOO_LATE:
                            return done == 1
                        self._ahead = None  # its clock may have been put forward, or ours have stood still
                    await asyncio.sleep(PAUSE)
        raise StoreUnavailable(UNREACHABLE)

    async def overdue(self, platform: str) -> Asked | None:
        """Take over what was accepted and not moved in time; what cannot be read any more is dropped."""
        given = {"platform": quote(platform, safe=""), "lease": int(self.accepted_for * 1000)}
        while found := cast("list[bytes] | None", await self._look("overdue", **given)):
            if asked := self._asked(*found):
                return asked
            await self.put(Deleted(message=MessageRef.parse(found[0].decode())))
        return None

    async def untold(self, platform: str) -> Sequence[Asked]:
        """Look at all that waits or is worked on."""
        found = await self._run("untold", PREFIX, platform=quote(platform, safe=""))
        return list({each[0]: asked for each in found if (asked := self._asked(*each))}.values())

    async def move(self, accepted: MessageRef, asked: Asked) -> bool:
        """Put what was accepted under its own message."""
        self._observer(Passed(asked.message, Step.HEARD))
        is_moved = await self._run("ask", PREFIX, **self._asking(asked), accepted=str(accepted))
        self._observer(Passed(asked.message, Step.MOVED))
        return bool(is_moved)

    async def stages(self, messages: Sequence[MessageRef]) -> Sequence[Stage]:
        """Look at all of them by one script."""
        given = {"refs": json.dumps(list(map(str, messages))), "unseen": self._unseen}
        states = cast("list[bytes]", await self._run("states", PREFIX, **given))
        return [STAGES.get(state, Stage.OVER) for state in states]

    async def kept_for(self) -> Kept:
        """Return since when nothing was lost; that is noted at first, and whenever the server has started again."""
        milliseconds, mark, now = await self._look("kept_for")
        self._ahead = now - int(asyncio.get_running_loop().time() * 1000)
        return Kept(timedelta(milliseconds=milliseconds), mark.decode())

    async def knows(self, message: MessageRef) -> bool:
        """Look whether a message is a question."""
        return await self._field(message, "state") not in (None, b"early")

    async def delivered(self, message: MessageRef) -> Delivery:
        """Return what was recorded for a question."""
        return self._delivery(str(message), await self._field(message, "delivery"), None)

    async def has_gone(self, messages: Sequence[MessageRef]) -> bool:
        """Return whether the deletion of one of these messages is kept, as that of a question that was never heard."""
        return any([await self._field(each, "deleted") for each in messages])

    async def running(self, thread: ThreadRef) -> Question | None:
        """Look at the first question of a thread, unless it is gone."""
        with translated():
            first = await cast("Awaitable[bytes | None]", self._client.lindex(f"{PREFIX}thread:{thread}", 0))
        ref = (first or b"").decode()
        return self._seal.read(Question, await self._field(ref, "text"), place=f"{QUESTION}{ref} text") if ref else None

    async def announce(self, message: MessageRef, notice: WaitNotice) -> bool:
        """Note what is said below a question, unless somebody is at that, or more is said there already."""
        before = self._delivery(str(message), was := await self._field(message, "delivery"), None)
        if before.notice not in (None, notice.model_copy(update={"id": ""})):
            return False
        given = self._sealed(message, delivery=before.model_copy(update={"notice": notice}))
        return bool(await self._run("announce", PREFIX, ref=str(message), was=was or b"", unseen=self._unseen, **given))

    async def waiting(self) -> int:
        """Count what waits, for all processes."""
        with translated():
            return int(await self._client.zcard(f"{PREFIX}waiting"))

    async def backlog(self) -> Backlog:
        """Count what waits, what is worked on and what was given up."""
        waiting, running, dead, oldest = await self._run("backlog", PREFIX, lease=int(self._bounds.lease * 1000))
        return Backlog(waiting, running, dead, oldest / 1000)

    async def forget(self, place: AnyPlace, person_id: str | None = None, *, before: datetime | None = None) -> int:
        """Remove the words of every question of a person, and those that nobody can read, each as one step."""
        gone, is_changed = 0, False
        async for ref, question, sealed in self._questions(place):
            if question is None or question.is_by(person_id, before):
                gone += bool(await self._run("forget", PREFIX, ref=str(ref), thread=str(ref.thread)))
            elif person_id is not None and question.quotes(person_id):
                given: dict[str, Argument] = {"ref": str(ref), "was": sealed, **self._sealed(ref, text=question.alone)}
                is_changed = not await self._run("replace_words", PREFIX, **given) or is_changed
        return gone + (await self.forget(place, person_id, before=before) if is_changed else 0)  # edited since

    async def begin_anew(self, threads: Collection[ThreadRef]) -> None:
        """Tell whoever works on the first question of each thread."""
        for thread in threads:
            await self._run("begin_anew", PREFIX, thread=str(thread))

    async def count_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Look through every question of the workspace."""
        return len([one async for _, one, _ in self._questions(home) if one and one.author.id == person_id])

    async def dead(self, *, limit: int) -> Sequence[DeadLetter]:
        """Return what was given up, newest first."""
        found = await newest(self._client, f"{PREFIX}dead", limit=limit)
        return [letter for ref, _ in found if (letter := await self.dead_letter(MessageRef.parse(ref)))]

    async def dead_letter(self, message: MessageRef) -> DeadLetter | None:
        """Return what is known of one question that was given up."""
        with translated():
            died_at = await self._client.zscore(f"{PREFIX}dead", str(message))
            about = self._client.hmget(f"{QUESTION}{message}", ["attempts", "reason"])
            attempts, reason = await cast("Awaitable[list[Any]]", about)
        if died_at is None:
            return None
        question, at = await self._to_retry(message), datetime.fromtimestamp(died_at / 1000, UTC)
        return DeadLetter(message, at, int(attempts or 0), (reason or b"").decode(), question is not None, question)

    async def _to_retry(self, message: MessageRef) -> Question | None:
        """Return a question that can be tried again, as its words are kept."""
        with translated():
            words = await cast("Awaitable[bytes | None]", self._client.get(f"{PREFIX}retry:{message}"))
        return self._seal.read(Question, words, place=f"{QUESTION}{message} text")

    async def revive(self, message: MessageRef) -> bool:
        """Have a question tried again."""
        letter = await self.dead_letter(message)
        by = letter and letter.question and letter.question.author
        return by is not None and bool(await self.put(AskedAgain(message=message, by=by)))

    async def drop(self, message: MessageRef) -> bool:
        """Remove a question with its words."""
        return bool(await self._run("drop", PREFIX, ref=str(message)))

    async def _look(self, script: str, **given: Argument) -> Any:
        """Run a script that follows the server's clock, for which it hears how long ago one last did for us.

        A number says that it has done nothing yet: so much time has passed there, but was the server frozen, here too.
        """
        jump = -1
        while True:
            begun = self._now()
            found = await self._run(script, PREFIX, **given, ago=1000 * (begun - self._looked), jump=jump)
            if not isinstance(found, int):
                self._looked = max(begun, self._looked)
                return found
            jump = max(int(found - 1000 * (self._now() - self._looked)), 0)

    def _asking(self, asked: Asked) -> dict[str, Argument]:
        """Return what was asked as scripts take it, with what stands there of an answer if that is known."""
        known = asked.delivery
        is_bare = known is None or not known.messages
        age = -1 if asked.age is None else max(int(asked.age / timedelta(milliseconds=1)), 0)
        words, posted = self._words(asked.question, asked.address), self._sealed(asked.message, delivery=known)
        return {**words, **posted, "is_bare": is_bare, "age": age}

    def _words(self, question: Question, address: ReplyAddress | None = None) -> dict[str, Argument]:
        """Return a question as scripts take it: its words and its address sealed, and whose it is."""
        message, home = question.message, question.message.thread.home
        interaction = address and address.interaction  # it has a key of its own, which goes sooner
        rest = address and address.model_copy(update={"interaction": None})
        return {
            "ref": str(message),
            "thread": str(message.thread),
            "platform": quote(home.platform, safe=""),  # as the places of questions begin
            "revision": question.revision,
            "person": f"{home}:{quote(question.author.id, safe='')}",
            "home": str(home),
            "left": _left_of(interaction) if interaction else 0,
            "asked_at": int(question.asked_at.timestamp() * 1000),
            **self._sealed(message, text=question, address=rest, interaction=interaction),
        }

    def _task(self, ref: str, attempt: int, fence: int, spent: float, about: Sequence[bytes | None]) -> Task | None:
        """Return what was taken; None if its words cannot be read."""
        token, text, address, delivery, leaving, answer, concluded, deleted, stopped, begun = about
        place = f"{QUESTION}{ref}"
        written = self._seal.read(Answer, answer or None, place=f"{place} answer")
        posted = self._delivery(ref, delivery, leaving).model_copy(update={"answer": written})
        known: dict[str, Any] = {"attempt": attempt, "fence": fence, "delivery": posted}
        known |= {"spent": spent, "was_released": bool(begun)}
        if deleted:
            return Withdrawal(MessageRef.parse(ref), **known)
        question = self._seal.read(Question, text, place=f"{place} text")
        if question is None:
            return None
        claim = Claim(question, self._address(ref, address, token), bool(concluded), **known)
        if stopped:
            claim.cancelled.set(Interruption.STOPPED)
        return claim

    def _asked(self, ref: bytes, text: bytes, address: bytes | None, token: bytes | None) -> Asked | None:
        """Return what was asked, with where the answer goes; None if it cannot be read any more."""
        question = self._seal.read(Question, text, place=f"{QUESTION}{ref.decode()} text")
        return question and Asked(question=question, address=self._address(ref.decode(), address, token))

    def _address(self, message: str, sealed: bytes | None, token: bytes | None) -> ReplyAddress | None:
        """Read where the answer to a question goes, with the token by which we may speak there as long as we may."""
        address = self._seal.read(ReplyAddress, sealed, place=f"{QUESTION}{message} address")
        interaction = self._seal.read(Interaction, token, place=f"{QUESTION}{message} interaction")
        return address and address.model_copy(update={"interaction": interaction}).at(datetime.now(UTC))

    def _kept_words(self, task: Task) -> Argument:
        """Return what is kept of a question, sealed: nothing that others have written."""
        return self._sealed(task.message, text=task.question.alone)["text"] if isinstance(task, Claim) else b""

    def _sealed(self, message: MessageRef, **parts: Value | None) -> dict[str, Argument]:
        """Return what is known of a question, each part sealed for what it goes by; empty where there is none."""
        places = {name: f"{QUESTION}{message} {name}" for name in parts}
        given = {name: part.model_dump_json() if part else "" for name, part in parts.items()}
        return {name: self._seal.encrypt(part, place=places[name]) if part else b"" for name, part in given.items()}

    def _delivery(self, message: str, sealed: bytes | None, leaving: bytes | None) -> Delivery:
        """Return what is posted; what a worker posted of whom the store knew nothing goes, beside another answer."""
        place = f"{QUESTION}{message} delivery"
        delivery = self._seal.read(Delivery, sealed, place=place) or Delivery()
        strays = self._seal.read(Delivery, leaving, place=place) or Delivery()
        if not delivery.messages:  # then the answer goes on there
            standing = tuple(each for each in strays.messages if each not in delivery.leaving)
            delivery = delivery.model_copy(update={"messages": standing})
        unknown = tuple(each for each in strays.standing if each not in delivery.standing)
        return delivery.model_copy(update={"leaving": delivery.leaving + unknown})

    async def _field(self, question: object, name: str) -> bytes | None:
        with translated():
            return await cast("Awaitable[bytes | None]", self._client.hget(f"{QUESTION}{question}", name))

    async def _questions(self, place: AnyPlace) -> AsyncGenerator[tuple[MessageRef, Question | None, bytes]]:
        """Yield the questions of a place of which words are kept, in any state, and the words as they are sealed.

        None for those that cannot be read. It is looked again until there are no others, as one that is asked by a
        command goes on by another name meanwhile.
        """
        seen = set[str]()
        while found := sorted({*await names(self._client, f"{QUESTION}{place}:")} - seen):
            seen.update(found)
            for at in range(0, len(found), READ_AT_ONCE):
                refs = [name.removeprefix(QUESTION) for name in found[at : at + READ_AT_ONCE]]
                words = cast("list[bytes]", await self._run("words", PREFIX, refs=json.dumps(refs)))
                for ref, sealed in zip(refs, words, strict=True):
                    if sealed:
                        found_there = self._seal.read(Question, sealed, place=f"{QUESTION}{ref} text")
                        yield MessageRef.parse(ref), found_there, sealed


def _left_of(interaction: Interaction) -> int:
    """Return for how many milliseconds an interaction is kept: the server's clock may be put forward meanwhile."""
    left = interaction.expires_at - datetime.now(UTC) + CLOCK_JUMP
    return max(int(left.total_seconds() * 1000), 1)
