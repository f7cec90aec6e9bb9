-- How much is asked in a community. All keys of one share a hash tag, so they are on one node of a cluster:
--
--     window:<holder>   what was asked in the last minute, as JSON: questions by the time of each
--     spent:<period>    a hash with what was spent in a day or a month, and is set aside, by holder; see `NUMBERS`
--     hold:<question>   what is set aside for a question, as JSON, and afterwards what it has cost already
--     held              the questions for which something is set aside, by the time at which that ends by itself
--     away:<person> <holder> <limit>  how somebody was told that a limit is reached
--
-- A hold that ended is kept for a while: a question is counted once, and whoever comes late says what it has cost.
local NUMBERS = 8 -- questions, tokens and millionths of money that were spent, the same of what is set aside, runs, and
local RUNS = 7 -- that have cost something and led to no question: a run is one of them until it turns out otherwise
local SEARCHES = 8 -- that somebody bills: the fourth number of what was spent, of which nothing is set aside
local MEASURES = 3
local TOLD = 'told' -- the field of a period with what moderators have heard: the percents of each measure, and
local VAIN = 4 -- for how much patience there were too many runs that led to no question; then, of which limits

local function numbers_of(text, count)
  local found = {}
  for number in string.gmatch(text or '', '%S+') do table.insert(found, tonumber(number)) end
  for i = #found + 1, count do found[i] = 0 end
  return found
end

local function text_of(numbers)
  local words = {}
  for i, number in ipairs(numbers) do words[i] = string.format('%.0f', number) end
  return table.concat(words, ' ')
end

-- Notes which shares of its limits a community has used for the first time, or of a limit that was raised since, and
-- returns them.
local function crossed(period, numbers, limits, told, at_least)
  local news = {}
  local function tell(i, share, limit)
    if share > 0 and (share > told[i] or limit > told[i + VAIN]) then
      told[i], told[i + VAIN] = share, limit
      table.insert(news, {period, i, share})
    end
  end
  for i = 1, MEASURES do
    local share = limits[i] > 0 and math.max(at_least[i] or 0, 100 * numbers[i] / limits[i]) or 0
    tell(i, share >= 100 and 100 or share >= 80 and 80 or 0, limits[i])
  end
  tell(VAIN, at_least[VAIN] or 0, limits[1])
  return news
end

-- Adds to what every holder of a hold has spent and has set aside, and to the runs that led to no question; of a period
-- that is over, nothing is kept.
local function add(hold, spent, held, runs, limits)
  local news = {}
  for _, period in ipairs(hold.periods) do
    local name, holders = unpack(period)
    local key, asked = PREFIX .. 'spent:' .. name, {TOLD, unpack(holders)}
    local found, changed = redis.call('HMGET', key, unpack(asked)), {}
    for i, holder in ipairs(holders) do
      local numbers = numbers_of(found[i + 1], NUMBERS)
      for j = 1, MEASURES do
        numbers[j] = math.max(numbers[j] + spent[j], 0)
        numbers[j + MEASURES] = math.max(numbers[j + MEASURES] + held[j], 0)
      end
      numbers[RUNS] = math.max(numbers[RUNS] + runs, 0)
      numbers[SEARCHES] = numbers[SEARCHES] + (spent[4] or 0)
      table.insert(changed, holder)
      table.insert(changed, text_of(numbers))
      if i == 1 and limits[name] then
        local told = numbers_of(found[1], 2 * VAIN)
        for _, each in ipairs(crossed(name, numbers, limits[name], told, {})) do table.insert(news, each) end
        table.insert(changed, TOLD)
        table.insert(changed, text_of(told))
      end
    end
    if found[2] then redis.call('HSET', key, unpack(changed)) end
  end
  return news
end

local function negative(numbers) return {-numbers[1], -numbers[2], -numbers[3]} end

-- Counts a run of which nobody has said what it cost at what was set aside for it, until its worker says so late.
local function assume(hold, held)
  hold.assumed = hold.assumed or {}
  hold.assumed[hold.run] = {0, hold.most[2], hold.most[3]}
  add(hold, hold.assumed[hold.run], held, 0, {})
end

-- Returns of which message the words are for which something is set aside.
local function message_of(asked) return string.match(asked, '^(.*) ') end

-- Gives free what is set aside for a question, if anything is, of which nobody says any more what it has cost.
function script.give_up(asked)
  local name = PREFIX .. 'hold:' .. asked
  local hold = cjson.decode(redis.call('GET', name) or '{}')
  if hold.is_live then
    assume(hold, negative(hold.most))
    hold.is_live = false
    redis.call('SET', name, cjson.encode(hold), 'KEEPTTL')
  end
  redis.call('ZREM', PREFIX .. 'held', asked)
end

-- Does so for those of which nobody has said it in time, and for other words of what is `asked` now, whose worker may be
-- gone; returns whether there were any.
local function sweep(at, asked)
  local held, message, any = redis.call('ZRANGE', PREFIX .. 'held', 0, -1, 'WITHSCORES'), asked and message_of(asked), false
  for i = 1, #held, 2 do
    if tonumber(held[i + 1]) <= at or (held[i] ~= asked and message_of(held[i]) == message) then
      script.give_up(held[i])
      any = true
    end
  end
  return any
end

-- Returns which windows have no room, each with the milliseconds until it has, and what stands in all of them. What lies
-- ahead was before the clock was put back.
local function full(windows, found, asked, at)
  local reached, times_of, is_known = {}, {}, false
  for i, window in ipairs(windows) do
    local _, count, length = unpack(window)
    local times, newest = found[i] and cjson.decode(found[i]) or {}, {}
    for one, time in pairs(times) do
      if time > at - length and time <= at then
        is_known = is_known or one == asked
        table.insert(newest, time)
      else
        times[one] = nil
      end
    end
    table.sort(newest, function(one, other) return one > other end)
    if newest[count] then table.insert(reached, {'window', i, newest[count] + length - at, 0}) end
    times_of[i] = times
  end
  return is_known and {} or reached, times_of, is_known
end

-- Returns why a limit of questions leaves no room for runs that lead to none: it allows `patience` times as many.
local function tired(limit, patience, numbers)
  if limit <= 0 or numbers[RUNS] < patience * limit then return nil end
  return numbers[RUNS] - numbers[1 + MEASURES] < patience * limit and 'held' or 'fruitless'
end

-- Sets aside the most that a question may cost, within all limits or not at all; only looks unless it `is_meant`.
--
-- `windows` are JSON of the holder, the count and the milliseconds of each; `periods` are the name, the milliseconds
-- that are left for it to be kept, and the holders, the community first, with a limit for each measure or -1. As long
-- as anything is left and nothing else is under way, a question may be asked, whatever it may cost. It returns the limits
-- that are reached, with numbers that begin with 1: 'window', 'period', 'fruitless' for too many runs that led to no
-- question, or 'held' where only what is set aside for others leaves no room; and the shares of limits that moderators
-- have to hear of. A look sweeps only if something is in its way.
function script.reserve(asked, run, most, windows, periods, patience, life, kept, is_meant)
  local at, news, given = now(), {}, {most, windows, periods, patience, life, kept, is_meant}
  most, windows, periods = cjson.decode(most), cjson.decode(windows), cjson.decode(periods)
  if is_meant then sweep(at, asked) end
  local name, names = PREFIX .. 'hold:' .. asked, {PREFIX .. 'hold:' .. asked}
  for _, window in ipairs(windows) do table.insert(names, PREFIX .. 'window:' .. window[1]) end
  local found = redis.call('MGET', unpack(names))
  local hold = found[1] and cjson.decode(found[1]) or {counted = 0, paid = {}, is_live = false}

  local function set()
    hold.run = run
    redis.call('SET', name, cjson.encode(hold), 'PX', kept)
    redis.call('ZADD', PREFIX .. 'held', at + life, asked)
    redis.call('PEXPIRE', PREFIX .. 'held', kept)
  end

  if hold.is_live then -- whoever was at it before is gone, and what was set aside is enough
    if is_meant then
      if hold.run ~= run then assume(hold, {0, 0, 0}) end
      set()
    end
    return {{}, {}}
  end

  local reached, times_of, is_known = full(windows, {unpack(found, 2, #windows + 1)}, asked, at)
  local wanted, changes = {math.max(most[1] - hold.counted, 0), most[2], most[3]}, {}
  hold.periods = {}
  for i, period in ipairs(periods) do
    local called, left, holders = unpack(period)
    local key, fields = PREFIX .. 'spent:' .. called, {}
    for j, holder in ipairs(holders) do fields[j] = holder[1] end
    local values, changed, is_full = redis.call('HMGET', key, TOLD, unpack(fields)), {}, {}
    for j, holder in ipairs(holders) do
      local numbers, limits = numbers_of(values[j + 1], NUMBERS), holder[2]
      local why = tired(limits[1], patience, numbers)
      if why then table.insert(reached, {why, i, j, 1}) end
      if why == 'fruitless' and j == 1 then is_full[VAIN] = patience end
      for k = 1, MEASURES do
        local limit, used, held = limits[k], numbers[k], numbers[k + MEASURES]
        if limit >= 0 and wanted[k] > 0 then
          local is_taken = held > 0 and used + held + wanted[k] > limit
          if used >= limit then
            table.insert(reached, {'period', i, j, k})
            if j == 1 then is_full[k] = 100 end
          elseif is_taken then
            table.insert(reached, {'held', i, j, k})
          end
        end
        numbers[k + MEASURES] = held + wanted[k]
      end
      numbers[RUNS] = numbers[RUNS] + 1
      table.insert(changed, fields[j])
      table.insert(changed, text_of(numbers))
    end
    if is_meant and next(is_full) and values[2] then
      local told = numbers_of(values[1], 2 * VAIN)
      for _, each in ipairs(crossed(called, {0, 0, 0}, holders[1][2], told, is_full)) do table.insert(news, each) end
      redis.call('HSET', key, TOLD, text_of(told))
    end
    table.insert(hold.periods, {called, fields})
    table.insert(changes, {key, not values[2] and left, changed}) -- one that is there has its end
  end
  if #reached > 0 then -- what is set aside for longer than from now on has been since before the clock was put back
    local late = redis.call('ZRANGEBYSCORE', PREFIX .. 'held', '(' .. at + life, '+inf')
    for _, each in ipairs(late) do redis.call('ZADD', PREFIX .. 'held', at + life, each) end
  end
  if #reached > 0 and not is_meant and sweep(at) then return script.reserve(asked, run, unpack(given)) end
  if #reached > 0 or not is_meant then return {reached, news} end

  for i, window in ipairs(windows) do
    if not is_known then
      times_of[i][asked] = at
      redis.call('SET', PREFIX .. 'window:' .. window[1], cjson.encode(times_of[i]), 'PX', window[3])
    end
  end
  for _, change in ipairs(changes) do
    redis.call('HSET', change[1], unpack(change[3]))
    if change[2] then redis.call('PEXPIRE', change[1], change[2]) end
  end
  hold.most, hold.is_live, hold.is_open = wanted, true, true
  set()
  return {{}, news}
end

-- Counts what a run of a question has cost, once for each run, and gives free what was set aside, unless another run
-- has it by now. One that cost nothing, or was a question, however late, is not among those that led to none. `limits`
-- are those of the community by period. Returns shares of them that moderators have to hear of.
function script.settle_cost(asked, run, spent, limits)
  local name = PREFIX .. 'hold:' .. asked
  local text = redis.call('GET', name)
  if not text then return {} end
  local hold, held, runs = cjson.decode(text), {0, 0, 0}, 0
  for _, each in ipairs(hold.paid) do
    if each == run then return {} end
  end
  spent = cjson.decode(spent)
  if hold.is_open and hold.run == run then
    hold.is_open = false
    runs = (spent[1] > 0 or spent[2] + spent[3] + (spent[4] or 0) == 0) and -1 or 0
  end
  spent[1] = math.min(spent[1], 1 - hold.counted)
  hold.counted = hold.counted + spent[1]
  table.insert(hold.paid, run)
  for i, number in ipairs(hold.assumed and hold.assumed[run] or {}) do spent[i] = spent[i] - number end
  if hold.is_live and hold.run == run then
    held, hold.is_live = negative(hold.most), false
    redis.call('ZREM', PREFIX .. 'held', asked)
  end
  redis.call('SET', name, cjson.encode(hold), 'KEEPTTL')
  return add(hold, spent, held, runs, cjson.decode(limits))
end

-- Returns what was spent in each of the periods by each of the holders, as JSON lists of their names.
function script.spent(periods, holders)
  local found = {}
  holders = cjson.decode(holders)
  for i, name in ipairs(cjson.decode(periods)) do
    found[i] = {}
    for j, text in ipairs(redis.call('HMGET', PREFIX .. 'spent:' .. name, unpack(holders))) do
      found[i][j] = numbers_of(text, NUMBERS)
    end
  end
  return found
end

-- Returns how somebody is told that they are at a limit, which lifts after `left` milliseconds: in words at first, then
-- by so many marks within so many milliseconds, and once they were more, not at all. The same question is told the same.
function script.turn_away(who, asked, left, most, length)
  local at, name = now(), PREFIX .. 'away:' .. who
  local text = redis.call('GET', name)
  local state, recent = text and cjson.decode(text) or {first = asked, marks = {}, is_over = false}, 0
  local told = 'words'
  if state.first ~= asked then
    for one, time in pairs(state.marks) do
      if time <= at - length or time > at then state.marks[one] = nil elseif one ~= asked then recent = recent + 1 end
    end
    state.is_over = state.is_over or recent >= most
    told = (state.marks[asked] or not state.is_over) and 'mark' or 'nothing'
    if told == 'mark' then state.marks[asked] = at end
  end
  if text then
    redis.call('SET', name, cjson.encode(state), 'KEEPTTL')
  else
    redis.call('SET', name, cjson.encode(state), 'PX', left)
  end
  return told
end
