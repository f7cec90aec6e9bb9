"""What the inbox does on the server: each step is one script, so it happens wholly or not at all.

The keys, all on one node of a cluster as they share a hash tag:

    ready                 stream with an entry for each thread that has something to do, read by the group of workers
    thread:<thread>       list of the messages of a thread, in order; the first is the one that is worked on
    question:<message>    hash: what is known of a question; it stays after the end, so that a repetition is noticed
    interaction:<message> the token of an interaction, which goes when it expires
    delayed               the threads whose first message waits for its next attempt, by the time of that
    signals               stream that names the messages of which a worker has to look what has happened to them
    dead                  the messages that were given up, by the time of that

A question is `early` (something was heard of it before itself), `waiting`, `running`, `done` or `dead`. A thread is in
`ready` or `delayed` whenever its list is not empty. It may be in `ready` twice: whoever takes an entry of a thread
whose first message is worked on under another entry drops it.
"""

from __future__ import annotations

PRELUDE = """
local READY, PREFIX, LIFE, GROUP = KEYS[1], ARGV[1], ARGV[2], 'workers'
local function key(kind, name) return PREFIX .. kind .. ':' .. name end
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function announce(thread)
  redis.call('XADD', READY, '*', 'thread', thread)
  redis.call('PEXPIRE', READY, LIFE)
end
local function join(thread, ref)
  local line = key('thread', thread)
  if redis.call('RPUSH', line, ref) == 1 then announce(thread) end
  redis.call('PEXPIRE', line, LIFE)
end
local function hurry(thread)
  if redis.call('ZREM', PREFIX .. 'delayed', thread) == 1 then announce(thread) end
end
local function tell(ref)
  redis.call('XADD', PREFIX .. 'signals', 'MAXLEN', '~', 1000, '*', 'message', ref)
  redis.call('PEXPIRE', PREFIX .. 'signals', LIFE)
end
local function drop(entry)
  redis.call('XACK', READY, GROUP, entry)
  redis.call('XDEL', READY, entry)
end
local function leave(thread, ref)
  local line = key('thread', thread)
  redis.call('LREM', line, 1, ref)
  if redis.call('LLEN', line) > 0 then announce(thread) end
end
local function holds(question, entry, fence)
  local found = redis.call('HMGET', question, 'state', 'entry', 'fence')
  return found[1] == 'running' and found[2] == entry and found[3] == fence
end
"""

PUT = f"""{PRELUDE}
local ref, thread, revision, early = ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]
local question, token = key('question', ref), key('interaction', ref)
local state = redis.call('HGET', question, 'state')
local is_deleted = redis.call('HGET', question, 'deleted') == '1'
local known = tonumber(redis.call('HGET', question, 'revision') or '-1')
"""

ASK = f"""{PUT}
if state and (state ~= 'early' or is_deleted) then return 0 end
if revision > known then redis.call('HSET', question, 'revision', revision, 'text', ARGV[7]) end
redis.call('HSET', question, 'state', 'waiting', 'attempts', 0, 'address', ARGV[8])
redis.call('PEXPIRE', question, LIFE)
if ARGV[9] ~= '' then redis.call('SET', token, ARGV[9], 'PXAT', ARGV[10]) end
join(thread, ref)
return 1
"""

EDIT = f"""{PUT}
if is_deleted or revision <= known then return 0 end
redis.call('HSET', question, 'revision', revision, 'text', ARGV[7])
redis.call('HDEL', question, 'stopped')
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
redis.call('HSET', question, 'state', 'waiting', 'attempts', 0)
if state == 'waiting' then
  hurry(thread)
else
  redis.call('ZREM', PREFIX .. 'dead', ref)
  join(thread, ref)
end
return 1
"""

DELETE = f"""{PUT}
if is_deleted then return 0 end
redis.call('HSET', question, 'deleted', 1)
redis.call('HDEL', question, 'text', 'address', 'stopped')
redis.call('DEL', token)
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
local record = redis.call('HMGET', question, 'concluded', 'delivery', 'attempts')
redis.call('HSET', question, 'state', 'waiting', 'attempts', 0)
if state ~= 'waiting' then
  join(thread, ref)
elseif record[1] or record[2] or record[3] ~= '0' then
  hurry(thread)
else
  redis.call('HSET', question, 'state', 'done')
  redis.call('LREM', key('thread', thread), 1, ref)
  hurry(thread)
end
return 1
"""

STOP = f"""{PUT}
if state ~= 'waiting' and state ~= 'running' or is_deleted then return 0 end
if redis.call('HSET', question, 'stopped', 1) == 0 then return 0 end
if state == 'running' then tell(ref) else hurry(thread) end
return 1
"""

DUE = f"""{PRELUDE}
local delayed = PREFIX .. 'delayed'
for _, thread in ipairs(redis.call('ZRANGE', delayed, '-inf', now(), 'BYSCORE', 'LIMIT', 0, 100)) do hurry(thread) end
redis.pcall('XGROUP', 'CREATE', READY, GROUP, '0', 'MKSTREAM')
redis.call('PEXPIRE', READY, LIFE)
local due = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')[2]
return due and math.max(due - now(), 1) or -1
"""

TAKE = f"""{PRELUDE}
local entry, consumer, thread = ARGV[3], ARGV[4], ARGV[5]
local line = key('thread', thread)
local pending = redis.call('XPENDING', READY, GROUP, entry, entry, 1)[1]
if not pending or pending[2] ~= consumer then return false end
local ref, question, record
repeat
  ref = redis.call('LINDEX', line, 0)
  if not ref then
    drop(entry)
    return false
  end
  question = key('question', ref)
  record = redis.call('HMGET', question, 'state', 'entry')
  if record[1] == 'running' and record[2] ~= entry then
    drop(entry)
    return false
  end
  local is_lost = record[1] ~= 'waiting' and record[1] ~= 'running'
  if is_lost then redis.call('LPOP', line) end
until not is_lost
local attempt = redis.call('HINCRBY', question, 'attempts', 1)
local fence = redis.call('HINCRBY', question, 'fence', 1)
redis.call('HSET', question, 'state', 'running', 'entry', entry)
redis.call('PEXPIRE', question, LIFE)
redis.call('PEXPIRE', line, LIFE)
local token = redis.call('GET', key('interaction', ref))
record = redis.call('HMGET', question, 'revision', 'text', 'address', 'delivery', 'concluded', 'deleted', 'stopped')
return {{ref, attempt, fence, token, unpack(record)}}
"""

HELD = f"""{PRELUDE}
local ref, thread, entry, fence, revision = ARGV[3], ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7])
local question = key('question', ref)
if not holds(question, entry, fence) then return 4 end
local record = redis.call('HMGET', question, 'deleted', 'revision', 'stopped')
local change = 0
if revision >= 0 then
  if record[3] then change = 1 end
  if tonumber(record[2]) > revision then change = 2 end
  if record[1] then change = 3 end
end
"""

RENEW = f"""{HELD}
redis.call('XCLAIM', READY, GROUP, ARGV[8], 0, entry, 'JUSTID')
redis.call('PEXPIRE', question, LIFE)
redis.call('PEXPIRE', key('thread', thread), LIFE)
return change
"""

RECORD = f"""{HELD}
redis.call('HSET', question, 'delivery', ARGV[8])
return 1
"""

OUTDATED = """
drop(entry)
redis.call('HDEL', question, 'entry')
redis.call('PEXPIRE', question, LIFE)
redis.call('PEXPIRE', key('thread', thread), LIFE)
if change >= 2 then
  redis.call('HSET', question, 'state', 'waiting', 'attempts', 0)
  announce(thread)
  return 1
end
"""

SETTLE = f"""{HELD}{OUTDATED}
redis.call('HSET', question, 'state', 'done', 'concluded', 1)
redis.call('HDEL', question, 'text', 'stopped')
redis.call('DEL', key('interaction', ref))
leave(thread, ref)
return 1
"""

HAND_BACK = f"""{HELD}{OUTDATED}
redis.call('HSET', question, 'state', 'waiting')
redis.call('HINCRBY', question, 'attempts', -1)
announce(thread)
return 1
"""

FAIL = f"""{HELD}{OUTDATED}
local delay, reason = ARGV[8], ARGV[9]
if delay ~= '' then
  redis.call('HSET', question, 'state', 'waiting')
  redis.call('ZADD', PREFIX .. 'delayed', now() + delay, thread)
  redis.call('PEXPIRE', PREFIX .. 'delayed', LIFE)
  return 1
end
redis.call('HSET', question, 'state', 'dead', 'concluded', 1, 'reason', reason)
redis.call('HDEL', question, 'stopped')
redis.call('ZADD', PREFIX .. 'dead', now(), ref)
redis.call('PEXPIRE', PREFIX .. 'dead', LIFE)
leave(thread, ref)
return 1
"""

REAP = f"""{PRELUDE}
local held = {{}}
for i = 4, #ARGV do held[ARGV[i]] = true end
local found = redis.pcall('XPENDING', READY, GROUP, '-', '+', 100 + #ARGV, ARGV[3])
if found.err then return 0 end
for _, pending in ipairs(found) do
  local entry = pending[1]
  if not held[entry] then
    local fields = redis.call('XRANGE', READY, entry, entry)[1]
    local thread = fields and fields[2][2]
    local line = thread and key('thread', thread)
    local ref = line and redis.call('LINDEX', line, 0)
    local question = ref and key('question', ref)
    drop(entry)
    if question and redis.call('HGET', question, 'entry') == entry then
      redis.call('HSET', question, 'state', 'waiting')
      redis.call('HINCRBY', question, 'attempts', -1)
      redis.call('HDEL', question, 'entry')
    end
    if ref then announce(thread) end
  end
end
if #ARGV == 3 then redis.pcall('XGROUP', 'DELCONSUMER', READY, GROUP, ARGV[3]) end
return 1
"""
