-- What happens to a question: each is one script, which returns whether it changes anything.

-- Returns the state of a question, whether it is deleted, and which revision of it is known.
local function look(ref)
  local state, deleted, revision = unpack(redis.call('HMGET', key('question', ref), 'state', 'deleted', 'revision'))
  return state, deleted == '1', tonumber(revision or '-1')
end

-- Ends what a question went by while it was only accepted, unless it goes on by that; it still counts as waiting.
-- Returns false where it went on by something else before.
local function conclude(accepted, goes_on)
  local former = key('question', accepted)
  if redis.call('ZREM', key('accepted', string.match(accepted, '^[^:]+')), accepted) == 0 then
    local state = redis.call('HGET', former, 'state')
    if state and state ~= 'accepted' then return false end
  end
  redis.call('DEL', former, key('interaction', accepted))
  if goes_on then return true end
  redis.call('HSET', former, 'state', 'done', 'deleted', 1)
  redis.call('PEXPIRE', former, LIFE)
  return true
end

-- Keeps what was heard of a question before itself.
local function keep_early(ref)
  redis.call('HSET', key('question', ref), 'state', 'early')
  redis.call('PEXPIRE', key('question', ref), EARLY_LIFE)
  return false
end

-- Lets a question that is done, or was given up, be worked on again.
local function reopen(ref, thread)
  redis.call('ZREM', DEAD, ref)
  set_state(ref, 'waiting')
  redis.call('HDEL', key('question', ref), 'first')
  redis.call('HSET', key('question', ref), 'put', run_id() .. ' ' .. now())
  redis.call('PEXPIRE', key('question', ref), LIFE)
  enqueue(thread, ref)
  return true
end

-- Returns the first message of a thread that waits untouched behind all others but the last, and was asked later.
local function first_asked_after(thread, time)
  local line, later = redis.call('LRANGE', key('thread', thread), 0, -1), nil
  for i = #line - 1, 1, -1 do
    local state, attempts, asked_at, begun =
      unpack(redis.call('HMGET', key('question', line[i]), 'state', 'attempts', 'asked', 'begun'))
    local is_untouched = state == 'waiting' and attempts == '0' and asked_at and not begun
    if not is_untouched or tonumber(asked_at) <= time then break end
    later = line[i]
  end
  return later
end

-- Writes down a question, and that it is no longer what was `accepted`, where that is not empty. One with a delivery may
-- have been worked on before all was lost that was known of it; one that `is_bare` has nothing of an answer. One of an
-- `age` of milliseconds that nobody knows, while all this is kept for a shorter time, may have been answered: then
-- nothing is done, and it is -1. An age below 0 counts for nothing.
function script.ask(ref, thread, revision, text, person, home, address, interaction, left, asked_at, accepted, delivery,
  is_bare, age)
  local question = key('question', ref)
  if accepted ~= '' and not conclude(accepted, accepted == ref) then return false end
  local state, is_deleted, known = look(ref)
  if state and (state ~= 'early' or is_deleted) then
    if accepted ~= '' then redis.call('ZREM', WAITING, accepted) end
    return false
  end
  if age >= 0 and age > select(2, kept_since()) then return -1 end
  note_asker(ref, person, home, 'state', 'waiting', 'attempts', 0, 'address', address, 'asked', asked_at,
    'put', run_id() .. ' ' .. now(), 'way', interaction ~= '' and 1 or 0,
    unpack(revision > known and {'revision', revision, 'text', text} or {}))
  if delivery ~= '' then redis.call('HSET', question, 'delivery', delivery, 'begun', 1, 'bare', is_bare and 1 or 0) end
  let_wait(ref, accepted ~= '' and accepted ~= ref and accepted)
  redis.call('PEXPIRE', question, LIFE)
  if interaction ~= '' then redis.call('SET', key('interaction', ref), interaction, 'PX', left) end
  local later = not enqueue(thread, ref) and first_asked_after(thread, asked_at)
  if later then
    redis.call('RPOP', key('thread', thread))
    redis.call('LINSERT', key('thread', thread), 'BEFORE', later, ref)
  end
  return true
end

function script.edit(ref, thread, revision, text, person, home)
  local question = key('question', ref)
  local state, is_deleted, known = look(ref)
  if is_deleted or state == 'accepted' or revision <= known then return false end
  note_asker(ref, person, home, 'revision', revision, 'text', text)
  redis.call('HDEL', question, 'stopped', 'reason', 'first', 'answer', 'kept')
  redis.call('DEL', key('retry', ref))
  if not state or state == 'early' then return keep_early(ref) end
  redis.call('PEXPIRE', question, LIFE)
  if state == 'running' then
    notify(ref)
    return true
  end
  redis.call('HSET', question, 'attempts', 0)
  if state ~= 'waiting' then return reopen(ref, thread) end
  set_state(ref, 'waiting')
  promote(thread)
  return true
end

-- Where all that was known of a question may have been lost, `delivery` is what may stand there, and goes; empty otherwise.
function script.delete(ref, thread, delivery)
  local question = key('question', ref)
  local state, is_deleted = look(ref)
  if is_deleted then return false end
  if state == 'accepted' then
    conclude(ref)
    redis.call('ZREM', WAITING, ref)
    return true
  end
  redis.call('HSET', question, 'deleted', 1)
  redis.call('HDEL', question, 'text', 'address', 'way', 'stopped', 'answer', 'kept')
  if state ~= 'running' then redis.call('HDEL', question, 'person', 'home', 'asked') end
  redis.call('DEL', key('interaction', ref), key('retry', ref))
  if delivery ~= '' then
    redis.call('HSETNX', question, 'delivery', delivery)
    redis.call('HSET', question, 'begun', 1)
  end
  if (not state or state == 'early') and delivery == '' then return keep_early(ref) end
  redis.call('PEXPIRE', question, LIFE)
  if state == 'running' then
    notify(ref)
    return true
  end
  local found = redis.call('HMGET', question, 'attempts', 'concluded', 'delivery', 'retried', 'begun')
  redis.call('HSET', question, 'attempts', 0)
  if state ~= 'waiting' then return reopen(ref, thread) end
  if found[1] ~= '0' or found[2] or found[3] or found[4] or found[5] then
    set_state(ref, 'waiting', 'begun', 1) -- something may have been posted that has to go
  else
    set_state(ref, 'done')
    redis.call('LREM', key('thread', thread), 1, ref)
  end
  promote(thread)
  return true
end

-- Returns how far a question has come: its state, empty where it is not known, of which `done` counts for what is deleted,
-- `released` for what was begun and handed back, and `left` for what was begun and nobody has been at for a while.
local function stage_of(ref, unseen)
  local found = redis.call('HMGET', key('question', ref), 'state', 'deleted', 'attempts', 'begun', 'entry')
  local state, since = found[2] and 'done' or found[1] or '', 0
  if state == 'waiting' and (found[4] or found[3] ~= '0') then
    state, since = 'released', now() - (redis.call('ZSCORE', WAITING, ref) or now())
  elseif state == 'running' then
    local pending = redis.pcall('XPENDING', READY, GROUP, found[5], found[5], 1)[1]
    since = pending and pending[3] or 0
  else
    return state
  end
  return since > unseen and 'left' or state
end

function script.states(refs, unseen)
  local found = {}
  for i, ref in ipairs(cjson.decode(refs)) do found[i] = stage_of(ref, unseen) end
  return found
end

-- Returns the words of each question, which may wait, be answered, or have failed; empty where none are kept.
function script.words(refs)
  local found = {}
  for i, ref in ipairs(cjson.decode(refs)) do
    found[i] = redis.call('HGET', key('question', ref), 'text') or redis.call('GET', key('retry', ref)) or ''
  end
  return found
end

-- Lets whoever works on a question, or will, begin anew, with what is stored by then.
local function begin_anew(ref)
  redis.call('HDEL', key('question', ref), 'answer')
  if redis.call('HGET', key('question', ref), 'state') ~= 'running' then return end
  redis.call('HSET', key('question', ref), 'anew', 1)
  notify(ref)
end

function script.begin_anew(thread)
  local first = redis.call('LINDEX', key('thread', thread), 0)
  if first then begin_anew(first) end
end

-- Replaces the words of a question that is not done, as they were read, with others; false if it has others by now.
function script.replace_words(ref, was, text)
  local question = key('question', ref)
  local known = redis.call('HGET', question, 'text')
  if not known then return true end
  if known ~= was then return false end
  redis.call('HSET', question, 'text', text)
  begin_anew(ref)
  return true
end

-- Removes the words of a question because its asker, or its place, is forgotten; returns whether there were any.
function script.forget(ref, thread)
  local state = look(ref)
  if state ~= 'done' and state ~= 'dead' then return script.delete(ref, thread, '') end
  redis.call('HSET', key('question', ref), 'state', 'done')
  redis.call('ZREM', DEAD, ref)
  redis.call('DEL', key('interaction', ref))
  return redis.call('DEL', key('retry', ref)) > 0
end

function script.stop(ref, thread)
  local state, is_deleted = look(ref)
  if state ~= 'waiting' and state ~= 'running' or is_deleted then return false end
  if redis.call('HSET', key('question', ref), 'stopped', 1) == 0 then return false end
  if state == 'running' then notify(ref) else promote(thread) end
  return true
end

-- Tries a question again whose words were kept, and whose it is, which was not.
function script.retry(ref, thread, person, home)
  local question = key('question', ref)
  local state, is_deleted = look(ref)
  local words = redis.call('GET', key('retry', ref))
  if is_deleted or state ~= 'done' and state ~= 'dead' or not words then return false end
  note_asker(ref, person, home, 'text', words, 'attempts', 0, 'retried', 1)
  redis.call('HDEL', question, 'concluded', 'reason')
  redis.call('DEL', key('retry', ref))
  return reopen(ref, thread)
end

-- Has a question answered again of which a worker that had lost it may have changed the answer, or had one; while another
-- is at it, or will be, that answer is only kept for whoever is next.
function script.recheck(ref, thread, revision, text, person, home, most_attempts, answer)
  local question = key('question', ref)
  local state, is_deleted, known = look(ref)
  if is_deleted or revision ~= known then return false end
  if state ~= 'done' and state ~= 'dead' then
    if answer ~= '' and not redis.call('HGET', question, 'anew') then redis.call('HSETNX', question, 'answer', answer) end
    return false
  end
  note_asker(ref, person, home, 'text', text, 'answer', answer, 'attempts', state == 'dead' and most_attempts or 1)
  redis.call('HDEL', question, 'concluded', 'failures')
  return reopen(ref, thread)
end

-- Accepts a question under the id of the command that asked it: 1 if it is accepted, also by a try before; 0 if it was
-- known before, and -1 if nobody waits for it any more. A server that was frozen carries out what it was told before,
-- which is why it is told until when, by its own clock: without a time it gives that.
function script.accept(ref, platform, text, person, home, address, interaction, lease, latest)
  if latest == '' then return now() end
  local question, index = key('question', ref), key('accepted', platform)
  local known = redis.call('HMGET', question, 'state', 'text')
  if known[1] then return known[1] == 'accepted' and known[2] == text and 1 or 0 end
  if now() > latest then return -1 end
  note_asker(ref, person, home, 'state', 'accepted', 'text', text, 'address', address, 'interaction', interaction)
  let_wait(ref)
  redis.call('PEXPIRE', question, ACCEPTED_LIFE)
  redis.call('ZADD', index, now() + lease, ref)
  redis.call('PEXPIRE', index, LIFE)
  return 1
end

-- Gives an accepted question of which nobody has said in time where it goes, and a lease on it to whoever asks. A lease
-- that is much longer than any was given between the moment when the clock was set and the next look at it.
function script.overdue(platform, lease, ago, jump)
  local index, past = key('accepted', platform), follow_clock(ago, jump)
  if past then return past end
  if redis.call('EXISTS', index) == 0 then return false end
  local ended = redis.call('ZRANGE', index, '-inf', now(), 'BYSCORE', 'LIMIT', 0, 100)
  if #ended == 0 then
    ended = redis.call('ZRANGE', index, '(' .. now() + 2 * lease, '+inf', 'BYSCORE', 'LIMIT', 0, 100)
  end
  for _, ref in ipairs(ended) do
    local found = redis.call('HMGET', key('question', ref), 'state', 'text', 'address', 'interaction')
    if found[1] == 'accepted' then
      redis.call('ZADD', index, now() + lease, ref)
      return {ref, found[2], found[3], found[4] or redis.call('GET', key('interaction', ref))} -- as older versions kept it
    end
    redis.call('ZREM', index, ref)
    redis.call('ZREM', WAITING, ref)
  end
  return false
end

-- Returns, as `overdue` does, what of a platform waits or is worked on and is told by nothing else: it was asked by a
-- command, as its way back shows, or outside of all communities, whose names begin with an encoded `@`, or is tried again.
function script.untold(platform)
  local refs, found = redis.call('ZRANGE', WAITING, 0, -1), {}
  for _, each in ipairs(redis.pcall('XPENDING', READY, GROUP, '-', '+', 10000)) do
    local entry = redis.call('XRANGE', READY, each[1], each[1])[1]
    table.insert(refs, entry and redis.call('LINDEX', key('thread', entry[2][2]), 0) or nil)
  end
  for _, ref in ipairs(refs) do
    local state, text, address, retried =
      unpack(redis.call('HMGET', key('question', ref), 'state', 'text', 'address', 'retried'))
    local way = redis.call('GET', key('interaction', ref))
    local is_it = way or retried or string.find(ref, ':%40', 1, true) == #platform + 1
    if is_it and text and state ~= 'accepted' and string.find(ref, platform .. ':', 1, true) == 1 then
      table.insert(found, {ref, text, address, way})
    end
  end
  return found
end

-- Notes what is said below a question that waits, beside what was delivered to it; not while a worker is at it.
function script.announce(ref, was, delivery, unseen)
  local stage = stage_of(ref, unseen)
  if stage ~= 'waiting' and stage ~= 'left' then return false end
  if (redis.call('HGET', key('question', ref), 'delivery') or '') ~= was then return false end
  redis.call('HSET', key('question', ref), 'delivery', delivery)
  return true
end
