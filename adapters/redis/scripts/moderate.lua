-- Reads what moderators have set in a workspace and, if there is an order, carries it out and notes it.
--
--     policy            a hash with one field for each thing that is set; fields that this version does not know stay:
--       version           of this form
--       paused            who paused the bot, and when, as JSON
--       silent:<channel>  nothing is answered there
--       auto:<channel>    every new post is answered there
--       legacy            what was set before there were versions, if it held more than is known today
--     audit             the beginning of the names of the log's keys:
--       order             the numbers of the entries, newest first, also of some that have expired
--       deed:<number>     one entry
--
-- Before there were versions, a policy was one JSON text. It becomes a hash with the first order that changes it.
-- Returns a fault or '', 'new' or '' for an order that changed nothing, and the fields and values as they were before it.
local VERSION = 1
local LEGACY = {paused_by = true, paused_at = true, auto_answer = true, silent_channels = true}

-- Raises an error for anything that no version has written.
local function fields_of(text)
  local set, fields = cjson.decode(text), {version = VERSION}
  for name in pairs(set) do
    if not LEGACY[name] then fields.legacy = text end
  end
  if set.paused_by and set.paused_by ~= cjson.null then
    assert(type(set.paused_by.id) == 'string')
    fields.paused = cjson.encode({by = set.paused_by, at = set.paused_at})
  end
  for _, channel in pairs(set.silent_channels or {}) do fields['silent:' .. channel] = 1 end
  for _, channel in pairs(set.auto_answer or {}) do fields['auto:' .. channel] = 1 end
  return fields
end

local form = redis.call('TYPE', policy).ok
local stored, fault = {version = VERSION}, ''
if form == 'hash' then
  local flat = redis.call('HGETALL', policy)
  for i = 1, #flat, 2 do stored[flat[i]] = flat[i + 1] end
  local version = redis.call('HEXISTS', policy, 'version') == 1 and tonumber(stored.version)
  if version ~= VERSION then fault = version and version > VERSION and 'newer' or 'damaged' end
elseif form == 'string' then
  local is_read, fields = pcall(fields_of, redis.call('GET', policy))
  if is_read then stored = fields else fault = 'damaged' end
elseif form ~= 'none' then
  fault = 'damaged'
end

local function change()
  if field == '' then return true end -- it is only noted
  if fault ~= '' then
    if replaces then redis.call('DEL', policy) end
    return replaces
  end
  if (stored[field] ~= nil) == (value ~= '') then return false end
  if form ~= 'hash' then
    redis.call('DEL', policy)
    for name, each in pairs(stored) do redis.call('HSET', policy, name, each) end
  end
  if value ~= '' then redis.call('HSET', policy, field, value) else redis.call('HDEL', policy, field) end
  if redis.call('HLEN', policy) == 1 then redis.call('DEL', policy) end -- only the version is left
  return true
end

local is_new = entry ~= '' and change()
if is_new then
  local order = audit .. 'order'
  local number = (redis.call('LINDEX', order, 0) or 0) + 1
  redis.call('SET', audit .. 'deed:' .. number, entry, 'PX', life)
  if redis.call('LPUSH', order, number) > most then
    redis.call('DEL', audit .. 'deed:' .. redis.call('RPOP', order))
  end
  redis.call('PEXPIRE', order, life)
end

local found = {fault, is_new and 'new' or ''}
for name, each in pairs(stored) do
  table.insert(found, name)
  table.insert(found, tostring(each))
end
return found
