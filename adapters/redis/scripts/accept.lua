local ref, platform, person, home, text, address, token, expires, latest, lease, kept = unpack(ARGV, 3)
-- Accepts a question under the id of the command that asked it: 1 if it is accepted, also by a try before; 0 if it was
-- known before, and -1 if nobody waits for it any more. A server that was frozen carries out what it was told before,
-- which is why it is told until when, by its own clock: without a time it gives that.
if latest == '' then return now() end
local question, index = key('question', ref), key('accepted', platform)
local known = redis.call('HMGET', question, 'state', 'text')
if known[1] then return known[1] == 'accepted' and known[2] == text and 1 or 0 end
if now() > tonumber(latest) then return -1 end
redis.call('HSET', question, 'state', 'accepted', 'text', text, 'address', address)
note(ref, person, home)
redis.call('PEXPIRE', question, kept)
if token ~= '' then redis.call('SET', key('interaction', ref), token, 'PXAT', expires) end
redis.call('ZADD', index, now() + lease, ref)
redis.call('PEXPIRE', index, LIFE)
redis.call('ZADD', PREFIX .. 'waiting', now(), ref)
redis.call('PEXPIRE', PREFIX .. 'waiting', LIFE)
return 1
