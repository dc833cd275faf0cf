-- wrk: reads streams as a client does, `distinct` of them in turn, or always the same one.
-- Arguments: number of distinct URLs, path of the streams, path of the one stream with its query.
-- With BENCH_TOKENS, a file with a read token in each line, request n sends token n in place of the API key.
local requests = {}
local at = 0

local function read_tokens()
  local tokens = {}
  local path = os.getenv("BENCH_TOKENS")
  if path then
    for line in io.lines(path) do tokens[#tokens + 1] = line end
  end
  return tokens
end

function init(args)
  local distinct, streams = tonumber(args[1]), args[2]
  local headers = { ["Authorization"] = "Bearer " .. os.getenv("BENCH_API_KEY") }
  if distinct == 1 then
    requests[1] = wrk.format("GET", streams .. args[3], headers)
    return
  end
  local tokens = read_tokens()
  for n = 1, math.max(distinct, #tokens) do
    if #tokens > 0 then headers["Authorization"] = "Bearer " .. tokens[(n - 1) % #tokens + 1] end
    local path = "/t/default/agents/chat/a" .. ((n - 1) % distinct + 1) .. "/timeline?offset=-1"
    requests[n] = wrk.format("GET", streams .. path, headers)
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end
