"""Conversations in Redis: one list per thread, its turns encrypted, written in one step with its expiry."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from pydantic import ValidationError

from adapters.redis.connection import translated
from adapters.redis.seal import Seal
from core.errors import Misconfigured
from core.model import Conversation, MessageRef, ThreadRef, Turn, WorkspaceRef

if TYPE_CHECKING:
    from redis.asyncio import Redis

KEPT_TURNS = 200  # the newest; four times what a model is ever given

# A list holds one entry per turn: the question's ref, a blank, the sealed turn. A ref never holds a blank.
APPEND = """
local key, ref, sealed, kept, ttl = KEYS[1], ARGV[1] .. ' ', ARGV[2], tonumber(ARGV[3]), ARGV[4]
if redis.call('TYPE', key).ok ~= 'list' then redis.call('DEL', key) end
local found = false
for i, entry in ipairs(redis.call('LRANGE', key, 0, -1)) do
  if string.sub(entry, 1, #ref) == ref then
    redis.call('LSET', key, i - 1, ref .. sealed)
    found = true
  end
end
if not found then
  redis.call('RPUSH', key, ref .. sealed)
  redis.call('LTRIM', key, -kept, -1)
end
redis.call('PEXPIRE', key, ttl)
"""

REMOVE = """
local key, ref = KEYS[1], ARGV[1] .. ' '
if redis.call('TYPE', key).ok ~= 'list' then return 0 end
for _, entry in ipairs(redis.call('LRANGE', key, 0, -1)) do
  if string.sub(entry, 1, #ref) == ref then return redis.call('LREM', key, 1, entry) end
end
return 0
"""


# Which threads somebody wrote in, or a workspace has, scored by when they may be forgotten.
NOTE = """
local thread, now, ttl = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
for _, key in ipairs(KEYS) do
  if redis.call('TYPE', key).ok ~= 'zset' then redis.call('DEL', key) end
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  redis.call('ZADD', key, now + ttl, thread)
  redis.call('PEXPIRE', key, ttl)
end
"""


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
        self._append = client.register_script(APPEND)
        self._remove = client.register_script(REMOVE)
        self._note = client.register_script(NOTE)

    async def load(self, thread: ThreadRef) -> Conversation | None:
        """Return the turns that can be read; None if there are none."""
        with translated():
            entries = await self._entries(_key(thread))
        turns = tuple(turn for entry in entries if (turn := self._unsealed(thread, entry)))
        return Conversation(thread=thread, turns=turns) if turns else None

    async def append(self, thread: ThreadRef, turn: Turn) -> None:
        """Add or replace a turn, keep the newest ones, and restart the clock."""
        ref = str(turn.question_ref)
        sealed = self._seal.encrypt(turn.model_dump_json(), place=_place(thread, ref))
        with translated():
            await self._note(_indexes(thread, turn), [str(thread), round(time.time() * 1000), self._ttl])
            await self._append([_key(thread)], [ref, sealed, KEPT_TURNS, self._ttl])

    async def remove(self, question_ref: MessageRef) -> bool:
        """Take one turn out of its thread, readable or not."""
        with translated():
            return bool(await self._remove([_key(question_ref.thread)], [str(question_ref)]))

    async def forget(self, thread: ThreadRef) -> bool:
        """Remove a whole thread, readable or not."""
        with translated():
            return bool(await self._client.delete(_key(thread)))

    async def forget_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Remove a person's turns, and those that nobody can read any more, from every thread that they wrote in."""
        index = _person_key(home, person_id)
        with translated():
            gone = [await self._forget_in(thread, person_id) for thread in await self._noted(index)]
            await self._client.delete(index)
        return sum(gone)

    async def forget_workspace(self, home: WorkspaceRef) -> int:
        """Remove all threads of a workspace."""
        index = _workspace_key(home)
        with translated():
            gone = [bool(await self._client.delete(_key(thread))) for thread in await self._noted(index)]
            await self._client.delete(index)
        return sum(gone)

    async def _forget_in(self, thread: ThreadRef, person_id: str) -> int:
        gone = 0
        for entry in await self._entries(_key(thread)):
            turn = self._unsealed(thread, entry)
            if turn is None or turn.author_id == person_id:
                ref = entry.partition(b" ")[0]
                gone += bool(await self._remove([_key(thread)], [ref])) and turn is not None
        return gone

    async def _noted(self, index: str) -> list[ThreadRef]:
        members = cast("list[bytes]", await self._client.zrange(index, 0, -1))  # pyright: ignore[reportUnknownMemberType] - an option of it is untyped
        return [ThreadRef.parse(member.decode()) for member in members]

    async def _entries(self, key: str) -> list[bytes]:
        """Read the list; nothing if something else stands in its place."""
        from redis.exceptions import ResponseError

        try:
            return cast("list[bytes]", await self._client.lrange(key, 0, -1))
        except ResponseError as error:
            if str(error).startswith("WRONGTYPE"):
                return []
            raise

    def _unsealed(self, thread: ThreadRef, entry: bytes) -> Turn | None:
        """Read one entry; None if its key is gone, or an older or newer version wrote it in another form."""
        ref, _, sealed = entry.partition(b" ")
        text = self._seal.decrypt(sealed, place=_place(thread, ref.decode(errors="replace")))
        if text is None:
            return None
        try:
            return Turn.model_validate_json(text)
        except ValidationError:
            return None


def _key(thread: ThreadRef) -> str:
    return f"footnote:conversation:{{{thread}}}"  # the braces keep all keys of a thread on one node of a cluster


def _person_key(home: WorkspaceRef, person_id: str) -> str:
    return f"footnote:person:{{{home}}}:{quote(person_id, safe='')}"  # beside the others of the workspace


def _workspace_key(home: WorkspaceRef) -> str:
    return f"footnote:workspace:{{{home}}}"


def _indexes(thread: ThreadRef, turn: Turn) -> list[str]:
    of_person = [_person_key(thread.home, turn.author_id)] if turn.author_id else []
    return [_workspace_key(thread.home), *of_person]


def _place(thread: ThreadRef, ref: str) -> str:
    return f"{_key(thread)} {ref}"
