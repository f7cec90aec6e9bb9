-- Conversations: a list for each thread with an entry for each turn, which is the question's ref, a blank, and the sealed
-- turn. A ref never holds a blank.

-- Calls `found` with each entry of a list that is about a question.
local function each_about(key, ref, found)
  for i, entry in ipairs(redis.call('LRANGE', key, 0, -1)) do
    if string.sub(entry, 1, #ref + 1) == ref .. ' ' then found(i - 1, entry) end
  end
end

function script.append(ref, sealed, kept, ttl)
  local key, is_there = KEYS[1], false
  if redis.call('TYPE', key).ok ~= 'list' then redis.call('DEL', key) end
  each_about(key, ref, function(at)
    redis.call('LSET', key, at, ref .. ' ' .. sealed)
    is_there = true
  end)
  if not is_there then
    redis.call('RPUSH', key, ref .. ' ' .. sealed)
    redis.call('LTRIM', key, -kept, -1)
  end
  redis.call('PEXPIRE', key, ttl)
end

function script.remove(ref)
  local key, gone = KEYS[1], 0
  if redis.call('TYPE', key).ok ~= 'list' then return 0 end
  each_about(key, ref, function(_, entry) gone = gone + redis.call('LREM', key, 1, entry) end)
  return gone
end

-- Notes which threads a workspace has, for a minute longer than they live: they are written after this.
function script.note(thread, ttl)
  local key, life = KEYS[1], ttl + 60000
  if redis.call('TYPE', key).ok ~= 'zset' then redis.call('DEL', key) end
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now())
  redis.call('ZADD', key, now() + life, thread)
  redis.call('PEXPIRE', key, life)
end
