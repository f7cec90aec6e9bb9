"""A quota in Redis: who asked what in the last seconds, by the clock of the server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast
from urllib.parse import quote

from adapters.redis.connection import translated
from core.errors import Misconfigured
from core.model import Question

if TYPE_CHECKING:
    from redis.asyncio import Redis

Limit: TypeAlias = tuple[int, float]
"""So many questions in so many seconds."""

# Each window is a sorted set of questions by the time of each; the words after the first are count and milliseconds of
# each window. A question is counted in all windows or in none.
SPEND = """
local asked, wait, is_known = ARGV[1], 0, false
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i, window in ipairs(KEYS) do
  local count, length = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  redis.call('ZREMRANGEBYSCORE', window, '-inf', now - length)
  is_known = is_known or redis.call('ZSCORE', window, asked)
  local oldest = redis.call('ZRANGE', window, -count, -count, 'WITHSCORES')[2]
  if oldest then wait = math.max(wait, oldest + length - now) end
end
if is_known then return 0 end
if wait > 0 then return wait end
for i, window in ipairs(KEYS) do
  redis.call('ZADD', window, now, asked)
  redis.call('PEXPIRE', window, ARGV[2 * i + 1])
end
return 0
"""


@dataclass(frozen=True, slots=True)
class Window:
    """A key, and how many questions it may hold for how many milliseconds."""

    key: str
    count: int
    length: int


class RedisQuota:
    """Counts questions by person and by thread, each in a window that slides. It holds ids only."""

    def __init__(self, client: Redis, *, per_person: Limit, per_thread: Limit) -> None:
        for count, seconds in (per_person, per_thread):
            if count < 1 or seconds <= 0:
                raise Misconfigured("A quota has to allow at least one question, in a time that is longer than zero.")
        self._per_person = per_person
        self._per_thread = per_thread
        self._spend = client.register_script(SPEND)

    async def spend(self, question: Question) -> float:
        """Count a question in both windows, or in neither."""
        windows = self._windows(question)
        limits = [number for window in windows for number in (window.count, window.length)]
        with translated():
            asked = f"{question.message} {question.revision}"
            milliseconds = cast("int", await self._spend([window.key for window in windows], [asked, *limits]))
        return milliseconds / 1000

    def _windows(self, question: Question) -> tuple[Window, Window]:
        """Return both windows; they share a hash tag, so they are on one node of a cluster."""
        prefix = f"footnote:quota:{{{question.thread.home}}}:"
        person = f"{prefix}person:{quote(question.author.id, safe='')}"
        return _window(person, self._per_person), _window(f"{prefix}thread:{question.thread}", self._per_thread)


def _window(key: str, limit: Limit) -> Window:
    count, seconds = limit
    return Window(key, count, max(int(seconds * 1000), 1))
