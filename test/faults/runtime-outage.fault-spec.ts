import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { AUTHORIZED } from '../support/credentials.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { startMeasuredGateway } from '../support/measured-gateway.ts';
import {
  ACCEPTED,
  freePort,
  KEYED,
  listenAsRuntime,
  sendCommand,
  type CommandOutcome,
} from '../support/runtime.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { startUnacceptingServer } from '../support/unaccepting-server.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const CONNECTIONS = 40;
const CLOSE = { connection: 'close' };

describe('an outage of the runtime at the cap of connections', () => {
  // Waiting commands took all of 400 connections: readers got 503 for 20 s of outage, and for 75 s after it.
  it('leaves readers their connections, and tells the commands that find no place', async () => {
    const port = await freePort();
    const history = await startScriptedUpstream((_, response) => response.end('events'));
    cleanups.push(() => history.stop());
    const gateway = await startMeasuredGateway({
      GATEWAY_RUNTIME_INGRESS_URL: `http://127.0.0.1:${port}`,
      GATEWAY_RUNTIME_OUTAGE_WAIT_MS: '600000',
      GATEWAY_HISTORY_URL: history.url,
      GATEWAY_MAX_CONNECTIONS: String(CONNECTIONS),
    });
    cleanups.push(() => gateway.stop());
    const share = CONNECTIONS / 4;
    const send = (id: string): Promise<CommandOutcome> =>
      sendCommand(gateway.url, { ...KEYED, ...CLOSE }, id);
    const waiting = Array.from({ length: share }, (_, index) => send(`waits-${index}`));
    await gateway.until('gateway_waiting_commands', {}, share);

    const read = async (index: number): Promise<number> => {
      const answer = await fetch(`${gateway.url}/streams/x?n=${index}`, {
        headers: { ...AUTHORIZED, ...CLOSE },
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    for (let round = 0; round < 20; round++) {
      const [refused, ...statuses] = await Promise.all([
        send(`more-${round}`),
        ...Array.from({ length: share }, (_, index) => read(index)),
      ]);
      expect(refused).toMatchObject({ status: 503, body: { code: 'overloaded' }, retryAfter: '1' });
      expect(new Set(statuses)).toEqual(new Set([200]));
    }

    const runtime = await listenAsRuntime(port);
    cleanups.push(() => runtime.stop());
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(202);
    expect(runtime.targets).toHaveLength(share);
    expect((await send('after')).status).toBe(202);
  });
});

describe('a gateway whose runtime takes no connection', () => {
  it('ends in time at SIGTERM, with a command that waits and a scout that has no answer', async () => {
    const server = await startUnacceptingServer();
    cleanups.push(() => server.stop());
    const gateway = await startGatewayChild({
      env: {
        GATEWAY_RUNTIME_INGRESS_URL: server.url,
        GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: '600',
        GATEWAY_RUNTIME_OUTAGE_WAIT_MS: '0',
        GATEWAY_DRAIN_TIMEOUT_MS: '1000',
      },
    });
    cleanups.push(() => gateway.kill());
    expect(await sendCommand(gateway.url, KEYED)).toMatchObject({ status: 502 });
    const hanging = sendCommand(gateway.url, KEYED).catch(() => undefined);
    gateway.signal('SIGTERM');
    await hanging;
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });
});

describe('a runtime that takes more than half of the 15 s', () => {
  // A command with a key was broken off at 7.5 s, four times more after that, and never succeeded.
  it('gets a command with a key through, of which it sees one more attempt', async () => {
    const responses: ServerResponse[] = [];
    const runtime = await startScriptedUpstream((_, response) => {
      // The third request is the second attempt. With a clock it came after the answer on a busy machine.
      if (responses.push(response) < 3) return;
      for (const each of responses) each.writeHead(202).end(ACCEPTED);
    });
    cleanups.push(() => runtime.stop());
    const gateway = await startMeasuredGateway({ GATEWAY_RUNTIME_INGRESS_URL: runtime.url });
    cleanups.push(() => gateway.stop());
    const [keyed, unkeyed] = await Promise.all([
      sendCommand(gateway.url, KEYED, 'keyed'),
      sendCommand(gateway.url, {}, 'unkeyed'),
    ]);
    expect([keyed.status, unkeyed.status]).toEqual([202, 202]);
    const targets = runtime.seen.map(({ target }) => target).sort();
    expect(targets).toEqual([
      '/chat/keyed/wake/send',
      '/chat/keyed/wake/send',
      '/chat/unkeyed/wake/send',
    ]);
  });
});
