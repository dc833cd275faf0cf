-- wrk: runs the script BENCH_SCRIPT, and prints what came of it as one line of JSON.
-- With BENCH_MOST_REQUESTS it is idle after so many: enough to see that the bench works, which measures nothing then.
dofile(os.getenv("BENCH_SCRIPT"))

local left = tonumber(os.getenv("BENCH_MOST_REQUESTS"))
if left then
  function response()
    left = left - 1
    if left == 0 then wrk.thread:stop() end
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nBENCH {"requests":%d,"durationUs":%d,"p50Us":%d,"p99Us":%d,"errors":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
