import { createServer, type RequestListener } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { addRealUpstream } from '../support/contract/real-upstreams.ts';
import { watchContract } from '../support/contract/contract-watch.ts';
import { forThisTest } from '../support/for-this-test.ts';
import { listening } from '../support/listening.ts';

/** Stands for the history store of the simulated gateway. */
const REAL_STORE = 'http://127.0.0.1:2/v1/stream';
const DOUBLE = 'http://127.0.0.1:2';
addRealUpstream(REAL_STORE);

const REQUEST_ID = { 'x-request-id': 'r1' };
const OWN = { ...REQUEST_ID, 'cache-control': 'no-store' };
const PASSED_ON = { ...REQUEST_ID, 'cache-control': 'private', vary: 'Authorization' };
const ACCEPTED = {
  url: '/t/default/a/echo/e1',
  streamPath: '/t/default/agents/echo/e1/timeline',
  streamUrl: '/streams/t/default/agents/echo/e1/timeline',
  restate: { invocationId: 'inv_1' },
};

/** An accepted command, of which most cases are a change. */
const SPAWNED = {
  ask: 'POST /api/spawn',
  status: 202,
  headers: asJson(REQUEST_ID),
  body: ACCEPTED,
};

interface Played {
  /** The request line. */
  ask: string;
  status: number;
  headers: Record<string, string>;
  body?: unknown;
  streams?: string;
}

function problem(code: string, status: number, more: object = {}): Pick<Played, 'status' | 'body'> {
  const type = `urn:agent-gateway:error:${code}`;
  return {
    status,
    body: { type, title: 'T', status, detail: 'D.', code, requestId: 'r1', ...more },
  };
}

function asProblem(headers: Record<string, string>) {
  return { ...headers, 'content-type': 'application/problem+json' };
}

function asJson(headers: Record<string, string>) {
  return { ...headers, 'content-type': 'application/json' };
}

/** Simulates a gateway with one response, and returns the verdict of the contract watch. */
async function watched({
  ask,
  status,
  headers,
  body,
  streams = DOUBLE,
}: Played): Promise<string[]> {
  const answer = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
  const [method, target] = ask.split(' ');
  const { url, check, closed } = await play(
    (_request, response) => response.writeHead(status, headers).end(answer),
    streams,
  );
  const got = await fetch(`${url}${target}`, { method });
  await got.arrayBuffer();
  await closed;
  return linesOf(check);
}

async function play(
  listener: RequestListener,
  streams: string,
): Promise<{ url: string; check: () => void; closed: Promise<unknown> }> {
  const closed = Promise.withResolvers<unknown>();
  const server = createServer((request, response) => {
    response.once('close', closed.resolve);
    listener(request, response);
  });
  const check = watchContract(server, { streams });
  const { url } = forThisTest(await listening(server));
  return { url, check, closed: closed.promise };
}

/** The violations that an error names, without the names of their tests. */
function linesOf(check: () => void): string[] {
  try {
    check();
    return [];
  } catch (error) {
    const [, ...lines] = (error as Error).message.split('\n');
    return lines.filter((line) => !line.includes('(during')).map((line) => line.trim());
  }
}

describe('the watch over the contract', () => {
  const fine: [string, Played][] = [
    ['an accepted command', SPAWNED],
    [
      'an accepted command of the fully qualified form',
      {
        ...SPAWNED,
        ask: 'POST /api/t/default/a/echo/e1/send',
        headers: asJson({ ...REQUEST_ID, 'idempotency-replayed': 'true' }),
      },
    ],
    [
      'a problem that its operation lists',
      {
        ask: 'POST /api/a/echo/e1/control',
        headers: asProblem(OWN),
        ...problem('unknown_verb', 400, { errors: [{ field: 'verb', message: 'M' }] }),
      },
    ],
    [
      'a problem without its body, to HEAD',
      { ask: 'HEAD /streams/a/b', status: 403, headers: asProblem(OWN) },
    ],
    [
      'a route that is none',
      { ask: 'PATCH /streams/a', headers: asProblem(OWN), ...problem('route_not_found', 404) },
    ],
    [
      'whatever a double has to say',
      { ask: 'GET /streams/a/b', status: 418, headers: { ...PASSED_ON, 'content-type': 'x/y' } },
    ],
    [
      'a read of the real store',
      {
        ask: 'GET /streams/a/b?offset=-1',
        status: 200,
        headers: asJson({ ...PASSED_ON, 'stream-next-offset': '0_1' }),
        body: [{ seq: 0 }],
        streams: REAL_STORE,
      },
    ],
  ];

  it.each(fine)('lets pass %s', async (_name, played) => {
    expect(await watched(played)).toEqual([]);
  });

  const wrong: [string, Played, string[]][] = [
    [
      'a status that is not declared',
      { ...SPAWNED, status: 200 },
      ['status 200 is not declared for spawnAgent'],
    ],
    [
      'a missing header',
      { ...SPAWNED, headers: asJson({}) },
      ['the header X-Request-Id is missing'],
    ],
    [
      'a header that is not as it should be',
      { ...SPAWNED, headers: asJson({ ...REQUEST_ID, 'idempotency-replayed': 'yes' }) },
      ['the header Idempotency-Replayed must be equal to constant {"allowedValue":"true"}'],
    ],
    [
      'a body that lacks a field',
      { ...SPAWNED, body: { ...ACCEPTED, restate: {} } },
      [
        `the body /restate must have required property 'invocationId' {"missingProperty":"invocationId"}`,
      ],
    ],
    [
      'a body with a field too many',
      { ...SPAWNED, body: { ...ACCEPTED, secret: 's' } },
      ['the body must NOT have additional properties {"additionalProperty":"secret"}'],
    ],
    [
      'a body that is not what its media type says',
      { ...SPAWNED, body: '{' },
      ['the body is not JSON'],
    ],
    [
      'another media type',
      { ...SPAWNED, headers: { ...REQUEST_ID, 'content-type': 'text/html' }, body: '<p>' },
      ['the media type "text/html" is not declared'],
    ],
    [
      'a code that the operation does not list',
      { ask: 'POST /api/spawn', headers: asProblem(OWN), ...problem('tenant_not_served', 404) },
      [
        'the body /code must be equal to one of the allowed values {"allowedValues":["entity_type_not_registered"]}',
      ],
    ],
    [
      'a problem of a status that the operation does not list, where an upstream may say anything',
      { ask: 'GET /registry/x', headers: asProblem(OWN), ...problem('tenant_not_served', 410) },
      ['status 410 is not declared for readRegistry'],
    ],
    [
      'a 401 that does not ask for a credential',
      { ask: 'GET /registry/x', headers: asProblem(OWN), ...problem('missing_credentials', 401) },
      ['the header WWW-Authenticate is missing'],
    ],
    [
      'a read that caches may share',
      {
        ask: 'GET /streams/a/b',
        status: 200,
        headers: { ...REQUEST_ID, 'content-type': 'text/plain' },
      },
      ['the header Cache-Control is missing', 'the header Vary is missing'],
    ],
    [
      'a read of the real store whose headers are lost',
      {
        ask: 'GET /streams/a/b?live=long-poll',
        status: 204,
        headers: PASSED_ON,
        streams: REAL_STORE,
      },
      ['the header Stream-Next-Offset is missing', 'the header Stream-Up-To-Date is missing'],
    ],
    [
      'a batch of the real store that is no array',
      {
        ask: 'GET /streams/a/b',
        status: 200,
        headers: asJson(PASSED_ON),
        body: { seq: 0 },
        streams: REAL_STORE,
      },
      ['the body must be array {"type":"array"}'],
    ],
    [
      'an answer where there is no route',
      { ask: 'GET /openapi.json', status: 200, headers: asJson(REQUEST_ID), body: {} },
      ['status 200 where the document has no operation'],
    ],
  ];

  it.each(wrong)('finds %s', async (_name, played, violations) => {
    const line = `${played.ask} → ${played.status}`;
    expect(await watched(played)).toEqual(violations.map((violation) => `${line}: ${violation}`));
  });

  it('names the test that an answer was given in', async () => {
    const { url, check, closed } = await play((_request, response) => response.end('?'), DOUBLE);
    await (await fetch(`${url}/health`)).text();
    await closed;
    expect(check).toThrow(
      'during "the watch over the contract names the test that an answer was given in"',
    );
  });

  // One that looked at `end` alone would take all of these for empty bodies.
  it('puts a body together of whatever it was written in', async () => {
    const { url, check, closed } = await play((_request, response) => {
      response.writeHead(200, asJson(OWN));
      response.write('{"status":"ok",');
      response.write(Buffer.from('"info":{},'));
      response.write('"error":{},', 'latin1');
      response.end(Buffer.from('"details":{}}').toString('base64'), 'base64');
    }, DOUBLE);
    await (await fetch(`${url}/health`)).text();
    await closed;
    expect(linesOf(check)).toEqual([]);
  });

  it('judges the head alone of an answer that was broken off', async () => {
    const { url, check, closed } = await play((_request, response) => {
      response.writeHead(200, asJson(OWN));
      response.write('{"status":', () => response.destroy());
    }, DOUBLE);
    await expect(fetch(`${url}/health`).then((answer) => answer.text())).rejects.toThrow();
    await closed;
    expect(linesOf(check)).toEqual([]);
  });
});
