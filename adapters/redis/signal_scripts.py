"""What each signal does on the server, in one step; `inbox_scripts` explains the keys and the states."""

from __future__ import annotations

from adapters.redis.inbox_scripts import PRELUDE
from core.model import MOST_ATTEMPTS

PUT = f"""{PRELUDE}
local ref, thread, revision, early = ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]
local question, token, kept = key('question', ref), key('interaction', ref), key('retry', ref)
local state = redis.call('HGET', question, 'state')
local is_deleted = redis.call('HGET', question, 'deleted') == '1'
local known = tonumber(redis.call('HGET', question, 'revision') or '-1')
local function conclude(accepted)
  local former, asker = key('question', accepted), redis.call('HGET', key('question', accepted), 'person')
  redis.call('ZREM', key('accepted', string.match(accepted, '^[^:]+')), accepted)
  redis.call('ZREM', PREFIX .. 'waiting', accepted)
  if asker then redis.call('ZREM', key('person', asker), accepted) end
  redis.call('DEL', former, key('interaction', accepted))
  redis.call('HSET', former, 'state', 'done', 'deleted', 1)
  redis.call('PEXPIRE', former, LIFE)
end
"""

ASK = f"""{PUT}
local function first_asked_after(time)
  local line, later = redis.call('LRANGE', key('thread', thread), 0, -1), nil
  for i = #line, 1, -1 do
    local other = redis.call('HMGET', key('question', line[i]), 'state', 'attempts', 'asked', 'begun')
    local is_untouched = other[1] == 'waiting' and other[2] == '0' and other[3] and not other[4]
    if not is_untouched or tonumber(other[3]) <= tonumber(time) then break end
    later = line[i]
  end
  return later
end
local accepted = ARGV[14]
if accepted ~= '' then
  local former = redis.call('HGET', key('question', accepted), 'state')
  if former and former ~= 'accepted' then return 0 end
  conclude(accepted)
  if accepted == ref then
    state, known = false, -1
    redis.call('DEL', question)
  end
end
if state and (state ~= 'early' or is_deleted) then return 0 end
note(ref, ARGV[8], ARGV[9])
if revision > known then redis.call('HSET', question, 'revision', revision, 'text', ARGV[7]) end
redis.call('HSET', question, 'attempts', 0, 'address', ARGV[10], 'asked', ARGV[13])
wait(ref)
redis.call('PEXPIRE', question, LIFE)
if ARGV[11] ~= '' then redis.call('SET', token, ARGV[11], 'PXAT', ARGV[12]) end
local later = first_asked_after(ARGV[13])
if later then
  redis.call('LINSERT', key('thread', thread), 'BEFORE', later, ref)
  endure(thread)
else
  join(thread, ref)
end
return 1
"""

EDIT = f"""{PUT}
if is_deleted or state == 'accepted' or revision <= known then return 0 end
note(ref, ARGV[8], ARGV[9])
redis.call('HSET', question, 'revision', revision, 'text', ARGV[7])
redis.call('HDEL', question, 'stopped', 'reason')
redis.call('DEL', kept)
if not state or state == 'early' then
  redis.call('HSET', question, 'state', 'early')
  redis.call('PEXPIRE', question, early)
  return 0
end
redis.call('PEXPIRE', question, LIFE)
if state == 'running' then
  tell(ref)
  return 1
end
redis.call('HSET', question, 'attempts', 0)
wait(ref)
if state == 'waiting' then
  hurry(thread)
else
  redis.call('ZREM', PREFIX .. 'dead', ref)
  join(thread, ref)
end
return 1
"""

WITHDRAW = """
if is_deleted then return 0 end
if state == 'accepted' then
  conclude(ref)
  return 1
end
redis.call('HSET', question, 'deleted', 1)
redis.call('HDEL', question, 'text', 'address', 'stopped')
if state ~= 'running' then redis.call('HDEL', question, 'person', 'home', 'asked') end
redis.call('DEL', token, kept)
if not state or state == 'early' then
  redis.call('HSET', question, 'state', 'early')
  redis.call('PEXPIRE', question, early)
  return 0
end
redis.call('PEXPIRE', question, LIFE)
redis.call('ZREM', PREFIX .. 'dead', ref)
if state == 'running' then
  tell(ref)
  return 1
end
local record = redis.call('HMGET', question, 'attempts', 'concluded', 'delivery', 'retried', 'begun')
redis.call('HSET', question, 'attempts', 0)
wait(ref)
if state ~= 'waiting' then
  join(thread, ref)
elseif record[1] ~= '0' or record[2] or record[3] or record[4] or record[5] then
  hurry(thread)
else
  cease(ref, 'done')
  redis.call('LREM', key('thread', thread), 1, ref)
  hurry(thread)
end
return 1
"""

DELETE = f"{PUT}{WITHDRAW}"

FORGET = f"""{PUT}
local person = key('person', ARGV[7])
redis.call('ZREM', person, ref)
if redis.call('EXISTS', person) == 0 then redis.call('ZREM', key('workspace', ARGV[8]), ARGV[7]) end
if state == 'done' or state == 'dead' then
  redis.call('HSET', question, 'state', 'done')
  redis.call('ZREM', PREFIX .. 'dead', ref)
  local gone = redis.call('DEL', kept)
  redis.call('DEL', token)
  return gone
end
{WITHDRAW}"""

STOP = f"""{PUT}
if state ~= 'waiting' and state ~= 'running' or is_deleted then return 0 end
if redis.call('HSET', question, 'stopped', 1) == 0 then return 0 end
if state == 'running' then tell(ref) else hurry(thread) end
return 1
"""

RETRY = f"""{PUT}
if is_deleted or state ~= 'done' and state ~= 'dead' then return 0 end
local words = redis.call('GET', kept)
if not words then return 0 end
redis.call('HSET', question, 'text', words, 'attempts', 0, 'retried', 1)
redis.call('HDEL', question, 'concluded', 'reason')
redis.call('DEL', kept)
redis.call('ZREM', PREFIX .. 'dead', ref)
wait(ref)
redis.call('PEXPIRE', question, LIFE)
join(thread, ref)
return 1
"""

DOUBT = f"""{PUT}
if is_deleted or state ~= 'done' and state ~= 'dead' or revision ~= known then return 0 end
note(ref, ARGV[8], ARGV[9])
redis.call('HSET', question, 'text', ARGV[7], 'attempts', state == 'dead' and {MOST_ATTEMPTS} or 1)
redis.call('HDEL', question, 'concluded', 'failures')
redis.call('ZREM', PREFIX .. 'dead', ref)
wait(ref)
redis.call('PEXPIRE', question, LIFE)
join(thread, ref)
return 1
"""
