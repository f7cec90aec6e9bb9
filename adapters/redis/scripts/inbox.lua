-- The inbox: its keys, what its scripts share, and what whoever runs the bot sees of it. All keys begin with PREFIX and
-- are on one node of a cluster, as they share a hash tag:
--
--     ready                 stream with an entry for each thread that has something to do, read by the group of workers
--     thread:<thread>       list of the messages of a thread, in the order in which they were asked as far as they wait
--                           untouched; the first is the one that is worked on
--     question:<message>    hash: what is known of a question; it stays after the end, so that a repetition is noticed
--     interaction:<message> the token of an interaction, which goes when it expires; that of a question which is only
--                           accepted is in its hash, which goes about as soon
--     retry:<message>       the words of a question that failed, for a while, in case that it is to be tried again
--     waiting               the messages that wait, by the time since when; older than LIFE, their question is gone
--     accepted:<platform>   those of them that were asked by a command and are in no thread as yet, by when the lease of
--                           whoever accepted them ends
--     delayed               the threads whose first message waits for its next attempt, by the time of that
--     clock                 the time when something was last delayed, or due; the clock may be put back after it
--     since                 the time since when all this is kept for certain; younger than a process that uses it, some
--                           or all was lost
--     run                   which start of the server that was: whatever it had last been told may be gone with the next
--     busy:<who>            the messages that somebody, or a workspace, is being answered, by when each lease ends
--     parked:<who>          the threads that wait until less is done for them at once, by the time since when; all are
--                           in `delayed` too, but only the first is due before its question would go
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
--
-- Since when somebody has been at a question is in `first`; of one that was handed back, it is how long somebody was, as a
-- negative number, since the time in which nobody is does not count.
--
-- Of a question, `put` tells by which start of the server, and when, it was last written down: whoever works on it finds
-- by this whether the store has lost it, and has it again. `strays` are the messages of a worker that had it before such
-- a loss; whoever takes the question next has them as `leaving`, and removes them at the end.
local READY, GROUP = PREFIX .. 'ready', 'workers'
local WAITING, DELAYED, DEAD, SIGNALS = PREFIX .. 'waiting', PREFIX .. 'delayed', PREFIX .. 'dead', PREFIX .. 'signals'
local CLOCK, SINCE, RUN = PREFIX .. 'clock', PREFIX .. 'since', PREFIX .. 'run'

-- All in milliseconds.
local LIFE = 259200000 -- 3 days since something was last heard of a question; as long is a repetition noticed
local EARLY_LIFE = 600000 -- 10 minutes for what was heard of a question before itself
local ACCEPTED_LIFE = 5400000 -- 90 minutes for a question whose place nobody finds: no way back to a person is open for
                              -- longer than 30, and the clock may be put forward by an hour meanwhile
local FAILED_LIFE = 3600000 -- an hour for the words of a question that failed
local DEAD_LIFE = 86400000 -- a day for those of a question that nobody tries any more, so that an operator can
local LONGEST_PARK = 5000 -- after these the first thread of a line is looked at even if nobody has called it

local this_run -- which start of the server this is, as far as it has been asked

-- Returns which start of the server this is; not every user may ask, and then it is always the same.
local function run_id()
  local about = this_run or redis.pcall('INFO', 'server')
  this_run = type(about) == 'string' and string.match(about, 'run_id:(%x+)') or this_run or ''
  return this_run
end

-- Returns since when nothing was lost, which is noted at first, and whenever the server has started again.
local function kept_since()
  local run, found = run_id(), redis.call('MGET', RUN, SINCE)
  local known, since = found[1], found[2]
  if known ~= run then redis.call('SET', RUN, run, 'PX', LIFE) end
  if since and (not known or known == run) then return tonumber(since) end
  redis.call('SET', SINCE, now(), 'PX', LIFE)
  return now()
end

-- Returns for how many milliseconds nothing was lost, as far as that is known; the clock may have been put back meanwhile.
local function kept_for(since) return math.max(now() - (since or kept_since()), 0) end

local function key(kind, name) return PREFIX .. kind .. ':' .. name end

-- Lets a worker look at a thread.
local function offer(thread)
  redis.call('XADD', READY, '*', 'thread', thread)
  redis.call('PEXPIRE', READY, LIFE)
end

local function enqueue(thread, ref) -- returns whether no other question is there
  local is_first = redis.call('RPUSH', key('thread', thread), ref) == 1
  if is_first then offer(thread) else redis.call('PEXPIRE', READY, LIFE) end
  redis.call('PEXPIRE', key('thread', thread), LIFE)
  return is_first
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

-- Counts a question among those that wait, in the place of a former one that was counted just before.
local function let_wait(ref, former)
  redis.call('ZADD', WAITING, now(), ref)
  if not former or redis.call('ZREM', WAITING, former) == 0 then redis.call('PEXPIRE', WAITING, LIFE) end
end

-- Sets the state of a question, and further fields of it.
local function set_state(ref, state, ...)
  redis.call('HSET', key('question', ref), 'state', state, ...)
  if state == 'waiting' then let_wait(ref) else redis.call('ZREM', WAITING, ref) end
end

local asked_by = {} -- whose questions these are, as far as it has been read

-- Notes whose question it is, and further fields of it.
local function note_asker(ref, person, home, ...)
  redis.call('HSET', key('question', ref), 'person', person, 'home', home, ...)
  asked_by[ref] = {person, home}
end

-- Returns the person who asked and their workspace: each has so many slots for questions that are answered at once.
local function askers(ref)
  asked_by[ref] = asked_by[ref] or redis.call('HMGET', key('question', ref), 'person', 'home')
  return asked_by[ref][1] and asked_by[ref] or {}
end

local function acquire_slots(ref, lease)
  for _, who in ipairs(askers(ref)) do
    redis.call('ZADD', key('busy', who), now() + lease, ref)
    redis.call('PEXPIRE', key('busy', who), lease)
  end
end

-- Has the first thread of a line looked at soon, even if nobody calls it: whoever should may be gone. No other one is
-- looked at before it is called, however many wait there.
local function watch_line(who)
  local line, first, is_parked = key('parked', who), nil, nil
  repeat
    first = redis.call('ZRANGE', line, 0, 0)[1]
    is_parked = first and redis.call('ZSCORE', DELAYED, first)
    if first and not is_parked then redis.call('ZREM', line, first) end
  until is_parked or not first
  if first then redis.call('ZADD', DELAYED, 'XX', 'LT', now() + LONGEST_PARK, first) end
end

local function release_slots(ref)
  local who, lines = askers(ref), {}
  for i, each in ipairs(who) do
    redis.call('ZREM', key('busy', each), ref)
    lines[i] = key('parked', each)
  end
  if #lines == 0 or redis.call('EXISTS', unpack(lines)) == 0 then return end
  for _, each in ipairs(who) do
    local parked
    repeat
      parked = redis.call('ZPOPMIN', key('parked', each))[1]
    until not parked or promote(parked)
    if parked then watch_line(each) end
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

-- Returns for how many milliseconds nothing was lost, what tells this time without a loss from any other, and the time.
function script.kept_for()
  local since = kept_since()
  for _, name in ipairs({RUN, SINCE}) do redis.call('PEXPIRE', name, LIFE) end
  redis.call('ZREMRANGEBYSCORE', WAITING, '-inf', now() - LIFE)
  return {kept_for(since), run_id() .. ' ' .. since, now()}
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
