-- Stands before every script. A script is a function of `script`: `run` is given its name, what each argument is, and the
-- arguments in the order in which the function names them.
local script, PREFIX = {}, KEYS[1]
local begun -- when the server was asked for the time, which stands still within a script

-- Returns the time of the server in milliseconds.
local function now()
  local time = begun or redis.call('TIME')
  begun = time
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Runs a script; of `kinds`, each letter is of one argument: n for a number, b for a truth value, and s for text.
local function run(name, kinds, ...)
  local given = {...}
  for i, kind in ipairs({string.byte(kinds, 1, -1)}) do
    if kind == string.byte('n') then given[i] = tonumber(given[i]) end
    if kind == string.byte('b') then given[i] = given[i] == '1' end
  end
  return script[name](unpack(given))
end
