import { createHash, timingSafeEqual } from 'node:crypto';
import { freshUlid, IDEMPOTENCY_KEY, pathProblem } from '../../.local/bench/gateway-parts.js';

/*
 * What the contract of the gateway asks of every read, each in the cheapest way that we know: a request id, the check of the
 * path, a digest of the credential, CORS, a bound for what a connection pipelines, a bound for open reads, a deadline, a list of
 * the open reads that a withdrawn credential ends, private caching, headers that are not for clients, a log line and metrics.
 * There is no Nest, no stalled client, no budget of held bytes, no retry and no drain. Of a command it asks the same, a bound for its
 * body, the rule of its `Idempotency-Key`, and a line in the audit.
 */
const MAX_OPEN_READS = 20_000;
const MAX_STARTED_REQUESTS = 8;
const MAX_BODY_BYTES = 1_048_576;
const COMMAND_TIMEOUT_MS = 30_000;
const TYPE = /^[a-z][a-z0-9-]{0,62}$/;
const ID = /^[A-Za-z0-9_-]{1,128}$/;
const LIVE_TIMEOUT_MS = 120_000;
const LINES_BYTES = 16_384;
const LINES_MS = 100;
const BUCKETS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000];
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const NOT_FOR_CLIENTS =
  /^(?:server|electric-server|x-powered-by|set-cookie2?|surrogate-control|x-sendfile|x-request-id|access-control-.*|x-accel-.*|x-litespeed-.*|.*cdn-cache-control)$/i;
const EXPOSED =
  'ETag, Stream-Next-Offset, Stream-Cursor, Stream-Up-To-Date, Stream-Closed, Stream-SSE-Data-Encoding, electric-handle, electric-offset, electric-schema, electric-cursor, electric-up-to-date, electric-has-data, Retry-After, WWW-Authenticate, X-Request-Id';

const LAST = Symbol('the last credential of a connection');
const STARTED = Symbol('the requests of a connection that are in progress');
const openReads = [];
const series = new Map();
let lines = '';
let linesTimer;

/** The work before a read is forwarded. Returns its open read, or undefined if it has been refused. */
export function begin(request, response, authorization) {
  const open = opened(request, response);
  const status = refusal(request, open.path, authorization);
  if (status === undefined) {
    open.endsAtMs = open.startedAtMs + LIVE_TIMEOUT_MS;
    return open;
  }
  response.writeHead(status, { 'x-request-id': open.id }).end();
  return undefined;
}

/** The work before a command is sent. Returns its open request, or undefined if it has to be refused. */
export function beginCommand(request, response, authorization) {
  const { headers, socket } = request;
  const open = opened(request, response);
  const key = headers['idempotency-key'];
  const isRefused =
    !isAuthorized(headers.authorization, socket, authorization) ||
    pathProblem(open.path) !== undefined ||
    Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES ||
    (key !== undefined && !IDEMPOTENCY_KEY.test(key)) ||
    openReads.length > MAX_OPEN_READS;
  if (isRefused) return undefined;
  open.endsAtMs = open.startedAtMs + COMMAND_TIMEOUT_MS;
  response.setHeader('X-Request-Id', open.id);
  response.setHeader('Cache-Control', 'no-store');
  return open;
}

/** What the runtime gets with a command besides. Throws at an address that is none. */
export function headersOfCommand({ open }, type, id) {
  if (!TYPE.test(type) || !ID.test(id)) throw new Error('not an address');
  const url = `/t/default/a/${type}/${id}`;
  return { 'x-entity-url': url, 'x-entity-stream': `${url}/main`, 'x-request-id': open.id };
}

/** Says in the audit which agent got the command. The line is written with that of the request. */
export function audited(response, entityUrl, invocationId) {
  response.open.audit = `,"command":"send","entityUrl":"${entityUrl}","invocationId":"${invocationId}"`;
}

function opened(request, response) {
  const { url, headers, socket } = request;
  const queryAt = url.indexOf('?');
  const path = queryAt === -1 ? url : url.slice(0, queryAt);
  const sentId = headers['x-request-id'];
  const open = {
    index: 0,
    id: sentId !== undefined && REQUEST_ID.test(sentId) ? sentId : freshUlid(),
    path,
    startedAtMs: performance.now(),
    isLive: isLive(url),
    response,
  };
  response.open = open;
  response.on('close', () => end(open, request));
  open.index = openReads.push(open) - 1;
  socket[STARTED] = (socket[STARTED] ?? 0) + 1;
  return open;
}

function isLive(url) {
  return url.includes('live=');
}

/** A catch-up read must find what was acknowledged before it came, which a request in progress may miss. */
export const mayJoin = isLive;

function refusal({ headers, socket }, path, authorization) {
  if (!isAuthorized(headers.authorization, socket, authorization)) return 401;
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined)
    return 400;
  if (pathProblem(path) !== undefined) return 400;
  return openReads.length > MAX_OPEN_READS || socket[STARTED] > MAX_STARTED_REQUESTS
    ? 503
    : undefined;
}

const digestOf = (text) => createHash('sha256').update(text).digest();
let validDigest;

/** The digest of a connection's last credential is kept, as in the gateway. */
function isAuthorized(sent, socket, authorization) {
  if (sent === undefined) return false;
  validDigest ??= digestOf(authorization);
  const last = socket[LAST];
  if (last !== undefined && isSame(last.text, sent))
    return timingSafeEqual(last.digest, validDigest);
  const digest = digestOf(sent);
  socket[LAST] = { text: sent, digest };
  return timingSafeEqual(digest, validDigest);
}

function isSame(one, other) {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let i = 0; i < one.length; i++) difference |= one.charCodeAt(i) ^ other.charCodeAt(i);
  return difference === 0;
}

function end(open, request) {
  const last = openReads.pop();
  if (last !== open) {
    openReads[open.index] = last;
    last.index = open.index;
  }
  request.socket[STARTED]--;
  const { statusCode, writableFinished } = open.response;
  const durationMs = performance.now() - open.startedAtMs;
  if (open.audit !== undefined)
    write(
      `{"level":"info","time":${Date.now()}${open.audit},"credential":"bench","requestId":"${open.id}","message":"command"}\n`,
    );
  measure(`${request.method} ${statusCode} ${open.isLive}`, durationMs);
  write(
    `{"level":"info","time":${Date.now()},"method":"${request.method}","route":"/streams/{*path}","path":${JSON.stringify(open.path)},"status":${statusCode},"durationMs":${durationMs.toFixed(1)},"credential":"bench","upstream":"history","requestId":"${open.id}"${writableFinished ? '' : ',"broken":true'},"message":"request"}\n`,
  );
}

function measure(labels, durationMs) {
  let one = series.get(labels);
  if (one === undefined)
    series.set(labels, (one = { sum: 0, counts: BUCKETS_MS.map(() => 0), count: 0 }));
  one.sum += durationMs;
  one.count++;
  const bucket = BUCKETS_MS.findIndex((most) => durationMs <= most);
  if (bucket !== -1) one.counts[bucket]++;
}

function write(line) {
  lines += line;
  if (lines.length >= LINES_BYTES) flush();
  else linesTimer ??= setTimeout(flush, LINES_MS);
}

function flush() {
  clearTimeout(linesTimer);
  linesTimer = undefined;
  process.stdout.write(lines);
  lines = '';
}

/** One timer ends all reads that are late. */
setInterval(() => {
  const nowMs = performance.now();
  for (const open of openReads) if (open.endsAtMs < nowMs) open.response.destroy();
}, 1_000).unref();

/** The headers of an upstream's response that are for clients. They are the same for all readers of it. */
export function clientHeaders(headers) {
  const passed = [];
  let cacheControl = 'private';
  let vary = 'Authorization';
  for (let at = 0; at < headers.length; at += 2) {
    const [name, value] = [headers[at], headers[at + 1]];
    const lower = name.toLowerCase();
    if (lower === 'cache-control') cacheControl = value.replace('public', 'private');
    else if (lower === 'vary') vary = `${value}, Authorization`;
    else if (!NOT_FOR_CLIENTS.test(name)) passed.push(name, value);
  }
  passed.push('Cache-Control', cacheControl, 'Vary', vary);
  passed.push('Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED);
  return passed;
}

export function writeHead(response, status, headers) {
  response.writeHead(status, ['X-Request-Id', response.open.id, ...headers]);
}
