"""What the inbox does on the server: each step is one script, so it happens wholly or not at all.

The keys, all on one node of a cluster as they share a hash tag:

    ready                 stream with an entry for each thread that has something to do, read by the group of workers
    thread:<thread>       list of the messages of a thread, in the order in which they were asked as far as they wait
                          untouched; the first is the one that is worked on
    question:<message>    hash: what is known of a question; it stays after the end, so that a repetition is noticed
    interaction:<message> the token of an interaction, which goes when it expires
    retry:<message>       the words of a question that failed, for a while, in case that it is to be tried again
    person:<person>       the messages with questions of somebody in a workspace, by the time of each
    workspace:<workspace> those of whom there are such messages there, by the time of the last
    waiting               the messages that wait, by the time since when; older than LIFE, their question is gone
    accepted:<platform>   those of them that were asked by a command and are in no thread as yet, by when the lease of
                          whoever accepted them ends
    delayed               the threads whose first message waits for its next attempt, by the time of that
    busy:<who>            the messages that somebody, or a workspace, is being answered, by when each lease ends
    parked:<who>          the threads that wait until less is done for them at once, by the time since when
    signals               stream that names the messages of which a worker has to look what has happened to them
    dead                  the messages that were given up, by the time of that

Whoever works on a question renews its entry in `ready`. An entry that nobody has renewed for the time of a lease goes
to another worker, with a higher fence; the former one finds that it holds nothing any more. A server that was failed
over to may have lost a fence and give it again, so whoever takes a question brings a name that nobody had before.

A question is `early` (something was heard of it before itself), `accepted`, `waiting`, `running`, `done` or `dead`. One
that is accepted goes by the id of the command that asked it, and is moved under that of the message which stands for
it; what it went by stays as `done` and deleted, so that a repetition is noticed. A thread is in `ready` or `delayed`
whenever its list is not empty. It may be in `ready` twice: whoever takes an entry of a thread
whose first message is worked on under another entry drops it.
"""

from __future__ import annotations

from core.model import MOST_ATTEMPTS

PRELUDE = """
local READY, PREFIX, LIFE, GROUP = KEYS[1], ARGV[1], ARGV[2], 'workers'
local LONGEST_PARK = 5000 -- milliseconds; after these a thread is looked at even if nobody has called it
local function key(kind, name) return PREFIX .. kind .. ':' .. name end
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function announce(thread)
  redis.call('XADD', READY, '*', 'thread', thread)
  redis.call('PEXPIRE', READY, LIFE)
end
local function endure(thread)
  redis.call('PEXPIRE', READY, LIFE)
  redis.call('PEXPIRE', key('thread', thread), LIFE)
end
local function join(thread, ref)
  if redis.call('RPUSH', key('thread', thread), ref) == 1 then announce(thread) end
  endure(thread)
end
local function hurry(thread)
  if redis.call('ZREM', PREFIX .. 'delayed', thread) == 0 then return false end
  announce(thread)
  return true
end
local function delay(thread, milliseconds)
  redis.call('ZADD', PREFIX .. 'delayed', now() + milliseconds, thread)
  redis.call('PEXPIRE', PREFIX .. 'delayed', LIFE)
end
local function tell(ref)
  redis.call('XADD', PREFIX .. 'signals', 'MAXLEN', '~', 1000, '*', 'message', ref)
  redis.call('PEXPIRE', PREFIX .. 'signals', LIFE)
end
local function wait(ref)
  redis.call('HSET', key('question', ref), 'state', 'waiting')
  redis.call('ZADD', PREFIX .. 'waiting', now(), ref)
  redis.call('PEXPIRE', PREFIX .. 'waiting', LIFE)
end
local function cease(ref, state)
  redis.call('HSET', key('question', ref), 'state', state)
  redis.call('ZREM', PREFIX .. 'waiting', ref)
end
local function askers(ref)
  local found = redis.call('HMGET', key('question', ref), 'person', 'home')
  return found[1] and {found[1], found[2]} or {}
end
local function occupy(ref, lease)
  for _, who in ipairs(askers(ref)) do
    redis.call('ZADD', key('busy', who), now() + lease, ref)
    redis.call('PEXPIRE', key('busy', who), lease)
  end
end
local function vacate(ref)
  for _, who in ipairs(askers(ref)) do
    redis.call('ZREM', key('busy', who), ref)
    local parked
    repeat
      parked = redis.call('ZPOPMIN', key('parked', who))[1]
    until not parked or hurry(parked)
  end
end
local function park(ref, thread, bounds)
  for at, who in ipairs(askers(ref)) do
    local busy = key('busy', who)
    redis.call('ZREMRANGEBYSCORE', busy, '-inf', now())
    redis.call('ZREM', busy, ref)
    if redis.call('ZCARD', busy) >= tonumber(bounds[at]) then
      local since = redis.call('ZSCORE', PREFIX .. 'waiting', ref) or now()
      redis.call('ZADD', key('parked', who), since, thread)
      redis.call('PEXPIRE', key('parked', who), LIFE)
      delay(thread, LONGEST_PARK)
      return true
    end
  end
  return false
end
local function enter(index, member)
  redis.call('ZADD', index, now(), member)
  redis.call('ZREMRANGEBYSCORE', index, '-inf', now() - LIFE)
  redis.call('PEXPIRE', index, LIFE)
end
local function note(ref, name, home)
  enter(key('person', name), ref)
  enter(key('workspace', home), name)
  redis.call('HSET', key('question', ref), 'person', name, 'home', home)
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
  local found = redis.call('HMGET', question, 'state', 'entry', 'fence', 'holder')
  return found[1] == 'running' and found[2] == entry and found[3] .. ' ' .. (found[4] or '') == fence
end
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
local entry, consumer, thread, lease, holder = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[9]
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
  if is_lost then
    redis.call('LPOP', line)
    redis.call('ZREM', PREFIX .. 'waiting', ref)
  end
until not is_lost
if park(ref, thread, {{ARGV[7], ARGV[8]}}) then
  drop(entry)
  if record[1] == 'running' then wait(ref) end
  return false
end
redis.call('XCLAIM', READY, GROUP, consumer, 0, entry, 'JUSTID') -- its time begins now, and not when it was read
occupy(ref, lease)
local attempt = redis.call('HINCRBY', question, 'attempts', 1)
if attempt == 1 then redis.call('HDEL', question, 'failures') end
local fence = redis.call('HINCRBY', question, 'fence', 1)
redis.call('HSET', question, 'entry', entry, 'holder', holder)
cease(ref, 'running')
redis.call('DEL', key('retry', ref))
redis.call('PEXPIRE', question, LIFE)
redis.call('PEXPIRE', line, LIFE)
local token = redis.call('GET', key('interaction', ref))
local fields = {{'revision', 'text', 'address', 'delivery', 'concluded', 'deleted', 'stopped', 'failures', 'begun'}}
return {{ref, attempt, fence, token, unpack(redis.call('HMGET', question, unpack(fields)))}}
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
occupy(ref, ARGV[9])
redis.call('PEXPIRE', question, LIFE)
redis.call('PEXPIRE', key('thread', thread), LIFE)
return change
"""

RECORD = f"""{HELD}
redis.call('HSET', question, 'delivery', ARGV[8])
return 1
"""

KEPT = """
local function retain(words, kept)
  if words ~= '' and change < 2 then redis.call('SET', key('retry', ref), words, 'PX', kept) end
end
"""

KEEP = f"""{HELD}{KEPT}
retain(ARGV[8], ARGV[9])
return 1
"""

OUTDATED = """
drop(entry)
vacate(ref)
redis.call('HDEL', question, 'entry', 'holder')
redis.call('PEXPIRE', question, LIFE)
redis.call('PEXPIRE', key('thread', thread), LIFE)
if change >= 2 then
  redis.call('HSET', question, 'attempts', 0)
  wait(ref)
  announce(thread)
  return 1
end
"""

SETTLE = f"""{HELD}{OUTDATED}
redis.call('HSET', question, 'state', 'done', 'concluded', 1)
redis.call('HDEL', question, 'text', 'stopped', 'person', 'home', 'asked', 'begun')
if redis.call('EXISTS', key('retry', ref)) == 0 then redis.call('DEL', key('interaction', ref)) end
leave(thread, ref)
return 1
"""

HAND_BACK = f"""{HELD}
redis.call('HSET', question, 'begun', 1)
{OUTDATED}
wait(ref)
redis.call('HINCRBY', question, 'attempts', -1)
announce(thread)
return 1
"""

FAIL = f"""{HELD}{OUTDATED}{KEPT}
local pause, reason, words, kept = ARGV[8], ARGV[9], ARGV[10], ARGV[11]
if pause ~= '' then
  redis.call('HINCRBY', question, 'failures', 1)
  wait(ref)
  delay(thread, pause)
  return 1
end
local is_told_again = tonumber(redis.call('HGET', question, 'attempts')) > {MOST_ATTEMPTS}
redis.call(is_told_again and 'HSETNX' or 'HSET', question, 'reason', reason)
redis.call('HSET', question, 'state', 'dead', 'concluded', 1)
redis.call('HDEL', question, 'text', 'stopped', 'person', 'home', 'asked', 'begun')
retain(words, kept)
redis.call('ZADD', PREFIX .. 'dead', now(), ref)
redis.call('ZREMRANGEBYSCORE', PREFIX .. 'dead', '-inf', now() - LIFE)
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
      vacate(ref)
      wait(ref)
      redis.call('HINCRBY', question, 'attempts', -1)
      redis.call('HSET', question, 'begun', 1)
      redis.call('HDEL', question, 'entry', 'holder')
    end
    if ref then announce(thread) end
  end
end
if #ARGV == 3 then redis.pcall('XGROUP', 'DELCONSUMER', READY, GROUP, ARGV[3]) end
return 1
"""

SWEEP = f"""{PRELUDE}
local consumer, lease = ARGV[3], tonumber(ARGV[4])
local found = redis.pcall('XPENDING', READY, GROUP, 'IDLE', lease, '-', '+', 100)
if found.err then return false end
for _, pending in ipairs(found) do
  if pending[2] ~= consumer then
    local claimed = redis.call('XCLAIM', READY, GROUP, consumer, lease, pending[1])[1]
    if claimed and claimed[2] then return {{claimed[1], claimed[2][2]}} end
  end
end
for _, each in ipairs(redis.call('XINFO', 'CONSUMERS', READY, GROUP)) do
  local about = {{}}
  for i = 1, #each, 2 do about[each[i]] = each[i + 1] end
  if about.pending == 0 and about.idle > 10 * lease then
    redis.call('XGROUP', 'DELCONSUMER', READY, GROUP, about.name)
  end
end
return false
"""
