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
--     clock                 the time when somebody last looked at it; the clock may be set after it
--     put_back              how many milliseconds the clock was put back since `since`; fewer than 0 if forward
--     since                 the time since when all this is kept for certain; younger than a process that uses it, some
--                           or all was lost
--     run                   which start of the server that was: whatever it had last been told may be gone with the next
--     busy:<who>            the messages that somebody, or a workspace, is being answered, by when each lease ends
--     lines:<who>           the lines of those who wait until less is done for them at once, one for each channel, by
--                           whose turn it is, so that a channel in which much is asked makes no other one wait
--     parked:<who> <channel> such a line: its threads by the time since when they wait; all are in `delayed` too, but only
--                           the first of the first line is due before its question would go. An older version has one
--                           line for all, `parked:<who>`, which comes to its turn like the others
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
local CLOCK, PUT_BACK, SINCE, RUN = PREFIX .. 'clock', PREFIX .. 'put_back', PREFIX .. 'since', PREFIX .. 'run'

-- All in milliseconds.
local LIFE = 259200000 -- 3 days since something was last heard of a question; as long is a repetition noticed
local EARLY_LIFE = 600000 -- 10 minutes for what was heard of a question before itself
local ACCEPTED_LIFE = 5400000 -- 90 minutes for a question whose place nobody finds: no way back to a person is open for
                              -- longer than 30, and the clock may be put forward by an hour meanwhile
local FAILED_LIFE = 3600000 -- an hour for the words of a question that failed
local DEAD_LIFE = 86400000 -- a day for those of a question that nobody tries any more, so that an operator can
local LEAST_JUMP = 5000 -- of a clock that is followed; by less it harms nobody, as a lease is renewed long before its end
local LONGEST_PARK = 5000 -- after these the first thread of a line is looked at even if nobody has called it

local this_run -- which start of the server this is, as far as it has been asked

-- Returns which start of the server this is; not every user may ask, and then it is always the same.
local function run_id()
  local about = this_run or redis.pcall('INFO', 'server')
  this_run = type(about) == 'string' and string.match(about, 'run_id:(%x+)') or this_run or ''
  return this_run
end

local function key(kind, name) return PREFIX .. kind .. ':' .. name end

-- Returns the line in which a thread waits for `who` beside others of its channel.
local function line_of(who, thread) return key('parked', who .. ' ' .. string.match(thread, '^[^:]*:[^:]*:[^:]*')) end

-- Moves what is written down with a time along with a clock that was set so far, since it comes when it would have come.
-- Whoever holds something has as long for it as before: how much of that is over, nobody knows once the clock is back.
local function move_times(jump)
  local function move(index, member) redis.call('ZADD', index, 'XX', 'INCR', jump, member) end
  redis.call('SET', PUT_BACK, (redis.call('GET', PUT_BACK) or 0) - jump, 'PX', LIFE)
  for _, thread in ipairs(redis.call('ZRANGE', DELAYED, 0, -1)) do move(DELAYED, thread) end
  local refs, pending = redis.call('ZRANGE', WAITING, 0, -1), redis.pcall('XPENDING', READY, GROUP, '-', '+', 10000)
  for _, ref in ipairs(refs) do
    move(WAITING, ref)
    move(key('accepted', string.match(ref, '^[^:]+')), ref)
    local thread = string.match(ref, '^(.*):')
    local is_first = redis.call('LINDEX', key('thread', thread), 0) == ref
    for _, who in ipairs(is_first and redis.call('HMGET', key('question', ref), 'person', 'home') or {}) do
      if who then move(line_of(who, thread), thread) end
    end
  end
  for _, each in ipairs(pending.err and {} or pending) do
    local idle, entry = jump < 0 and 0 or math.max(each[3] - jump, 0), redis.call('XRANGE', READY, each[1], each[1])[1]
    redis.call('XCLAIM', READY, GROUP, each[2], 0, each[1], 'IDLE', idle, 'JUSTID')
    table.insert(refs, entry and redis.call('LINDEX', key('thread', entry[2][2]), 0) or nil)
  end
  local is_moved = {} -- one that waits, and of whose thread a worker has an entry, is there twice
  for _, ref in ipairs(refs) do
    if not is_moved[ref] and tonumber(redis.call('HGET', key('question', ref), 'first') or '0') > 0 then
      redis.call('HINCRBY', key('question', ref), 'first', jump)
    end
    is_moved[ref] = true
  end
end

-- Looks whether the clock was set, and follows it. That it was put back shows by itself; that it was put forward, where
-- somebody says how many milliseconds `ago` they had looked, by a clock of their own, and the server has forgotten nothing.
-- But the server may have been frozen while that lay there: then it returns how many have passed by the clock, and nothing
-- is to be done before they say, having heard that, how long the `jump` was at least, as theirs went on meanwhile. The
-- clock of a machine that was paused as a whole did not: if nobody else looks, all lasts that much longer.
local function follow_clock(ago, jump)
  local clock, run = unpack(redis.call('MGET', CLOCK, RUN))
  local past, is_told = now() - (clock or now()), ago and run == run_id()
  if past < 0 then
    jump = past
  elseif not is_told or past - ago < LEAST_JUMP then -- or another process has followed it just now
    jump = 0
  elseif jump < 0 then
    return past
  end
  if ago or jump < 0 then redis.call('SET', CLOCK, now(), 'PX', LIFE) end
  if math.abs(jump) >= LEAST_JUMP then move_times(jump) end
end

-- Returns since when nothing was lost, which is noted at first, and whenever the server has started again; and for how
-- many milliseconds that is.
local function kept_since()
  local run, found = run_id(), redis.call('MGET', RUN, SINCE, CLOCK, PUT_BACK)
  local known, since, clock, put_back = unpack(found)
  if known ~= run then redis.call('SET', RUN, run, 'PX', LIFE) end
  if since and (not known or known == run) then
    return since, math.max(math.max(now(), clock or 0) + (put_back or 0) - since, 0) -- it may have been put back just now
  end
  follow_clock(math.huge)
  redis.call('SET', SINCE, now(), 'PX', LIFE)
  redis.call('DEL', PUT_BACK)
  return now(), 0
end

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

-- Lets a line have its turn after all others that wait for `who`; `NX` leaves one that has a place in it.
local function queue_line(who, line, condition)
  local last = redis.call('ZRANGE', key('lines', who), 0, 0, 'REV', 'WITHSCORES')[2] or 0
  redis.call('ZADD', key('lines', who), condition, last + 1, line)
end

-- Returns the line that has its turn and its first thread; what waits no longer is dropped.
local function first_parked(who)
  local lines = key('lines', who)
  repeat
    local line = redis.call('ZRANGE', lines, 0, 0)[1]
    local thread = line and redis.call('ZRANGE', line, 0, 0)[1]
    if thread and redis.call('ZSCORE', DELAYED, thread) then return line, thread end
    if thread then redis.call('ZREM', line, thread) elseif line then redis.call('ZREM', lines, line) end
  until not line
end

-- Has whoever comes next looked at soon, even if nobody calls them: whoever should may be gone. Nobody else is looked at
-- before they are called, however many wait.
local function watch_lines(who)
  local _, first = first_parked(who)
  if first then redis.call('ZADD', DELAYED, 'XX', 'LT', now() + LONGEST_PARK, first) end
end

local function release_slots(ref)
  local who, lines = askers(ref), {}
  for _, each in ipairs(who) do
    redis.call('ZREM', key('busy', each), ref)
    table.insert(lines, key('lines', each))
    table.insert(lines, key('parked', each))
  end
  if #lines == 0 or redis.call('EXISTS', unpack(lines)) == 0 then return end
  for _, each in ipairs(who) do
    if redis.call('EXISTS', key('parked', each)) == 1 then queue_line(each, key('parked', each), 'NX') end
    local line, thread = first_parked(each)
    if thread then
      redis.call('ZREM', line, thread)
      promote(thread)
      queue_line(each, line, 'XX')
      watch_lines(each)
    end
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
  local oldest = first and math.max(now() - first, 0) or 0
  local pending = redis.pcall('XPENDING', READY, GROUP)
  local left = redis.pcall('XPENDING', READY, GROUP, 'IDLE', lease, '-', '+', 100)
  if not left.err then
    for _, entry in ipairs(left) do oldest = math.max(oldest, entry[3]) end
  end
  return {redis.call('ZCARD', WAITING), pending.err and 0 or pending[1], redis.call('ZCARD', DEAD), oldest}
end

-- Returns for how many milliseconds nothing was lost, what tells this time without a loss from any other, and the time.
function script.kept_for(ago, jump)
  local past = follow_clock(ago, jump)
  if past then return past end
  local since, milliseconds = kept_since()
  for _, name in ipairs({RUN, SINCE, PUT_BACK}) do redis.call('PEXPIRE', name, LIFE) end
  redis.call('ZREMRANGEBYSCORE', WAITING, '-inf', now() - LIFE)
  return {milliseconds, run_id() .. ' ' .. since, now()}
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
