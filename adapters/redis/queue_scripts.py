"""What whoever runs the bot asks of the inbox, or changes there; `inbox_scripts` explains the keys and the states."""

from __future__ import annotations

from adapters.redis.inbox_scripts import PRELUDE

BACKLOG = f"""{PRELUDE}
local lease = ARGV[3]
for _, index in ipairs({{'waiting', 'dead'}}) do
  redis.call('ZREMRANGEBYSCORE', PREFIX .. index, '-inf', now() - LIFE)
end
local first = redis.call('ZRANGE', PREFIX .. 'waiting', 0, 0, 'WITHSCORES')[2]
local oldest = first and now() - first or 0
local pending = redis.pcall('XPENDING', READY, GROUP)
local left = redis.pcall('XPENDING', READY, GROUP, 'IDLE', lease, '-', '+', 100)
if not left.err then
  for _, entry in ipairs(left) do oldest = math.max(oldest, entry[3]) end
end
return {{
  redis.call('ZCARD', PREFIX .. 'waiting'),
  pending.err and 0 or pending[1],
  redis.call('ZCARD', PREFIX .. 'dead'),
  oldest,
}}
"""

DROP = f"""{PRELUDE}
local ref = ARGV[3]
local question = key('question', ref)
local was_there = redis.call('ZREM', PREFIX .. 'dead', ref)
redis.call('DEL', key('retry', ref), key('interaction', ref))
if redis.call('HGET', question, 'state') == 'dead' then redis.call('HSET', question, 'state', 'done') end
return was_there
"""

WAITING = f"""{PRELUDE}
redis.call('ZREMRANGEBYSCORE', PREFIX .. 'waiting', '-inf', now() - LIFE)
return redis.call('ZCARD', PREFIX .. 'waiting')
"""
