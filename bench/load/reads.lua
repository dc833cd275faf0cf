-- wrk: reads streams as a client does, `distinct` of them in turn, and prints what came of it as JSON.
-- Arguments: number of distinct URLs, path of the streams; the credential is in BENCH_API_KEY.
local requests = {}
local at = 0

function init(args)
  local distinct, streams = tonumber(args[1]), args[2]
  local headers = { ["Authorization"] = "Bearer " .. os.getenv("BENCH_API_KEY") }
  for n = 1, distinct do
    local path = streams .. "/t/default/agents/chat/a" .. n .. "/timeline?offset=-1"
    if distinct == 1 then path = streams .. os.getenv("BENCH_PATH") end
    requests[n] = wrk.format("GET", path, headers)
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  io.write(string.format(
    '\nBENCH {"requests":%d,"durationUs":%d,"bytes":%d,"p50Us":%d,"p99Us":%d,"badStatus":%d,"socketErrors":%d,"timeouts":%d}\n',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99),
    summary.errors.status, summary.errors.connect + summary.errors.read + summary.errors.write,
    summary.errors.timeout))
end
