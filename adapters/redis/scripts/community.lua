-- What a community has decided: what its moderators have set, how readers vote, and how much is asked.
--
-- What moderators have set in a workspace, and the log of their orders:
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
-- `moderate` returns a fault or '', 'new' or '' for an order that changed nothing, and the fields and values as they
-- were before it.
local POLICY_VERSION = 1
local LEGACY = {paused_by = true, paused_at = true, auto_answer = true, silent_channels = true}

-- Raises an error for anything that no version has written.
local function fields_of(text)
  assert(string.find(text, '^%s*{')) -- a list would be a table too
  local set, fields = cjson.decode(text), {version = POLICY_VERSION}
  for name in pairs(set) do
    if not LEGACY[name] then fields.legacy = text end
  end
  if set.paused_by ~= nil and set.paused_by ~= cjson.null then
    assert(type(set.paused_by.id) == 'string')
    fields.paused = cjson.encode({by = set.paused_by, at = set.paused_at})
  end
  for name, prefix in pairs({silent_channels = 'silent:', auto_answer = 'auto:'}) do
    if set[name] ~= nil then
      for _, channel in pairs(set[name]) do fields[prefix .. channel] = 1 end
    end
  end
  return fields
end

-- Reads the policy and, unless `entry` is empty, carries out an order and notes it; some replace a policy that is closed.
function script.moderate(field, value, entry, replaces, most, life)
  local policy, audit = KEYS[1], KEYS[2]
  local form = redis.call('TYPE', policy).ok
  local stored, fault = {version = POLICY_VERSION}, ''
  if form == 'hash' then
    local flat = redis.call('HGETALL', policy)
    for i = 1, #flat, 2 do stored[flat[i]] = flat[i + 1] end
    local version = redis.call('HEXISTS', policy, 'version') == 1 and tonumber(stored.version)
    if version ~= POLICY_VERSION then fault = version and version > POLICY_VERSION and 'newer' or 'damaged' end
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
end

-- Returns entries of the log, newest first.
function script.recent_entries(skip, limit)
  local audit, found = KEYS[2], {}
  for _, number in ipairs(redis.call('LRANGE', audit .. 'order', skip, skip + limit - 1)) do
    local entry = redis.call('GET', audit .. 'deed:' .. number)
    if not entry then break end -- it has expired, and so have all that are older
    table.insert(found, entry)
  end
  return found
end

-- The votes of a workspace. Its keys share a hash tag, so they are on one node of a cluster:
--
--     vote:<number>        one vote, whole, behind its name
--     number:<name>        the number of a vote
--     helpful, unhelpful   the numbers of votes by the time of each, to be counted
--     person:<person>      the numbers of a person's votes by the time of each, to be forgotten
--
-- A name is the percent-encoded id of the answer, a blank, and that of the person. An index may outlive what it names,
-- so it holds numbers only, which tell nothing of anybody once the vote has expired.
function script.cast(name, vote, is_helpful, person, life)
  local time, nth = redis.call('TIME'), 0
  local number = redis.call('GET', PREFIX .. 'number:' .. name)
  while not number do
    local unused = time[1] .. '.' .. time[2] .. '.' .. nth
    if redis.call('EXISTS', PREFIX .. 'vote:' .. unused) == 0 then number = unused end
    nth = nth + 1
  end
  redis.call('SET', PREFIX .. 'number:' .. name, number, 'PX', life)
  redis.call('SET', PREFIX .. 'vote:' .. number, name .. ' ' .. vote, 'PX', life)
  redis.call('ZREM', PREFIX .. (is_helpful and 'unhelpful' or 'helpful'), number)
  for _, index in ipairs({is_helpful and 'helpful' or 'unhelpful', 'person:' .. person}) do
    redis.call('ZADD', PREFIX .. index, now(), number)
    redis.call('ZREMRANGEBYSCORE', PREFIX .. index, '-inf', now() - life)
    redis.call('PEXPIRE', PREFIX .. index, life)
  end
end

function script.count(life)
  local after = '(' .. now() - life
  local helpful = redis.call('ZCOUNT', PREFIX .. 'helpful', after, '+inf')
  return {helpful, redis.call('ZCOUNT', PREFIX .. 'unhelpful', after, '+inf')}
end

-- Removes the votes of a person, or of everybody if that is empty; returns how many there were.
function script.forget_votes(person)
  local gone = 0
  for _, index in ipairs(person ~= '' and {'person:' .. person} or {'helpful', 'unhelpful'}) do
    for _, number in ipairs(redis.call('ZRANGE', PREFIX .. index, 0, -1)) do
      local vote = redis.call('GET', PREFIX .. 'vote:' .. number)
      if vote then
        local answer, voter = string.match(vote, '^(%S+) (%S+) ')
        redis.call('DEL', PREFIX .. 'vote:' .. number, PREFIX .. 'number:' .. answer .. ' ' .. voter)
        for _, other in ipairs({'helpful', 'unhelpful', 'person:' .. voter}) do
          redis.call('ZREM', PREFIX .. other, number)
        end
        gone = gone + 1
      end
    end
    redis.call('DEL', PREFIX .. index)
  end
  return gone
end

-- Counts a question in every window of the keys or in none; returns the milliseconds until it may be asked. A window is
-- a sorted set of questions by the time of each; `windows` is JSON of the count and the milliseconds of each.
function script.spend(asked, windows)
  local at, wait, is_known, bounds = now(), 0, false, cjson.decode(windows)
  for i, window in ipairs(KEYS) do
    local count, length = unpack(bounds[i])
    local found, newest = redis.call('ZRANGE', window, 0, -1, 'WITHSCORES'), {}
    for j = 1, #found, 2 do
      if tonumber(found[j + 1]) > at - length then
        is_known = is_known or found[j] == asked
        table.insert(newest, 1, found[j + 1])
      end
    end
    if #newest < #found / 2 then redis.call('ZREMRANGEBYSCORE', window, '-inf', at - length) end
    if newest[count] then wait = math.max(wait, newest[count] + length - at) end
  end
  if is_known then return 0 end
  if wait > 0 then return wait end
  for i, window in ipairs(KEYS) do
    redis.call('ZADD', window, at, asked)
    redis.call('PEXPIRE', window, bounds[i][2])
  end
  return 0
end
