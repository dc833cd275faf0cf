import { describe, expect, it } from '@jest/globals';
import { AUTHORIZED, startTestGateway } from '../support/gateway.ts';
import { ACCEPTED } from '../support/runtime.ts';
import { logOf, scriptedGateway } from '../support/scripted-gateway.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const TRACED = {
  traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01`,
  tracestate: 'vendor=value, b=c',
};

/** Every route with an upstream, and a body for those that take one. */
const ROUTES = [
  ['GET', '/streams/t/x', undefined],
  ['GET', '/streams/t/x?offset=-1&live=long-poll', undefined],
  ['GET', '/streams/t/x?offset=-1&live=sse', undefined],
  ['HEAD', '/streams/t/x', undefined],
  ['PUT', '/streams/t/x', ''],
  ['POST', '/streams/t/x', 'event'],
  ['DELETE', '/streams/t/x', undefined],
  ['GET', '/shapes/v1/shape?table=entities&offset=-1', undefined],
  ['HEAD', '/shapes/v1/shape?table=entities&offset=-1', undefined],
  ['GET', '/registry/deployments', undefined],
  ['POST', '/registry/deployments', '{}'],
  ['PUT', '/registry/deployments/dp_1', '{}'],
  ['PATCH', '/registry/services/chat', '{}'],
  ['DELETE', '/registry/deployments/dp_1', undefined],
  ['POST', '/api/spawn', '{"type":"chat"}'],
  ['POST', '/api/t/default/spawn', '{"type":"chat"}'],
  ['POST', '/api/a/chat/a1/send', 'message'],
  ['POST', '/api/t/default/a/chat/a1/send', 'message'],
  ['POST', '/api/a/chat/a1/control', '{"verb":"pause"}'],
  ['POST', '/api/t/default/a/chat/a1/control', '{"verb":"pause"}'],
] as const;

const { gateway, upstream } = scriptedGateway((_request, response) =>
  response.writeHead(202).end(ACCEPTED),
);

/** Sends a request through a gateway without tracing and returns the trace headers that the upstream received. */
async function passedOn(method: string, path: string, headers: object, body?: string) {
  const response = await fetch(gateway.url + path, {
    method,
    headers: { ...AUTHORIZED, ...headers },
    ...(body !== undefined && { body }),
  });
  await response.text();
  expect(response.status).toBe(202);
  const { traceparent, tracestate } = upstream.seen.at(-1)?.headers ?? {};
  return { traceparent, tracestate };
}

describe('the trace of a client', () => {
  const isShared = ([method, path]: readonly [string, string, unknown]): boolean =>
    (method === 'GET' || method === 'HEAD') && !path.startsWith('/registry');

  it.each(ROUTES.filter((route) => !isShared(route)))(
    'is forwarded unchanged from %s %s',
    async (method, path, body) => {
      expect(await passedOn(method, path, TRACED, body)).toEqual(TRACED);
    },
  );

  // Others may share the upstream request, and it is the trace of one.
  it.each(ROUTES.filter(isShared))('is not forwarded from %s %s', async (method, path, body) => {
    expect(await passedOn(method, path, TRACED, body)).toEqual({});
  });

  it.each(ROUTES)('is not made up on %s %s', async (method, path, body) => {
    expect(await passedOn(method, path, {}, body)).toEqual({});
  });
});

describe('the log', () => {
  it('has the trace in the lines of its requests, and none that is malformed', async () => {
    const own = await startTestGateway();
    const ask = (traceparent: string) =>
      fetch(`${own.url}/streams/x`, { headers: { ...AUTHORIZED, traceparent } });
    await (await ask(TRACED.traceparent)).text();
    await (await ask(`00-${'0'.repeat(32)}-b7ad6b7169203331-01`)).text();
    await (await ask('"},{"message":"forged')).text();
    await own.stop();

    expect(logOf(own).map(({ message, code, traceId }) => ({ message, code, traceId }))).toEqual(
      [TRACE_ID, undefined, undefined].flatMap((traceId) =>
        [
          { message: expect.stringContaining('could not be reached'), traceId },
          { message: 'request', traceId },
        ].map((line) => ({ ...line, code: 'upstream_unreachable' })),
      ),
    );
  });
});
