-- Messages that are to be removed: a sorted set for each platform, by the time of each in seconds.

function script.add_removal(member, at, life)
  redis.call('ZADD', KEYS[1], at, member)
  redis.call('PEXPIRE', KEYS[1], 1000 * life)
end

-- Returns what is due, which is due once more some seconds later, in case whoever has it dies.
function script.due_removals(at, again, limit)
  local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', at, 'LIMIT', 0, limit)
  for _, member in ipairs(found) do redis.call('ZADD', KEYS[1], 'XX', at + again, member) end
  return found
end
