import { createServer } from 'node:http';

/*
 * What every bare peer has in common. The peers are plain JavaScript, as their packages' own
 * documentation has it: the packages are not installed where the types are checked.
 */
const {
  PEER_PORT,
  PEER_API_KEY,
  PEER_PREFIX,
  PEER_UPSTREAM_ORIGIN,
  PEER_UPSTREAM_PATH,
  PEER_DUTIES,
} = process.env;
/** Does what the gateway owes to every request, or undefined for a server that only forwards. */
export const duties = PEER_DUTIES === '1' ? await import('./duties.js') : undefined;

export const port = Number(PEER_PORT);
export const prefix = PEER_PREFIX;
export const upstreamOrigin = PEER_UPSTREAM_ORIGIN;
export const upstreamPath = PEER_UPSTREAM_PATH;
export const authorization = `Bearer ${PEER_API_KEY}`;
/** What neither side is to get of the other's, in lower case. */
export const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'host']);
/** To an upstream; the gateway's own has no limit. */
export const MAX_SOCKETS = 1024;

/** The upstream's path for one of ours. */
export function upstreamTarget(url) {
  return upstreamPath + url.slice(prefix.length);
}

/** Calls `keep` with each header that a proxy passes on. */
export function eachEndToEnd(raw, keep) {
  for (let at = 0; at < raw.length; at += 2) {
    if (!HOP_BY_HOP.has(raw[at].toLowerCase())) keep(raw[at], raw[at + 1]);
  }
}

/** The end-to-end headers of an upstream's response, for any number of its readers. */
export function clientHeaders(raw) {
  const headers = [];
  eachEndToEnd(raw, (name, value) => headers.push(name, value));
  return duties ? duties.clientHeaders(headers) : headers;
}

/** Whether a reader may get the response to a request that was sent before it came. */
export function mayJoin(url) {
  return duties === undefined || duties.mayJoin(url);
}

/** Writes the head of one reader's response. */
export function writeHead(response, status, headers) {
  if (duties) duties.writeHead(response, status, headers);
  else response.writeHead(status, headers);
}

/** Answers `/health`, refuses what has no credential, and hands on the rest without it. */
export function listen(proxy) {
  createServer((request, response) => {
    if (request.url === '/health') {
      response.end();
    } else if (duties && !duties.begin(request, response, authorization)) {
      // Refused.
    } else if (request.headers.authorization !== authorization) {
      response.writeHead(401).end();
    } else if (!request.url.startsWith(`${prefix}/`)) {
      response.writeHead(404).end();
    } else {
      delete request.headers.authorization;
      proxy(request, response);
    }
  }).listen(port, '127.0.0.1', 4096);
}
