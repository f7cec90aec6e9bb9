local ref, delivery = unpack(ARGV, 3)
-- Notes what is said below a question while it waits; not once a worker has had it, nor with an answer that stands there.
local question = key('question', ref)
local found = redis.call('HMGET', question, 'state', 'attempts', 'begun', 'concluded', 'deleted', 'retried')
if found[1] ~= 'waiting' or found[2] ~= '0' or found[3] or found[4] or found[5] or found[6] then return 0 end
redis.call('HSET', question, 'delivery', delivery)
return 1
