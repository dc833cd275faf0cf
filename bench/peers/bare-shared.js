import { Agent, get } from 'node:http';
import { setCollectorFlags } from '../../dist/platform/process/v8-flags.js';
import { eachEndToEnd, listen, upstreamOrigin, upstreamTarget } from './front.js';

/**
 * The least that sharing can cost in Node: one upstream request for all who wait at the same URL, whose response is
 * written to each of them as it is. It keeps no log, counts nothing, and limits nothing. V8 collects as
 * in the gateway, since the limit of its growth decides how much memory parked readers need.
 */
setCollectorFlags();
const agent = new Agent({ keepAlive: true });
const waiting = new Map();

listen((request, response) => {
  const { url } = request;
  const others = waiting.get(url);
  if (others) others.push(response);
  else {
    waiting.set(url, [response]);
    get(upstreamOrigin + upstreamTarget(url), { agent }, (answer) => void pass(url, answer)).on(
      'error',
      () => answerAll(url, 502, [], ''),
    );
  }
});

async function pass(url, answer) {
  const pieces = await answer.toArray();
  const headers = [];
  eachEndToEnd(answer.rawHeaders, (name, value) => headers.push(name, value));
  answerAll(url, answer.statusCode, headers, Buffer.concat(pieces));
}

function answerAll(url, status, headers, body) {
  const responses = waiting.get(url);
  waiting.delete(url);
  for (const response of responses) response.writeHead(status, headers).end(body);
}
