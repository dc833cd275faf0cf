-- wrk: sends messages to entities, one after the other.
-- Arguments: what comes before the entity's id in the path, and what comes behind it.
local ENTITIES = 10000
local BODY = '{"kind":"message","content":[{"type":"text","text":"How far have you come?"}]}'
local requests = {}
local at = 0

function init(args)
  local headers = {
    ["Authorization"] = "Bearer " .. os.getenv("BENCH_API_KEY"),
    ["Content-Type"] = "application/json",
  }
  for n = 1, ENTITIES do
    requests[n] = wrk.format("POST", args[1] .. "a" .. n .. args[2], headers, BODY)
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end
