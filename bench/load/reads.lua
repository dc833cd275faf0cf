-- wrk: reads streams as a client does, `distinct` of them in turn, or always the same one.
-- Arguments: number of distinct URLs, path of the streams, path of the one stream with its query.
local requests = {}
local at = 0

function init(args)
  local distinct, streams = tonumber(args[1]), args[2]
  local headers = { ["Authorization"] = "Bearer " .. os.getenv("BENCH_API_KEY") }
  if distinct == 1 then
    requests[1] = wrk.format("GET", streams .. args[3], headers)
    return
  end
  for n = 1, distinct do
    local path = "/t/default/agents/chat/a" .. n .. "/timeline?offset=-1"
    requests[n] = wrk.format("GET", streams .. path, headers)
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end
