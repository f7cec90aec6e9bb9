local platform, lease = unpack(ARGV, 3)
-- Gives an accepted question of which nobody has said in time where it goes, and a lease on it to whoever asks.
local index = key('accepted', platform)
for _, ref in ipairs(redis.call('ZRANGE', index, '-inf', now(), 'BYSCORE', 'LIMIT', 0, 100)) do
  local found = redis.call('HMGET', key('question', ref), 'state', 'text', 'address')
  if found[1] == 'accepted' then
    redis.call('ZADD', index, now() + lease, ref)
    return {ref, found[2], found[3], redis.call('GET', key('interaction', ref))}
  end
  redis.call('ZREM', index, ref)
  redis.call('ZREM', PREFIX .. 'waiting', ref)
end
return false
