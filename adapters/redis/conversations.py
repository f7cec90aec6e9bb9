"""Conversations in Redis: one list per thread, its turns encrypted, written in one step with its expiry."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from adapters.redis.connection import ScriptRunner, names, translated
from adapters.redis.secrets import Seal
from core.errors import Misconfigured
from core.model import AnyPlace, Attendance, ChannelRef, Conversation, MessageRef, ThreadRef, Turn, WorkspaceRef

if TYPE_CHECKING:
    from redis.asyncio import Redis

KEPT_TURNS = 200  # the newest; four times what a model is ever given
# The key; what is in braces stays together on one node of a cluster.
CONVERSATIONS = "footnote:conversation:"
CONVERSATION = f"{CONVERSATIONS}{{{{{{}}}}}}"
ANSWERS = "footnote:answers:{{{}}}"  # of a channel: the answers that stand in it and not in their threads
KEPT_ANSWERS = 1_000
ATTENDANCES = "footnote:attendance:"
ATTENDANCE = f"{ATTENDANCES}{{{{{{}}}}}}"
KEPT_SPEAKERS = 100  # of a thread; who comes later to so many makes no difference
MUTED, SPOKE = "muted", "spoke:"


class RedisConversations:
    """Remembers conversations in Redis or Valkey; what people wrote is readable with the seal only.

    Every change is one script, so it happens wholly or not at all, and doing it again changes nothing. Whose words a
    thread holds is noted nowhere, as it lives as long as anybody writes there: who is forgotten is looked for in all.
    """

    def __init__(self, client: Redis, *, ttl: timedelta, seal: Seal) -> None:
        if ttl < timedelta(milliseconds=1):
            raise Misconfigured("Conversations have to be kept for some time: the TTL must be longer than zero.")
        self._client = client
        self._ttl = ttl // timedelta(milliseconds=1)
        self._seal = seal
        self._run = ScriptRunner(client, "conversations")

    async def load(self, thread: ThreadRef) -> Conversation:
        """Return the turns that can be read."""
        return Conversation(thread=thread, turns=tuple(turn for _, turn in await self._turns(thread) if turn))

    async def around(self, message: MessageRef) -> Conversation:
        """Look among the answers that stand in its channel, and in its thread, which may have begun below an answer."""
        key, id_ = ANSWERS.format(_channel_of(message.thread)), quote(message.id, safe="")
        with translated():
            entries = cast("list[bytes]", await self._client.zrangebylex(key, f"[{id_} ", f"({id_}!"))
        for entry in entries:
            if (found := await self.load(ThreadRef.parse(entry.decode().partition(" ")[2]))).turns:
                return found
        return await self.load(message.thread)

    async def threads(self) -> Sequence[ThreadRef]:
        """Look at the name of every key."""
        return await self._beginning("")

    async def append(self, thread: ThreadRef, turn: Turn) -> None:
        """Add or replace a turn, keep the newest ones, and restart the clock.

        Where its answer stands outside, that is noted, which lives as long as what is remembered of the channel.
        """
        key, ref = CONVERSATION.format(thread), str(turn.question_ref)
        sealed = self._seal.encrypt(turn.model_dump_json(), place=f"{key} {ref}")
        outside = [quote(each.id, safe="") for each in turn.messages if each.thread != thread]
        goes_on = await self._run("append", key, ref=ref, sealed=sealed, kept=KEPT_TURNS, ttl=self._ttl)
        notes = ANSWERS.format(_channel_of(thread))
        if outside:
            given = {"thread": str(thread), "ids": json.dumps(outside), "kept": KEPT_ANSWERS, "ttl": self._ttl}
            await self._run("note_answer", notes, **given)
        elif goes_on:
            with translated():
                await self._client.pexpire(notes, self._ttl)

    async def remove(self, question_ref: MessageRef) -> bool:
        """Take one turn out of its thread, readable or not."""
        return bool(await self._run("remove", CONVERSATION.format(question_ref.thread), ref=str(question_ref)))

    async def attendance(self, thread: ThreadRef) -> Attendance:
        """Read the hash."""
        with translated():
            found = cast("dict[bytes, bytes]", await self._client.hgetall(ATTENDANCE.format(thread)))
        fields = {str(name, "utf-8", "replace"): value for name, value in found.items()}
        spoke = {
            name.removeprefix(SPOKE): datetime.fromtimestamp(int(value) / 1000, UTC)
            for name, value in fields.items()
            if name.startswith(SPOKE)
        }
        return Attendance(spoke=spoke, is_muted=MUTED in fields)

    async def hear(self, thread: ThreadRef, person_id: str, at: datetime) -> None:
        """Keep when somebody has spoken last; ids and times only, so it is not encrypted."""
        given = {"field": SPOKE + person_id, "at": int(at.timestamp() * 1000), "kept": KEPT_SPEAKERS, "ttl": self._ttl}
        await self._run("hear", ATTENDANCE.format(thread), **given)

    async def mute(self, thread: ThreadRef, *, on: bool) -> bool:
        """Set the field, or remove it."""
        return bool(await self._run("mute", ATTENDANCE.format(thread), field=MUTED, on=on, ttl=self._ttl))

    async def forget(self, place: AnyPlace) -> int:
        """Remove all threads of a place, readable or not."""
        notes = [ANSWERS.format(place)] if type(place) is ChannelRef else []
        if isinstance(place, WorkspaceRef):
            notes = await names(self._client, ANSWERS.format(f"{place}:").removesuffix("}"))
        with translated():
            for note in (*notes, *await self._attendances(place)):
                await self._client.delete(note)
            return sum([await self._client.delete(CONVERSATION.format(thread)) for thread in await self._in(place)])

    async def forget_turns(
        self, place: AnyPlace, person_id: str | None, *, before: datetime | None = None
    ) -> Sequence[MessageRef]:
        """Remove a person's turns, and those that nobody can read any more, from every thread of the place."""
        gone = list[MessageRef]()
        for key in await self._attendances(place) if person_id is not None else ():
            with translated():
                await self._client.hdel(key, f"{SPOKE}{person_id}")
        for thread in await self._in(place):
            for entry, turn in await self._turns(thread):
                if turn is None or turn.is_by(person_id, before):
                    ref = entry.partition(b" ")[0]
                    was_there = await self._run("remove", CONVERSATION.format(thread), ref=ref)
                    gone += [turn.question_ref] if was_there and turn is not None else []
        return gone

    async def unquote(self, place: AnyPlace, person_id: str) -> Sequence[MessageRef]:
        """Put each turn in the place of what was read of it, unless that has changed meanwhile: then look again."""
        found, is_changed = list[MessageRef](), False
        for thread in await self._in(place):
            key = CONVERSATION.format(thread)
            for entry, turn in await self._turns(thread):
                if turn is not None and turn.quotes(person_id):
                    ref = str(turn.question_ref)
                    sealed = self._seal.encrypt(turn.alone.model_dump_json(), place=f"{key} {ref}")
                    is_changed = not await self._run("replace", key, ref=ref, was=entry, sealed=sealed) or is_changed
                    found.append(turn.question_ref)
        return [*found, *(await self.unquote(place, person_id) if is_changed else ())]

    async def count_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Look through every thread of the workspace."""
        turns = [turn for thread in await self._in(home) for _, turn in await self._turns(thread)]
        return sum(turn is not None and turn.author_id == person_id for turn in turns)

    async def _attendances(self, place: AnyPlace) -> Sequence[str]:
        """Return the keys of what is noted of the threads of a place."""
        if isinstance(place, ThreadRef):
            return [ATTENDANCE.format(place)]
        return await names(self._client, f"{ATTENDANCES}{{{place}:")

    async def _in(self, place: AnyPlace) -> Sequence[ThreadRef]:
        """Return the threads of a place that are remembered."""
        if isinstance(place, ThreadRef):
            return [place]
        return await self._beginning(f"{place}:")

    async def _beginning(self, beginning: str) -> Sequence[ThreadRef]:
        found = await names(self._client, f"{CONVERSATIONS}{{{beginning}")
        return [ThreadRef.parse(name.removeprefix(CONVERSATIONS)[1:-1]) for name in found]

    async def _turns(self, thread: ThreadRef) -> list[tuple[bytes, Turn | None]]:
        """Read the list, with None for turns that cannot be read; nothing if something else stands in its place."""
        from redis.exceptions import ResponseError

        key, entries = CONVERSATION.format(thread), list[bytes]()
        with translated():
            try:
                entries = cast("list[bytes]", await self._client.lrange(key, 0, -1))
            except ResponseError as error:
                if not str(error).startswith("WRONGTYPE"):
                    raise
        found = list[tuple[bytes, Turn | None]]()
        for entry in entries:
            ref, _, sealed = entry.partition(b" ")
            found.append((entry, self._seal.read(Turn, sealed, place=f"{key} {ref.decode(errors='replace')}")))
        return found


def _channel_of(thread: ThreadRef) -> ChannelRef:
    return ChannelRef(platform=thread.platform, workspace=thread.workspace, channel=thread.channel)
