"""Conversations in Redis: one list per thread, its turns encrypted, written in one step with its expiry."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, cast

from adapters.redis.connection import ScriptRunner, newest, translated
from adapters.redis.secrets import Seal
from core.errors import Misconfigured
from core.model import Conversation, MessageRef, ThreadRef, Turn, WorkspaceRef

if TYPE_CHECKING:
    from redis.asyncio import Redis

KEPT_TURNS = 200  # the newest; four times what a model is ever given
# The keys; what is in braces stays together on one node of a cluster.
CONVERSATION = "footnote:conversation:{{{}}}"
WORKSPACE = "footnote:workspace:{{{}}}"


class RedisConversations:
    """Remembers conversations in Redis or Valkey; what people wrote is readable with the seal only.

    Every change is one script, so it happens wholly or not at all, and doing it again changes nothing. Before a turn is
    written, it is noted whose it is and where, so that nothing is stored that could not be found to be forgotten.
    """

    def __init__(self, client: Redis, *, ttl: timedelta, seal: Seal) -> None:
        if ttl < timedelta(milliseconds=1):
            raise Misconfigured("Conversations have to be kept for some time: the TTL must be longer than zero.")
        self._client = client
        self._ttl = ttl // timedelta(milliseconds=1)
        self._seal = seal
        self._run = ScriptRunner(client, "conversations")

    async def load(self, thread: ThreadRef) -> Conversation | None:
        """Return the turns that can be read; None if there are none."""
        turns = tuple(turn for _, turn in await self._turns(thread) if turn)
        return Conversation(thread=thread, turns=turns) if turns else None

    async def append(self, thread: ThreadRef, turn: Turn) -> None:
        """Add or replace a turn, keep the newest ones, and restart the clock."""
        key, ref, home = CONVERSATION.format(thread), str(turn.question_ref), thread.home
        sealed = self._seal.encrypt(turn.model_dump_json(), place=f"{key} {ref}")
        await self._run("note", WORKSPACE.format(home), thread=str(thread), ttl=self._ttl)
        await self._run("append", key, ref=ref, sealed=sealed, kept=KEPT_TURNS, ttl=self._ttl)

    async def remove(self, question_ref: MessageRef) -> bool:
        """Take one turn out of its thread, readable or not."""
        return bool(await self._run("remove", CONVERSATION.format(question_ref.thread), ref=str(question_ref)))

    async def forget(self, thread: ThreadRef) -> bool:
        """Remove a whole thread, readable or not."""
        with translated():
            return bool(await self._client.delete(CONVERSATION.format(thread)))

    async def forget_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Remove a person's turns, and those that nobody can read any more, from every thread of the workspace.

        Whose words a thread holds is not noted anywhere: it lives as long as anybody writes there.
        """
        gone = 0
        for name, _ in await newest(self._client, WORKSPACE.format(home)):
            thread = ThreadRef.parse(name)
            for ref, turn in await self._turns(thread):
                if turn is None or turn.author_id == person_id:
                    gone += bool(await self._run("remove", CONVERSATION.format(thread), ref=ref)) and turn is not None
        return gone

    async def forget_workspace(self, home: WorkspaceRef) -> int:
        """Remove all threads of a workspace."""
        index = WORKSPACE.format(home)
        gone = [await self.forget(ThreadRef.parse(name)) for name, _ in await newest(self._client, index)]
        with translated():
            await self._client.delete(index)
        return sum(gone)

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
            found.append((ref, self._seal.read(Turn, sealed, place=f"{key} {ref.decode(errors='replace')}")))
        return found
