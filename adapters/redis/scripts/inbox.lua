-- The inbox: its keys, what its scripts share, and what whoever runs the bot sees of it. All keys begin with PREFIX and
-- are on one node of a cluster, as they share a hash tag:
--
--     ready                 stream with an entry for each thread that has something to do, read by the group of workers
--     thread:<thread>       list of the messages of a thread, in the order in which they were asked as far as they wait
--                           untouched; the first is the one that is worked on
--     question:<message>    hash: what is known of a question; it stays after the end, so that a repetition is noticed
--     interaction:<message> the token of an interaction, which goes when it expires
--     retry:<message>       the words of a question that failed, for a while, in case that it is to be tried again
--     person:<person>       the messages with questions of somebody in a workspace, by the time of each
--     workspace:<workspace> those of whom there are such messages there, by the time of the last
--     waiting               the messages that wait, by the time since when; older than LIFE, their question is gone
--     accepted:<platform>   those of them that were asked by a command and are in no thread as yet, by when the lease of
--                           whoever accepted them ends
--     delayed               the threads whose first message waits for its next attempt, by the time of that
--     clock                 the time when something was last delayed, or due; the clock may be put back after it
--     since                 the time since when all this is kept; younger than a process that uses it, it was lost
--     busy:<who>            the messages that somebody, or a workspace, is being answered, by when each lease ends
--     parked:<who>          the threads that wait until less is done for them at once, by the time since when
--     signals               stream that names the messages of which a worker has to look what has happened to them
--     dead                  the messages that were given up, by the time of that
--
-- Whoever works on a question renews its entry in `ready`. An entry that nobody has renewed for the time of a lease goes
-- to another worker, with a higher fence; the former one finds that it holds nothing any more. A server that was failed
-- over to may have lost a fence and give it again, so whoever takes a question brings a name that nobody had before.
--
-- A question is `early` (something was heard of it before itself), `accepted`, `waiting`, `running`, `done` or `dead`.
-- One that is accepted goes by the id of the command that asked it, and is moved under that of the message which stands
-- for it; what it went by stays as `done` and deleted, so that a repetition is noticed. A thread is in `ready` or
-- `delayed` whenever its list is not empty. It may be in `ready` twice: whoever takes an entry of a thread whose first
-- message is worked on under another entry drops it.
local READY, GROUP = PREFIX .. 'ready', 'workers'
local WAITING, DELAYED, DEAD, SIGNALS = PREFIX .. 'waiting', PREFIX .. 'delayed', PREFIX .. 'dead', PREFIX .. 'signals'
local CLOCK, SINCE = PREFIX .. 'clock', PREFIX .. 'since'

-- All in milliseconds.
local LIFE = 259200000 -- 3 days since something was last heard of a question; as long is a repetition noticed
local EARLY_LIFE = 600000 -- 10 minutes for what was heard of a question before itself
local ACCEPTED_LIFE = 5400000 -- 90 minutes for a question whose place nobody finds: no way back to a person is open for
                              -- longer than 30, and the clock may be put forward by an hour meanwhile
local FAILED_LIFE = 3600000 -- an hour for the words of a question that failed
local DEAD_LIFE = 86400000 -- a day for those of a question that nobody tries any more, so that an operator can
local LONGEST_PARK = 5000 -- after these a thread is looked at even if nobody has called it

local function key(kind, name) return PREFIX .. kind .. ':' .. name end

-- Lets a worker look at a thread.
local function offer(thread)
  redis.call('XADD', READY, '*', 'thread', thread)
  redis.call('PEXPIRE', READY, LIFE)
end

local function enqueue(thread, ref)
  if redis.call('RPUSH', key('thread', thread), ref) == 1 then offer(thread) end
  redis.call('PEXPIRE', READY, LIFE)
  redis.call('PEXPIRE', key('thread', thread), LIFE)
end

local function dequeue(thread, ref)
  local line = key('thread', thread)
  redis.call('LREM', line, 1, ref)
  if redis.call('LLEN', line) > 0 then offer(thread) end
end

-- Lets nothing wait longer because the clock was put back, as far as it was seen before.
local function follow_clock()
  local time = now()
  local back = tonumber(redis.call('GET', CLOCK) or time) - time
  redis.call('SET', CLOCK, time, 'PX', LIFE)
  if back < LONGEST_PARK then return end
  local found = redis.call('ZRANGE', DELAYED, 0, -1, 'WITHSCORES')
  for i = 1, #found, 2 do redis.call('ZADD', DELAYED, found[i + 1] - back, found[i]) end
end

local function delay(thread, milliseconds)
  follow_clock()
  redis.call('ZADD', DELAYED, now() + milliseconds, thread)
  redis.call('PEXPIRE', DELAYED, LIFE)
end

-- Lets a delayed thread wait no longer; returns whether it was one.
local function promote(thread)
  if redis.call('ZREM', DELAYED, thread) == 0 then return false end
  offer(thread)
  return true
end

local function notify(ref)
  redis.call('XADD', SIGNALS, 'MAXLEN', '~', 1000, '*', 'message', ref)
  redis.call('PEXPIRE', SIGNALS, LIFE)
end

local function set_state(ref, state)
  redis.call('HSET', key('question', ref), 'state', state)
  if state == 'waiting' or state == 'accepted' then
    redis.call('ZADD', WAITING, now(), ref)
    redis.call('PEXPIRE', WAITING, LIFE)
  else
    redis.call('ZREM', WAITING, ref)
  end
end

-- Notes whose question it is, so that it is found when they are to be forgotten.
local function note_asker(ref, person, home)
  for index, member in pairs({[key('person', person)] = ref, [key('workspace', home)] = person}) do
    redis.call('ZADD', index, now(), member)
    redis.call('ZREMRANGEBYSCORE', index, '-inf', now() - LIFE)
    redis.call('PEXPIRE', index, LIFE)
  end
  redis.call('HSET', key('question', ref), 'person', person, 'home', home)
end

-- Returns the person who asked and their workspace: each has so many slots for questions that are answered at once.
local function askers(ref)
  local found = redis.call('HMGET', key('question', ref), 'person', 'home')
  return found[1] and found or {}
end

local function acquire_slots(ref, lease)
  for _, who in ipairs(askers(ref)) do
    redis.call('ZADD', key('busy', who), now() + lease, ref)
    redis.call('PEXPIRE', key('busy', who), lease)
  end
end

local function release_slots(ref)
  for _, who in ipairs(askers(ref)) do
    redis.call('ZREM', key('busy', who), ref)
    local parked
    repeat
      parked = redis.call('ZPOPMIN', key('parked', who))[1]
    until not parked or promote(parked)
  end
end

local function acknowledge(entry)
  redis.call('XACK', READY, GROUP, entry)
  redis.call('XDEL', READY, entry)
end

-- Returns how many questions wait, are worked on and were given up, and for how long the oldest has waited, or has been
-- left by whoever had it.
function script.backlog(lease)
  for _, index in ipairs({WAITING, DEAD}) do redis.call('ZREMRANGEBYSCORE', index, '-inf', now() - LIFE) end
  local first = redis.call('ZRANGE', WAITING, 0, 0, 'WITHSCORES')[2]
  local oldest = first and now() - first or 0
  local pending = redis.pcall('XPENDING', READY, GROUP)
  local left = redis.pcall('XPENDING', READY, GROUP, 'IDLE', lease, '-', '+', 100)
  if not left.err then
    for _, entry in ipairs(left) do oldest = math.max(oldest, entry[3]) end
  end
  return {redis.call('ZCARD', WAITING), pending.err and 0 or pending[1], redis.call('ZCARD', DEAD), oldest}
end

function script.kept_since()
  redis.call('SET', SINCE, now(), 'NX')
  redis.call('PEXPIRE', SINCE, LIFE)
  return tonumber(redis.call('GET', SINCE))
end

function script.waiting()
  redis.call('ZREMRANGEBYSCORE', WAITING, '-inf', now() - LIFE)
  return redis.call('ZCARD', WAITING)
end

-- Removes a question that was given up, with its words.
function script.drop(ref)
  local was_there = redis.call('ZREM', DEAD, ref)
  redis.call('DEL', key('retry', ref), key('interaction', ref))
  if redis.call('HGET', key('question', ref), 'state') == 'dead' then
    redis.call('HSET', key('question', ref), 'state', 'done')
  end
  return was_there
end
