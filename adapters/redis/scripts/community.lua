-- What communities have decided: what their moderators have set, how readers vote, and which of them may use the bot.
--
-- What moderators have set in a workspace, and the log of their orders:
--
--     policy            a hash with one field for each thing that is set; fields that this version does not know stay:
--       version           of this form
--       paused            who paused the bot, and when, as JSON
--       silent:<channel>  nothing is answered there
--       auto:<channel>    questions are answered there unasked
--       open:<channel>    what is for members is answered there also in front of guests
--       moderators:<id>   the members of this role or group may moderate
--       budget:<name>     so much may be used, as a number, by whom and of what the name says
--       legacy            what was set before there were versions, if it held more than is known today
--     audit             the beginning of the names of the log's keys:
--       order             the numbers of the entries, newest first, also of some that have expired
--       deed:<number>     one entry
--
-- Before there were versions, a policy was one JSON text. It becomes a hash with the first order that changes it.
-- `moderate` returns a fault or '', 'new' or '' for an order that changed nothing, and the fields and values as they
-- were before it. Of moderators only ids are kept: where an older version has written a name, it goes when anybody looks
-- at the policy, and out of the log as well when a process does so for the first time.
local POLICY_VERSION = 1
local LEGACY = {paused_by = true, paused_at = true, auto_answer = true, silent_channels = true}

-- Returns a text of JSON without the name of the person in its object that is called `field`, byte for byte as it was
-- otherwise, as what is not known of it may be of another version; nil where there is no name.
local function without_name(text, field)
  local is_read, set = pcall(cjson.decode, text)
  local who = is_read and type(set) == 'table' and set[field]
  if type(who) ~= 'table' or type(who.id) ~= 'string' or (who.name or '') == '' then return nil end
  local _, first = string.find(text, '"' .. field .. '"%s*:%s*{')
  local at, depth = first, first and 1
  while depth and depth > 0 do
    at = string.find(text, '[{}"]', at + 1)
    local sign = string.sub(text, at, at)
    if sign == '"' then -- a text, which may hold braces
      repeat
        at = string.find(text, '["\\\\]', at + 1)
        local is_end = string.sub(text, at, at) == '"'
        if not is_end then at = at + 1 end
      until is_end
    else
      depth = depth + (sign == '{' and 1 or -1)
    end
  end
  return first and string.sub(text, 1, first - 1) .. cjson.encode({id = who.id}) .. string.sub(text, at + 1)
end

-- Takes names out of the log.
local function strip_log(audit)
  local numbers, keys = redis.call('LRANGE', audit .. 'order', 0, -1), {}
  for i, number in ipairs(numbers) do keys[i] = audit .. 'deed:' .. number end
  for i = 1, #keys, 500 do
    local last = math.min(i + 499, #keys)
    for j, entry in ipairs(redis.call('MGET', unpack(keys, i, last))) do
      local nameless = entry and without_name(entry, 'by')
      if nameless then redis.pcall('SET', keys[i + j - 1], nameless, 'KEEPTTL') end
    end
  end
end

-- Takes names out of a policy; a server without room keeps them until it has some.
local function strip_policy(policy, form)
  if form == 'string' then
    local nameless = without_name(redis.call('GET', policy), 'paused_by')
    if nameless then redis.pcall('SET', policy, nameless, 'KEEPTTL') end
  elseif form == 'hash' and tonumber(redis.call('HGET', policy, 'version') or '') == POLICY_VERSION then
    for name, field in pairs({paused = 'by', legacy = 'paused_by'}) do
      local text = redis.call('HGET', policy, name)
      local nameless = text and without_name(text, field)
      if nameless then redis.pcall('HSET', policy, name, nameless) end
    end
  end
end

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
function script.moderate(field, value, entry, replaces, most, life, is_first)
  local policy, audit = KEYS[1], KEYS[2]
  local form = redis.call('TYPE', policy).ok
  strip_policy(policy, form)
  if is_first then strip_log(audit) end
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
    local before = stored[field] ~= nil and tostring(stored[field]) or ''
    local is_kept = before ~= '' and field == 'paused' -- by whoever ordered that first
    if before == value or (value ~= '' and is_kept) then return false end
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

function script.count_of(person, life)
  return redis.call('ZCOUNT', PREFIX .. 'person:' .. person, '(' .. now() - life, '+inf')
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

-- Which communities may use the bot: a hash, whose key is PREFIX.
--
--     allowed:<community>   the number of one that the operator has allowed; whoever has a lower one came before
--     found:<community>     the same of one that was allowed without an order, since it was there already
--     own:<community>       the same of one whose token the operator has set
--     last                  the last number that was given; an order of which is the first takes one too
--     first                 the first community of all, or the one that an order has put in its place
--     settled:<platform>    of those that were there, it is decided which may
--     waiting:<community>   the message of whoever asked first in one that may not
--
-- `named` are the communities that the operator's settings name, separated by blanks as all others are here, and none of
-- them is kept but as the first. Each script returns the fields and values, as they were before where it changes some.
local function listed(text)
  local found = {}
  for each in string.gmatch(text, '%S+') do table.insert(found, each) end
  return found
end

-- Notes a community as one of a kind, with the number that it has already, or with the next.
local function enlist(kind, community, named)
  redis.call('HSETNX', PREFIX, 'first', listed(named)[1] or community)
  if redis.call('HEXISTS', PREFIX, kind .. community) == 1 then return end
  local number = false
  for _, other in ipairs({'allowed:', 'found:', 'own:'}) do
    number = number or redis.call('HGET', PREFIX, other .. community)
  end
  redis.call('HSET', PREFIX, kind .. community, number or redis.call('HINCRBY', PREFIX, 'last', 1))
  redis.call('HDEL', PREFIX, 'waiting:' .. community)
end

-- Puts fields and values back, line by line, into a store that has lost all of them; another process may have done so,
-- or noted others by now. Nobody waits for what is allowed.
function script.restore_communities(lines)
  local number = tonumber(redis.call('HGET', PREFIX, 'last') or '0')
  for field, value in string.gmatch(lines .. '\n', '([^\n]*)\n([^\n]*)\n') do
    if field == 'last' then
      redis.call('HSET', PREFIX, field, math.max(number, tonumber(value) or 0))
    elseif field == 'first' then
      redis.call('HSET', PREFIX, field, value)
    else
      redis.call('HSETNX', PREFIX, field, value)
    end
    local community = string.match(field, '^own:(.*)$') or string.match(field, '^allowed:(.*)$')
    if community then redis.call('HDEL', PREFIX, 'waiting:' .. community) end
  end
  return redis.call('HGETALL', PREFIX)
end

-- Decides once for a platform; of those `joined`, the `answered` ones are those in which the bot has answered before. In
-- what it is not in any more, nobody waits.
function script.settle_communities(platform, joined, answered, is_own, named)
  local there, is_there, has_allowed = listed(joined), {}, false
  for _, community in ipairs(there) do is_there[community] = true end
  local flat = redis.call('HGETALL', PREFIX)
  for i = 1, #flat, 2 do
    local kind, community = string.match(flat[i], '^(%a+:)(.*)$')
    if kind and string.find(community, platform .. ':', 1, true) == 1 then
      local is_over = kind == 'own:' or (kind == 'waiting:' and not is_there[community])
      if is_over then redis.call('HDEL', PREFIX, flat[i]) end
      has_allowed = has_allowed or kind == 'allowed:'
    end
  end
  local chosen = {}
  if is_own then
    chosen = there
    for _, community in ipairs(there) do enlist('own:', community, named) end
  elseif named == '' and #there > 0 and redis.call('HEXISTS', PREFIX, 'settled:' .. platform) == 0 then
    chosen = (#there == 1 and not has_allowed) and there or listed(answered)
    redis.call('HSET', PREFIX, 'settled:' .. platform, 1)
  end
  for _, community in ipairs(chosen) do
    enlist('found:', community, named)
    redis.call('HSET', PREFIX, 'settled:' .. platform, 1)
  end
  if named ~= '' then redis.call('HSETNX', PREFIX, 'first', listed(named)[1]) end
  return redis.call('HGETALL', PREFIX)
end

function script.allow_community(community, named, is_first)
  local before = redis.call('HGETALL', PREFIX)
  enlist('allowed:', community, named)
  if is_first then
    redis.call('HSET', PREFIX, 'first', community)
    redis.call('HINCRBY', PREFIX, 'last', 1) -- so that nobody takes it for a loss
  end
  return before
end

function script.remove_community(community)
  local before = redis.call('HGETALL', PREFIX)
  if redis.call('HEXISTS', PREFIX, 'own:' .. community) == 1 then return before end
  for _, kind in ipairs({'allowed:', 'found:', 'waiting:'}) do redis.call('HDEL', PREFIX, kind .. community) end
  return before
end

-- Returns 1 for the message that was the first to ask in a community, however often it comes.
function script.await_community(community, message)
  redis.call('HSETNX', PREFIX, 'waiting:' .. community, message)
  return redis.call('HGET', PREFIX, 'waiting:' .. community) == message and 1 or 0
end
