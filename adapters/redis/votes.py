"""Votes in Redis: each one expires by itself, and whoever counts sees those that have not."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from adapters.redis.connection import translated
from core.model import Tally, Vote, WorkspaceRef

if TYPE_CHECKING:
    from redis.asyncio import Redis

KEPT = timedelta(days=90)

# The keys of a workspace share a hash tag, so they are on one node of a cluster:
#
#     vote:<number>        one vote, whole, behind its name
#     number:<name>        the number of a vote
#     helpful, unhelpful   the numbers of votes by the time of each, to be counted
#     person:<person>      the numbers of a person's votes by the time of each, to be forgotten
#
# A name is the percent-encoded id of the answer, a blank, and that of the person. An index may outlive what it names,
# so it holds numbers only, which tell nothing of anybody once the vote has expired.
PRELUDE = """
local PREFIX, LIFE = KEYS[1], tonumber(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local helpful, unhelpful = PREFIX .. 'helpful', PREFIX .. 'unhelpful'
"""

CAST = f"""{PRELUDE}
local name, vote, is_helpful, person = ARGV[2], ARGV[3], ARGV[4] == '1', PREFIX .. 'person:' .. ARGV[5]
local number = redis.call('GET', PREFIX .. 'number:' .. name)
local nth = 0
while not number do
  local unused = time[1] .. '.' .. time[2] .. '.' .. nth
  if redis.call('EXISTS', PREFIX .. 'vote:' .. unused) == 0 then number = unused end
  nth = nth + 1
end
redis.call('SET', PREFIX .. 'number:' .. name, number, 'PX', LIFE)
redis.call('SET', PREFIX .. 'vote:' .. number, name .. ' ' .. vote, 'PX', LIFE)
redis.call('ZREM', is_helpful and unhelpful or helpful, number)
for _, key in ipairs({{is_helpful and helpful or unhelpful, person}}) do
  redis.call('ZADD', key, now, number)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - LIFE)
  redis.call('PEXPIRE', key, LIFE)
end
"""

COUNT = f"""{PRELUDE}
local after = '(' .. now - LIFE
return {{redis.call('ZCOUNT', helpful, after, '+inf'), redis.call('ZCOUNT', unhelpful, after, '+inf')}}
"""

FORGET = f"""{PRELUDE}
local gone = 0
local function forget(number)
  local vote = redis.call('GET', PREFIX .. 'vote:' .. number)
  if not vote then return end
  local answer, person = string.match(vote, '^(%S+) (%S+) ')
  redis.call('DEL', PREFIX .. 'vote:' .. number, PREFIX .. 'number:' .. answer .. ' ' .. person)
  for _, index in ipairs({{helpful, unhelpful, PREFIX .. 'person:' .. person}}) do redis.call('ZREM', index, number) end
  gone = gone + 1
end
for i = 2, #ARGV do
  for _, number in ipairs(redis.call('ZRANGE', PREFIX .. ARGV[i], 0, -1)) do forget(number) end
  redis.call('DEL', PREFIX .. ARGV[i])
end
return gone
"""


class RedisVotes:
    """Keeps votes, each change as one script. They hold no text that anybody wrote, so they are not encrypted."""

    def __init__(self, client: Redis, *, kept: timedelta = KEPT) -> None:
        self._kept = kept // timedelta(milliseconds=1)
        self._cast = client.register_script(CAST)
        self._count = client.register_script(COUNT)
        self._forget = client.register_script(FORGET)

    async def cast(self, home: WorkspaceRef, vote: Vote) -> None:
        """Keep the vote, or replace it."""
        person = quote(vote.person_id, safe="")
        name = f"{quote(vote.answer_id, safe='')} {person}"
        with translated():
            await self._cast([_prefix(home)], [self._kept, name, vote.model_dump_json(), int(vote.is_helpful), person])

    async def count(self, home: WorkspaceRef) -> Tally:
        """Count both kinds."""
        with translated():
            helpful, unhelpful = cast("list[int]", await self._count([_prefix(home)], [self._kept]))
        return Tally(helpful=helpful, unhelpful=unhelpful)

    async def forget_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Remove what a person has thought."""
        return await self._remove(home, f"person:{quote(person_id, safe='')}")

    async def forget_workspace(self, home: WorkspaceRef) -> int:
        """Remove what everybody has thought."""
        return await self._remove(home, "helpful", "unhelpful")

    async def _remove(self, home: WorkspaceRef, *indexes: str) -> int:
        with translated():
            return cast("int", await self._forget([_prefix(home)], [self._kept, *indexes]))


def _prefix(home: WorkspaceRef) -> str:
    return f"footnote:votes:{{{home}}}:"
