-- wrk: every connection is a reader of one timeline that waits for the next event by long-poll, as
-- long as wrk runs. Prints how long each event took from its append to each reader.
--
-- All readers of the one thread share what they know of the timeline, its offset and cursor: no event
-- is appended before all have the one before, so it is the same for each.
--
-- Arguments: path of the streams, path of the stream, offset to begin at, number of readers.
local ffi = require("ffi")
ffi.cdef [[
  typedef struct { long seconds; long nanoseconds; } timespec_t;
  int clock_gettime(int clock, timespec_t *now);
]]
local CLOCK_MONOTONIC = 1
local now = ffi.new("timespec_t")

local headers = {}
local stream, offset, cursor, readers
local next_request
local seq, delays, received, others = -1, nil, 0, 0

local function microseconds()
  ffi.C.clock_gettime(CLOCK_MONOTONIC, now)
  return tonumber(now.seconds) * 1e6 + tonumber(now.nanoseconds) / 1e3
end

local function prepare()
  local query = "?offset=" .. offset .. "&live=long-poll"
  if cursor then query = query .. "&cursor=" .. cursor end
  next_request = wrk.format("GET", stream .. query, headers)
end

function init(args)
  headers["Authorization"] = "Bearer " .. os.getenv("BENCH_API_KEY")
  stream, offset, readers = args[1] .. args[2], args[3], tonumber(args[4])
  delays = ffi.new("int32_t[?]", readers)
  prepare()
end

function request()
  return next_request
end

local function report_event()
  local list = {}
  for n = 1, readers do list[n] = delays[n - 1] end
  io.write("EVENT ", seq, " ", table.concat(list, ","), "\n")
  io.flush()
end

local function report_other(status, body)
  others = others + 1
  if others > readers then
    io.write("GIVEN UP after ", others, " answers that were none\n")
    io.flush()
    wrk.thread:stop()
  end
  -- A few tell what is wrong; ten thousand tell no more.
  if others > 5 then return end
  io.write("OTHER ", status, " ", body:sub(1, 200):gsub("%s+", " "), "\n")
  io.flush()
end

local function take_position(answered)
  local next_offset, next_cursor
  for name, value in pairs(answered) do
    local lower = name:lower()
    if lower == "stream-next-offset" then next_offset = value end
    if lower == "stream-cursor" then next_cursor = value end
  end
  if next_offset then offset, cursor = next_offset, next_cursor end
  prepare()
end

function response(status, answered, body)
  local at_us = microseconds()
  local event, appended_us = body:match('"seq":(%d+),"atUs":(%d+)')
  if status ~= 200 or not event then return report_other(status, body) end
  event = tonumber(event)
  if event ~= seq then
    seq, received = event, 0
    take_position(answered)
  end
  delays[received] = at_us - tonumber(appended_us)
  received = received + 1
  if received == readers then report_event() end
end
