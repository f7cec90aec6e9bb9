-- Returns entries of the log, newest first; `moderate` says how they are kept.
local found = {}
for _, number in ipairs(redis.call('LRANGE', audit .. 'order', skip, skip + limit - 1)) do
  local entry = redis.call('GET', audit .. 'deed:' .. number)
  if not entry then break end -- it has expired, and so have all that are older
  table.insert(found, entry)
end
return found
