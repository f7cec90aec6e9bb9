-- Conversations: a list for each thread with an entry for each turn, which is the question's ref, a blank, and the sealed
-- turn. A ref never holds a blank. For a channel, a sorted set of the messages in it that answer what was asked in a
-- thread: each is the id, a blank and the thread, and as all have the same score, they are in the order of their ids.
--
-- Who has spoken in a thread is a hash for it, with a field `spoke:<id>` for each person, which is when they did so last
-- in milliseconds, and a field `muted` where people want it quiet.

-- Calls `found` with each entry of a list that is about a question; of what is no list, with none.
local function each_about(key, ref, found)
  local entries = redis.pcall('LRANGE', key, 0, -1)
  if entries.err then return end
  for i, entry in ipairs(entries) do
    if string.sub(entry, 1, #ref + 1) == ref .. ' ' then found(i - 1, entry) end
  end
end

-- Keeps a turn, in the place of the one that is there of its question; returns whether there are others beside it.
function script.append(ref, sealed, kept, ttl)
  local key, entry = KEYS[1], ref .. ' ' .. sealed
  local length, former = redis.pcall('RPUSH', key, entry), nil
  if type(length) == 'table' then
    if string.find(length.err, 'WRONGTYPE', 1, true) then redis.call('DEL', key) end
    length = redis.call('RPUSH', key, entry) -- which fails again if it was for want of room
  end
  if length > 1 then each_about(key, ref, function(at) former = at < length - 1 and at or former end) end
  if former then
    redis.call('LSET', key, former, entry)
    redis.call('RPOP', key)
    length = length - 1
  end
  if length > kept then redis.call('LTRIM', key, -kept, -1) end
  redis.call('PEXPIRE', key, ttl)
  return length > 1
end

-- Notes which messages of a channel answer what was asked in a thread, and keeps all such notes as long as that.
function script.note_answer(thread, ids, kept, ttl)
  for _, id in ipairs(cjson.decode(ids)) do redis.call('ZADD', KEYS[1], 0, id .. ' ' .. thread) end
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -kept - 1)
  redis.call('PEXPIRE', KEYS[1], ttl)
end

-- Puts other words into the entry of a turn; returns whether it was still as it *was*.
function script.replace(ref, was, sealed)
  local key, found = KEYS[1], false
  each_about(key, ref, function(at, entry)
    found = found or entry == was
    if entry == was then redis.call('LSET', key, at, ref .. ' ' .. sealed) end
  end)
  return found
end

function script.remove(ref)
  local key, gone = KEYS[1], 0
  each_about(key, ref, function(_, entry) gone = gone + redis.call('LREM', key, 1, entry) end)
  return gone
end

-- Notes when somebody has spoken last, unless so many are known that one more tells nothing.
function script.hear(field, at, kept, ttl)
  local is_new = redis.call('HSET', KEYS[1], field, string.format('%d', at)) == 1
  if is_new and redis.call('HLEN', KEYS[1]) > kept then redis.call('HDEL', KEYS[1], field) end
  redis.call('PEXPIRE', KEYS[1], ttl)
end

-- Sets the field or removes it; returns whether that changes anything.
function script.mute(field, on, ttl)
  local changed = on and redis.call('HSET', KEYS[1], field, 1) or redis.call('HDEL', KEYS[1], field)
  redis.call('PEXPIRE', KEYS[1], ttl)
  return changed
end
