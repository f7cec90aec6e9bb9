-- When each channel of a platform was heard last: a sorted set, whose members are `<workspace> <channel>`, both
-- percent-encoded, by the time of each in seconds.

function script.note_channel(member, at, life, most)
  redis.call('ZADD', KEYS[1], 'GT', at, member)
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', at - life)
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - most)
  redis.call('PEXPIRE', KEYS[1], 1000 * life)
end

function script.forget_channels(workspace)
  for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    if string.sub(member, 1, #workspace) == workspace then redis.call('ZREM', KEYS[1], member) end
  end
end
