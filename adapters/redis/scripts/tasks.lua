-- What workers do: they find threads that have something to do, take the first question of one, and hold it until it is
-- settled. Who does not hold it any more changes nothing, and is returned false.
local STOPPED, EDITED, DELETED, LOST = 1, 2, 3, 4 -- as `Interruption` has them

-- Returns what has happened to a question since its `revision` was taken, which is negative of one that was deleted, and
-- one that is to be begun anew counts as edited; whether a worker that had lost it has left something to it, whether an
-- interaction may be kept for it, and whether its words are.
local function change_of(ref, entry, fence, revision)
  local found = redis.call('HMGET', key('question', ref),
    'state', 'entry', 'fence', 'holder', 'deleted', 'revision', 'stopped', 'strays', 'person', 'home', 'way', 'anew',
    'kept')
  asked_by[ref] = {found[9], found[10]}
  local is_held = found[1] == 'running' and found[2] == entry and found[3] .. ' ' .. (found[4] or '') == fence
  if not is_held then return LOST end
  local has_way = found[11] ~= '0'
  if revision < 0 then return 0, found[8], has_way, found[13] end
  if found[5] then return DELETED end
  if tonumber(found[6]) > revision or found[12] then return EDITED end
  return found[7] and STOPPED or 0, found[8], has_way, found[13]
end

local function touch(ref, thread)
  redis.call('PEXPIRE', key('question', ref), LIFE)
  redis.call('PEXPIRE', key('thread', thread), LIFE)
end

-- Ends a hold; returns whether what changed meanwhile comes next, so that nothing else is to be done.
local function let_go(ref, thread, entry, change)
  acknowledge(entry)
  release_slots(ref)
  if change < EDITED then return false end
  set_state(ref, 'waiting', 'attempts', 0)
  offer(thread)
  return true
end

local function conclude_task(ref, thread, state)
  local question = key('question', ref)
  redis.call('HSET', question, 'state', state, 'concluded', 1)
  redis.call('HDEL', question, 'entry', 'holder', 'text', 'way', 'stopped', 'person', 'home', 'asked', 'begun',
    'leaving', 'first', 'anew', 'answer', 'kept')
  dequeue(thread, ref)
end

-- Lets a question wait that somebody had who did not come to its end; unless it `counts`, as if it had not been taken.
local function give_back(ref, counts)
  if not counts then redis.call('HINCRBY', key('question', ref), 'attempts', -1) end
  local first = tonumber(redis.call('HGET', key('question', ref), 'first') or '0')
  set_state(ref, 'waiting', 'first', first > 0 and math.min(first - now(), 0) or first)
end

-- Lets a thread wait if as much as may be is done at once for whoever asks; returns whether it does.
local function park(ref, thread, lease, bounds)
  for at, who in ipairs(askers(ref)) do
    local busy = key('busy', who)
    local function is_full() -- what is held for longer than a lease was so before the clock was put back
      return redis.call('ZCOUNT', busy, '(' .. now(), now() + lease) >= bounds[at]
    end
    if is_full() and (redis.call('ZREM', busy, ref) == 0 or is_full()) then
      local line = line_of(who, thread)
      redis.call('ZADD', line, redis.call('ZSCORE', WAITING, ref) or now(), thread)
      queue_line(who, line, 'NX')
      for _, each in ipairs({line, key('lines', who)}) do redis.call('PEXPIRE', each, LIFE) end
      delay(thread, LIFE)
      watch_lines(who)
      return true
    end
  end
  return false
end

-- Offers the threads that have waited long enough; returns in how many milliseconds the next has.
function script.promote_due()
  redis.pcall('XGROUP', 'CREATE', READY, GROUP, '0', 'MKSTREAM')
  redis.call('PEXPIRE', READY, LIFE)
  if redis.call('EXISTS', DELAYED) == 0 then return false end
  local past = redis.call('ZRANGE', DELAYED, '-inf', now(), 'BYSCORE', 'LIMIT', 0, 100)
  for _, thread in ipairs(past) do promote(thread) end
  local due = redis.call('ZRANGE', DELAYED, 0, 0, 'WITHSCORES')[2]
  return due and math.max(due - now(), 1)
end

-- Gives an entry of which its worker has shown no sign of life; removes workers that are gone.
function script.sweep(consumer, lease, ago, jump)
  local past = follow_clock(ago, jump)
  if past then return past end
  local found = redis.pcall('XPENDING', READY, GROUP, 'IDLE', lease, '-', '+', 100)
  if found.err then return false end
  for _, pending in ipairs(found) do
    if pending[2] ~= consumer then
      local claimed = redis.call('XCLAIM', READY, GROUP, consumer, lease, pending[1])[1]
      if claimed and claimed[2] then return {claimed[1], claimed[2][2]} end
    end
  end
  for _, each in ipairs(redis.call('XINFO', 'CONSUMERS', READY, GROUP)) do
    local about = {}
    for i = 1, #each, 2 do about[each[i]] = each[i + 1] end
    if about.pending == 0 and about.idle > 10 * lease then
      redis.call('XGROUP', 'DELCONSUMER', READY, GROUP, about.name)
    end
  end
  return false
end

local NAMES = {'state', 'entry', 'person', 'home', 'attempts', 'fence', 'strays', 'leaving', 'revision', 'put', 'failures',
  'text', 'address', 'delivery', 'concluded', 'deleted', 'stopped', 'begun', 'way', 'first', 'anew', 'answer'}

-- Takes the first question of a thread, and says since how many milliseconds it is held; false if there is none, if
-- somebody else has it, or if it has to wait.
function script.take(entry, thread, consumer, holder, lease, per_person, per_workspace)
  local line = key('thread', thread)
  local pending = redis.call('XPENDING', READY, GROUP, entry, entry, 1)[1]
  if not pending or pending[2] ~= consumer then return false end
  local ref, known = nil, {}
  repeat
    ref = redis.call('LINDEX', line, 0)
    local found = ref and redis.call('HMGET', key('question', ref), unpack(NAMES)) or {}
    for i, name in ipairs(NAMES) do known[name] = found[i] end
    local state = known.state
    if not ref or state == 'running' and known.entry ~= entry then
      acknowledge(entry)
      return false
    end
    local is_lost = state ~= 'waiting' and state ~= 'running'
    if is_lost then
      redis.call('LPOP', line)
      redis.call('ZREM', WAITING, ref)
    end
  until not is_lost
  asked_by[ref] = {known.person, known.home}
  if park(ref, thread, lease, {per_person, per_workspace}) then
    acknowledge(entry)
    if known.state == 'running' then set_state(ref, 'waiting') end
    return false
  end
  local idle = pending[3]
  if idle > lease / 10 then -- else its time began when it was read
    redis.call('XCLAIM', READY, GROUP, consumer, 0, entry, 'JUSTID')
    idle = 0
  end
  acquire_slots(ref, lease)
  local question, attempt, fence = key('question', ref), (known.attempts or 0) + 1, (known.fence or 0) + 1
  local first = tonumber(known.first or '0')
  if first <= 0 then first = first + now() end
  set_state(ref, 'running', 'attempts', attempt, 'fence', fence, 'entry', entry, 'holder', holder, 'first', first)
  if attempt > 1 or known.begun then -- no other one has been tried
    redis.call('DEL', key('retry', ref))
    redis.call('HDEL', question, 'kept')
  end
  if known.anew then redis.call('HDEL', question, 'anew') end
  if attempt == 1 and known.failures then redis.call('HDEL', question, 'failures') end
  if known.strays then
    redis.call('HSET', question, 'leaving', known.strays) -- further ones are for whoever takes it after this
    redis.call('HDEL', question, 'strays')
  end
  local is_old = string.match(known.put or '', '^%x*') ~= run_id() -- what was posted may have been lost
  return {ref, attempt, fence, known.revision, known.put, attempt > 1 and known.failures, math.max(now() - first, 0), idle,
    known.way ~= '0' and redis.call('GET', key('interaction', ref)), known.text, known.address, known.delivery,
    known.strays or known.leaving, known.answer, known.concluded, known.deleted, known.stopped, is_old and '1' or known.begun}
end

-- Hands a worker a new entry of a thread at once; what it would have been given before that is offered anew.
local function hand(thread, consumer)
  redis.pcall('XGROUP', 'CREATE', READY, GROUP, '0', 'MKSTREAM')
  local entry, is_handed = redis.call('XADD', READY, '*', 'thread', thread), false
  repeat
    local found = redis.call('XREADGROUP', 'GROUP', GROUP, consumer, 'COUNT', 100, 'STREAMS', READY, '>')
    for _, each in ipairs(found[1][2]) do
      if each[1] == entry then
        is_handed = true
      else
        acknowledge(each[1])
        offer(each[2][2])
      end
    end
  until is_handed
  redis.call('PEXPIRE', READY, LIFE)
  return entry
end

-- Leaves what a worker has posted to the question as the store has it again: whoever takes that goes on with it, or
-- takes it away where it has posted something itself.
local function leave(ref, thread, state, is_deleted, text, delivery)
  local question = key('question', ref)
  if delivery == '' then return end
  local known = redis.call('HMGET', question, 'delivery', 'bare')
  if state == 'waiting' and (not known[1] or known[2] == '1') then
    redis.call('HSET', question, 'delivery', delivery, 'begun', 1, 'bare', 0)
    return
  end
  redis.call('HSET', question, 'strays', delivery, 'begun', 1)
  if state ~= 'done' and state ~= 'dead' then return end
  redis.call('HDEL', question, 'concluded')
  if not is_deleted then redis.call('HSET', question, 'text', text) end
  redis.call('HSET', question, 'attempts', 0)
  reopen(ref, thread)
end

-- Puts back a question of which the store has lost everything, or that the worker that is at it has taken it, as nobody
-- has since; returns the entry under which that holds it. One that was `put` again counts as it is there: then it is -1;
-- and 0 if nothing was lost, and another worker has it.
function script.restore(ref, thread, entry, consumer, lease, holder, fence, attempt, spent, put, is_update, is_withdrawn,
  revision, text, person, home, address, interaction, left, asked_at, delivery)
  local question = key('question', ref)
  local state, is_deleted, known = look(ref)
  local found = redis.call('HMGET', question, 'holder', 'entry', 'put', 'fence')
  if state == 'running' and found[1] == holder then return found[2] end
  local is_open = state == 'waiting' or state == 'running'
  local has_gone_back = is_open and found[3] == put and (found[4] or 0) + 2 == fence
  if state and found[3] == put and not has_gone_back then return 0 end
  if state and state ~= 'early' and not has_gone_back then
    leave(ref, thread, state, is_deleted, text, delivery)
    return -1
  end
  redis.call('HSET', question, 'attempts', attempt, 'fence', fence, 'holder', holder, 'put', put,
    'first', now() - spent)
  if revision > known then redis.call('HSET', question, 'revision', revision, 'text', text) end
  if delivery ~= '' then redis.call('HSET', question, 'delivery', delivery) end
  if is_update then redis.call('HSET', question, 'concluded', 1) end
  if is_withdrawn then
    redis.call('HSET', question, 'deleted', 1)
  else
    redis.call('HSET', question, 'address', address, 'asked', asked_at)
    note_asker(ref, person, home)
    if interaction ~= '' then redis.call('SET', key('interaction', ref), interaction, 'PX', left) end
  end
  acknowledge(entry)
  redis.call('LREM', key('thread', thread), 1, ref)
  redis.call('LPUSH', key('thread', thread), ref)
  entry = hand(thread, consumer)
  redis.call('HSET', question, 'entry', entry)
  acquire_slots(ref, lease)
  set_state(ref, 'running')
  touch(ref, thread)
  return entry
end

-- Renews a hold; returns what has happened to the question.
function script.renew(ref, thread, entry, fence, revision, consumer, lease)
  local change = change_of(ref, entry, fence, revision)
  if change == LOST then return LOST end
  redis.call('XCLAIM', READY, GROUP, consumer, 0, entry, 'JUSTID')
  acquire_slots(ref, lease)
  touch(ref, thread)
  return change
end

-- Notes what is posted, and the answer to the words that still count, once it is there.
function script.record(ref, entry, fence, revision, delivery, answer)
  local change = change_of(ref, entry, fence, revision)
  if change == LOST then return false end
  local is_there = answer ~= '' and change < EDITED
  redis.call('HSET', key('question', ref), 'delivery', delivery, unpack(is_there and {'answer', answer} or {}))
  return true
end

-- Keeps the words of a question that failed, unless others count by now; the question outlives them, as they are found,
-- to be forgotten, by it alone.
function script.keep(ref, entry, fence, revision, words)
  local change = change_of(ref, entry, fence, revision)
  if change == LOST then return false end
  if words ~= '' and change < EDITED then
    redis.call('SET', key('retry', ref), words, 'PX', FAILED_LIFE)
    redis.call('HSET', key('question', ref), 'kept', 1)
    redis.call('PEXPIRE', key('question', ref), LIFE)
  end
  return true
end

function script.settle(ref, thread, entry, fence, revision)
  local change, has_strays, has_way, is_kept = change_of(ref, entry, fence, revision)
  if change == LOST then return false end
  if change < EDITED and has_strays then change = EDITED end
  if let_go(ref, thread, entry, change) then return true end
  conclude_task(ref, thread, 'done')
  if has_way and not is_kept then redis.call('DEL', key('interaction', ref)) end
  return true
end

-- Returns a question to whoever is next, after a `pause` of milliseconds if there is one. It `counts` as an attempt where
-- a model may have been asked, and will be again: the time of the lease was over before, or its worker has to stop.
function script.release(ref, thread, entry, fence, revision, pause, counts)
  local change = change_of(ref, entry, fence, revision)
  if change == LOST then return false end
  redis.call('HSET', key('question', ref), 'begun', 1)
  if let_go(ref, thread, entry, change) then return true end
  give_back(ref, counts)
  if pause > 0 then delay(thread, pause) else offer(thread) end
  return true
end

-- Lets a question that failed wait for its next attempt; unless it `counts`, as if it had not been taken, but for the time.
function script.postpone(ref, thread, entry, fence, revision, pause, counts)
  local change = change_of(ref, entry, fence, revision)
  if change == LOST then return false end
  if let_go(ref, thread, entry, change) then return true end
  redis.call('HINCRBY', key('question', ref), counts and 'failures' or 'attempts', counts and 1 or -1)
  set_state(ref, 'waiting')
  delay(thread, pause)
  return true
end

-- Lays a question aside as dead; the reason of one whose attempts were over before is that of the last of them.
function script.bury(ref, thread, entry, fence, revision, reason, words, most_attempts)
  local change = change_of(ref, entry, fence, revision)
  if change == LOST then return false end
  if let_go(ref, thread, entry, change) then return true end
  local question = key('question', ref)
  local is_told_again = tonumber(redis.call('HGET', question, 'attempts')) > most_attempts
  redis.call(is_told_again and 'HSETNX' or 'HSET', question, 'reason', reason)
  if words ~= '' then redis.call('SET', key('retry', ref), words, 'PX', DEAD_LIFE) end
  redis.call('PEXPIRE', question, LIFE)
  redis.call('ZADD', DEAD, now(), ref)
  redis.call('ZREMRANGEBYSCORE', DEAD, '-inf', now() - LIFE)
  redis.call('PEXPIRE', DEAD, LIFE)
  conclude_task(ref, thread, 'dead')
  return true
end

-- Gives back what was handed to a worker that knows nothing of it; `held` is JSON of the entries that it knows.
function script.reap(consumer, held)
  local entries, is_held = cjson.decode(held), {}
  for _, entry in ipairs(entries) do is_held[entry] = true end
  local found = redis.pcall('XPENDING', READY, GROUP, '-', '+', 100 + #entries, consumer)
  if found.err then return end
  for _, pending in ipairs(found) do
    local entry = pending[1]
    if not is_held[entry] then
      local fields = redis.call('XRANGE', READY, entry, entry)[1]
      local thread = fields and fields[2][2]
      local ref = thread and redis.call('LINDEX', key('thread', thread), 0)
      acknowledge(entry)
      if ref and redis.call('HGET', key('question', ref), 'entry') == entry then
        release_slots(ref)
        give_back(ref)
        redis.call('HSET', key('question', ref), 'begun', 1)
        redis.call('HDEL', key('question', ref), 'entry', 'holder')
      end
      if ref then offer(thread) end
    end
  end
  if #entries == 0 then redis.pcall('XGROUP', 'DELCONSUMER', READY, GROUP, consumer) end
end
