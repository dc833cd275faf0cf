import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { problem } from '../support/ask-raw.ts';
import { forThisTest } from '../support/for-this-test.ts';
import { inTime } from '../support/in-time.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startMeasuredGateway } from '../support/measured-gateway.ts';
import {
  ACCEPTED,
  freePort,
  KEYED,
  listenAsRuntime,
  PREVIOUSLY,
  sendCommand,
} from '../support/runtime.ts';
import {
  startRawUpstream,
  startScriptedUpstream,
  type Script,
} from '../support/scripted-upstream.ts';

const DOUBT =
  '; nothing is known of the command. With an Idempotency-Key it can be repeated safely.';
const UNKNOWN_TYPE = '{"message":"service not found"}';

const gatewayTo = async (url: string, budgetMs: number): Promise<TestGateway> =>
  forThisTest(
    await startTestGateway({
      GATEWAY_RUNTIME_INGRESS_URL: url,
      GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: String(budgetMs),
    }),
  );

const startRuntime = async (script: Script) => forThisTest(await startScriptedUpstream(script));

describe('a connection that is lost before the answer', () => {
  it('is followed by the same command again, where it has a key', async () => {
    let requests = 0;
    const runtime = await startRuntime((request, response) => {
      requests += 1;
      if (requests === 1) request.socket.resetAndDestroy();
      else if (requests === 2) request.socket.end();
      else response.writeHead(202).end(PREVIOUSLY);
    });
    const gateway = await gatewayTo(runtime.url, 15_000);

    expect(await sendCommand(gateway.url, KEYED)).toMatchObject({ status: 202, isReplay: true });
    expect(runtime.seen).toHaveLength(3);
    expect(runtime.seen[0]?.headers).toMatchObject({
      'idempotency-key': 'k1',
      'x-request-id': 'to-a1',
    });
    expect(runtime.seen[1]).toEqual(runtime.seen[0]);
    expect(runtime.seen[2]).toEqual(runtime.seen[0]);
  });

  it('ends a command without a key, also on a kept connection', async () => {
    let requests = 0;
    const runtime = await startRuntime((request, response) => {
      requests += 1;
      if (requests === 1) response.writeHead(202).end(ACCEPTED);
      else request.socket.resetAndDestroy();
    });
    const gateway = await gatewayTo(runtime.url, 15_000);

    expect((await sendCommand(gateway.url)).status).toBe(202);
    expect(runtime.openSockets.size).toBe(1);
    const { status, body, retryAfter } = await sendCommand(gateway.url);
    expect({ status, retryAfter }).toEqual({ status: 502, retryAfter: null });
    expect(body).toMatchObject({ code: 'upstream_unreachable' });
    expect(body).not.toHaveProperty('sent');
    expect(requests).toBe(2);
  });

  // It was once told that the runtime "could not be reached; try again".
  it('is what the client is told, also where no later attempt finds the runtime', async () => {
    const runtime = await startRuntime(() => void runtime.stop());
    const gateway = await gatewayTo(runtime.url, 1_500);
    const { status, body, retryAfter } = await sendCommand(gateway.url, KEYED);
    const title = 'An upstream could not be reached';
    const detail = `The connection to the runtime was lost before it answered${DOUBT}`;
    expect({ status, retryAfter, body }).toEqual({
      status: 502,
      retryAfter: null,
      body: problem(502, 'upstream_unreachable', title, detail, 'to-a1'),
    });
    expect(runtime.seen).toHaveLength(1);
  });
});

describe('an answer that is cut', () => {
  // It ended a command with a key, which the runtime would have recognized.
  it.each([
    ['its headers', 'HTTP/1.1 202 Accepted\r\nContent-Le'],
    ['its body', `HTTP/1.1 202 Accepted\r\nContent-Length: 100\r\n\r\n${ACCEPTED}`],
    ['a chunk', 'HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"inv'],
    [
      'the body of a closing connection',
      `HTTP/1.1 202 Accepted\r\nConnection: close\r\nContent-Length: 100\r\n\r\n${ACCEPTED}`,
    ],
  ])('within %s is followed by the command again, where it has a key', async (_, bytes) => {
    let requests = 0;
    const whole = `HTTP/1.1 202 A\r\nContent-Length: ${PREVIOUSLY.length}\r\n\r\n${PREVIOUSLY}`;
    const runtime = forThisTest(
      await startRawUpstream((socket) => {
        socket.once('data', () => socket.end(++requests === 3 ? whole : bytes));
      }),
    );
    const gateway = await gatewayTo(runtime.url, 15_000);
    expect(await sendCommand(gateway.url, KEYED)).toMatchObject({ status: 202, isReplay: true });
    expect(requests).toBe(3);
  });
});

describe('a proxy before the runtime', () => {
  // A keyed command got the proxy's 503 as its 502, although the runtime was back a moment later.
  it.each([502, 503, 504])(
    'that answers %d for a while gets a command with a key again, and one without a key once',
    async (status) => {
      let requests = 0;
      const runtime = await startRuntime((_, response) => {
        requests += 1;
        if (requests < 4) response.writeHead(status, { 'retry-after': '9' }).end('upstream gone');
        else response.writeHead(202).end(ACCEPTED);
      });
      const gateway = await gatewayTo(runtime.url, 15_000);
      expect((await sendCommand(gateway.url, KEYED)).status).toBe(202);
      expect(requests).toBe(4);

      requests = 0;
      const outcome = await sendCommand(gateway.url);
      expect([outcome.status, outcome.body.code, requests]).toEqual([
        502,
        'upstream_invalid_response',
        1,
      ]);
    },
  );
});

describe('a runtime that fails each time', () => {
  it.each<[what: string, code: string, fail: Script]>([
    ['loses the connection', 'upstream_unreachable', ({ socket }) => void socket.resetAndDestroy()],
    [
      'cuts its answer',
      'upstream_invalid_response',
      ({ socket }) => void socket.end('HTTP/1.1 202 Accepted\r\nContent-Le'),
    ],
    [
      'answers 503',
      'upstream_invalid_response',
      (_, response) => void response.writeHead(503).end(),
    ],
  ])('and %s is given up within the budget, and not asked in a hot loop', async (_, code, fail) => {
    const runtime = await startRuntime(fail);
    const gateway = await gatewayTo(runtime.url, 1_000);
    const { status, body } = await sendCommand(gateway.url, KEYED);
    expect(status).toBe(502);
    // On a busy machine the budget can end between the last attempt and its answer.
    expect([code, 'upstream_timeout']).toContain(body.code);
    expect(body.detail).toContain(DOUBT);
    expect(runtime.seen.length).toBeGreaterThanOrEqual(2);
    expect(runtime.seen.length).toBeLessThanOrEqual(7);
  });
});

describe('a runtime that does not know its services yet', () => {
  /** A gateway whose runtime has just returned from an outage, in which a command waited. */
  async function afterOutage(script: Script, headers: Record<string, string>) {
    const port = await freePort();
    const gateway = forThisTest(
      await startMeasuredGateway({
        GATEWAY_RUNTIME_INGRESS_URL: `http://127.0.0.1:${port}`,
        GATEWAY_RUNTIME_OUTAGE_WAIT_MS: '600000',
      }),
    );
    const command = sendCommand(gateway.url, headers);
    await gateway.until('gateway_waiting_commands', {}, 1);
    const runtime = forThisTest(
      await listenAsRuntime(port, (request, response) =>
        script(request, response, Buffer.alloc(0)),
      ),
    );
    return { gateway, runtime, command };
  }

  // Restate listens before it has loaded its services: 24 commands after 14 restarts got 404 for a registered type.
  it('is asked again by a command with a key, when it has just returned', async () => {
    let requests = 0;
    const script: Script = (_, response) => {
      requests += 1;
      if (requests < 4) response.writeHead(404).end(UNKNOWN_TYPE);
      else response.writeHead(202).end(ACCEPTED);
    };
    const { command } = await afterOutage(script, KEYED);
    expect((await command).status).toBe(202);
    expect(requests).toBe(4);
  });

  it('is not asked again by a command without a key', async () => {
    const script: Script = (_, response) => response.writeHead(404).end(UNKNOWN_TYPE);
    const { command, runtime } = await afterOutage(script, {});
    expect(await command).toMatchObject({
      status: 404,
      body: { code: 'entity_type_not_registered' },
    });
    expect(runtime.targets).toHaveLength(1);
  });

  it('is believed in the end, and from then on at once', async () => {
    const script: Script = (_, response) => response.writeHead(404).end(UNKNOWN_TYPE);
    const { gateway, command, runtime } = await afterOutage(script, KEYED);
    expect(await command).toMatchObject({
      status: 404,
      body: { code: 'entity_type_not_registered' },
    });
    const before = runtime.targets.length;
    expect(before).toBeGreaterThan(5);
    expect((await sendCommand(gateway.url, KEYED)).status).toBe(404);
    expect(runtime.targets.length).toBe(before + 1);
  });

  it('is believed at once without an outage before', async () => {
    const runtime = await startRuntime((_, response) => response.writeHead(404).end(UNKNOWN_TYPE));
    const gateway = await gatewayTo(runtime.url, 15_000);
    expect((await sendCommand(gateway.url, KEYED)).status).toBe(404);
    expect(runtime.seen).toHaveLength(1);
  });
});

describe('a slow runtime', () => {
  /** Collects the responses of commands, and gives them to the script when there are so many. */
  async function holding(count: number, onAll: (responses: ServerResponse[]) => void) {
    const responses: ServerResponse[] = [];
    const closed: Promise<unknown>[] = [];
    const runtime = await startRuntime((request, response) => {
      closed.push(once(request.socket, 'close'));
      if (responses.push(response) === count) onAll(responses);
    });
    return { runtime, closed };
  }

  // With answers after 8 s of 15 s a command with a key was broken off at 7.5 s, five times, and failed for ever.
  it('that answers after more than a quarter of the budget gets a command with a key through', () =>
    inTime(4_000, async () => {
      // The probe comes at a quarter of the budget, and the answer to the first attempt after it.
      const { runtime, closed } = await holding(2, ([first]) =>
        first?.writeHead(202).end(ACCEPTED),
      );
      const gateway = await gatewayTo(runtime.url, 4_000);
      expect((await sendCommand(gateway.url, KEYED)).status).toBe(202);
      expect(runtime.seen).toHaveLength(2);
      expect(runtime.seen[1]).toEqual(runtime.seen[0]);
      // The other one is cancelled.
      await closed[1];
    }));

  it('that answers the probe first gets the command through', () =>
    inTime(3_000, async () => {
      const { runtime, closed } = await holding(2, ([, second]) =>
        second?.writeHead(202).end(PREVIOUSLY),
      );
      const gateway = await gatewayTo(runtime.url, 3_000);
      expect(await sendCommand(gateway.url, KEYED)).toMatchObject({ status: 202, isReplay: true });
      await closed[0];
    }));

  // The end of the canceled attempt was a failure like any other, and a third attempt followed the answer.
  it('gets no attempt any more after the first answer', () =>
    inTime(5_000, async () => {
      const runtime = await startRuntime((_, response) => {
        // Each second attempt is answered, and the first one cancelled.
        if (runtime.seen.length % 2 === 0) response.writeHead(202).end(ACCEPTED);
      });
      const gateway = await gatewayTo(runtime.url, 3_000);
      expect((await sendCommand(gateway.url, KEYED, 'first')).status).toBe(202);
      // It takes ten times as long as the pause after a failure.
      expect((await sendCommand(gateway.url, KEYED, 'second')).status).toBe(202);
      expect(runtime.seen.map(({ target }) => target)).toEqual([
        '/chat/first/wake/send',
        '/chat/first/wake/send',
        '/chat/second/wake/send',
        '/chat/second/wake/send',
      ]);
    }));

  // A second attempt because the first is slow doubles the load on what is slow.
  it('whose answer to the probe is a failure is waited for, and gets no third attempt', () =>
    inTime(6_000, async () => {
      let requests = 0;
      const runtime = await startRuntime((request, response) => {
        requests += 1;
        if (requests === 1) setTimeout(() => response.writeHead(202).end(ACCEPTED), 2_500);
        else request.socket.resetAndDestroy();
      });
      const gateway = await gatewayTo(runtime.url, 6_000);
      expect((await sendCommand(gateway.url, KEYED)).status).toBe(202);
      expect(requests).toBe(2);
    }));

  it.each([
    ['once, where the command has no key', {}, 1],
    ['twice, where it has one', KEYED, 2],
  ])(
    'that hangs is asked %s, within the budget, and left with no connection',
    (_, headers, count) =>
      inTime(5_000, async () => {
        const { runtime, closed } = await holding(0, () => undefined);
        const gateway = await gatewayTo(runtime.url, 3_000);
        expect(await sendCommand(gateway.url, headers)).toMatchObject({
          status: 502,
          body: {
            code: 'upstream_timeout',
            detail: `The runtime did not answer within 3000 ms${DOUBT}`,
          },
        });
        expect(runtime.seen).toHaveLength(count);
        await Promise.all(closed);
        expect(runtime.openSockets.size).toBe(0);
      }),
  );

  it('gets a command without a key once, which waits to the end of the budget', () =>
    inTime(7_000, async () => {
      const arrived = Promise.withResolvers<ServerResponse>();
      const quarter = Promise.withResolvers<void>();
      const runtime = await startRuntime((request, response) => {
        if (request.headers['idempotency-key'] === undefined) arrived.resolve(response);
        // The probe of a command with a key that came later: a quarter of the budget is over.
        else if (runtime.seen.length === 3) quarter.resolve();
      });
      const gateway = await gatewayTo(runtime.url, 4_000);
      const unkeyed = sendCommand(gateway.url, {}, 'unkeyed');
      const response = await arrived.promise;
      const keyed = sendCommand(gateway.url, KEYED, 'keyed');
      await quarter.promise;
      response.writeHead(202).end(ACCEPTED);
      expect((await unkeyed).status).toBe(202);
      expect((await keyed).status).toBe(502);
      expect(runtime.seen.filter(({ target }) => target.includes('unkeyed'))).toHaveLength(1);
    }));
});
