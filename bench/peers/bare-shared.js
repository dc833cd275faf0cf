import { Agent, get } from 'node:http';
import { setCollectorFlags } from '../../.local/bench/gateway-parts.js';
import {
  clientHeaders,
  listen,
  mayJoin,
  upstreamOrigin,
  upstreamTarget,
  writeHead,
} from './front.js';

/**
 * The least that sharing can cost in Node: one upstream request for all who wait at the same URL, whose response is
 * written to each of them as it is. It keeps no log, counts nothing, and limits nothing. V8 collects as
 * in the gateway, since the limit of its growth decides how much memory parked readers need.
 */
setCollectorFlags();
const agent = new Agent({ keepAlive: true });
/** By URL: the readers of the request in progress, and those that must not join it. */
const reads = new Map();

listen((request, response) => {
  const { url } = request;
  const read = reads.get(url);
  if (!read) send(url, [response]);
  else if (mayJoin(url)) read.readers.push(response);
  else read.later.push(response);
});

function send(url, readers) {
  reads.set(url, { readers, later: [] });
  get(upstreamOrigin + upstreamTarget(url), { agent }, (answer) => void pass(url, answer)).on(
    'error',
    () => answerAll(url, 502, clientHeaders([]), ''),
  );
}

async function pass(url, answer) {
  const pieces = await answer.toArray();
  answerAll(url, answer.statusCode, clientHeaders(answer.rawHeaders), Buffer.concat(pieces));
}

function answerAll(url, status, headers, body) {
  const { readers, later } = reads.get(url);
  reads.delete(url);
  for (const response of readers) {
    writeHead(response, status, headers);
    response.end(body);
  }
  if (later.length > 0) send(url, later);
}
