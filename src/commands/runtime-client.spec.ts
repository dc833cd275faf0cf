import { setImmediate as nextTurn } from 'node:timers/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ACCEPTED, freePort, listenAsRuntime, PREVIOUSLY } from '../../test/support/runtime.ts';
import {
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../../test/support/scripted-upstream.ts';
import { awaited, until } from '../../test/support/until.ts';
import { upstreamsWith } from '../../test/support/upstreams.ts';
import type { GatewayConfig } from '../contract/gateway-config.ts';
import { ClientGone } from '../platform/http/client-gone.ts';
import { HeldBytes } from '../platform/memory/held-bytes.ts';
import { RequestContext } from '../platform/server/request-context.ts';
import type { Attempt } from '../proxy/upstream/attempt.ts';
import type { AcceptedCommand } from './runtime-answer.ts';
import { RuntimeClient, type RuntimeCommand } from './runtime-client.ts';
import { stateOf } from '../../test/support/state-of.ts';

/** Longer than a test takes, so that nothing ends by it. */
const LONG_MS = 60_000;
const SENT = { invocationId: 'inv_1', isReplay: false };
/** How Restate marks its own errors. */
const OF_RUNTIME = { 'x-restate-error-source': 'ingress' };

interface Settings {
  url?: string;
  responseMs?: number;
  outageWaitMs?: number;
  api?: 'classic' | 'restate';
  token?: string;
}

describe('RuntimeClient', () => {
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let runtime: ScriptedUpstream;
  let calls: Attempt[];
  const cleanups: (() => unknown)[] = [];

  beforeEach(async () => {
    calls = [];
    answer = (_, response) => response.writeHead(202).end(ACCEPTED);
    runtime = await startScriptedUpstream((request, response) => answer(request, response));
    cleanups.push(() => runtime.stop());
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  function newClient(settings: Settings = {}): RuntimeClient {
    const { url = runtime.url, token = '', api = 'classic' } = settings;
    const { responseMs = LONG_MS, outageWaitMs = LONG_MS } = settings;
    const config = { runtime: { api }, timeouts: { connectMs: 5_000, outageWaitMs, responseMs } };
    const upstreams = upstreamsWith({
      GATEWAY_RUNTIME_INGRESS_URL: `${url}/base`,
      GATEWAY_RUNTIME_INGRESS_TOKEN: token,
      GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: String(responseMs),
    });
    upstreams.observe({ began: (call) => void calls.push(call) });
    const client = new RuntimeClient(config as GatewayConfig, upstreams, new HeldBytes(1_000_000));
    cleanups.push(() => {
      client.onApplicationShutdown();
      upstreams.onApplicationShutdown();
    });
    return client;
  }

  /** Sends a command, which the runtime would recognize if it came again. */
  function send(
    client: RuntimeClient,
    parts: Partial<RuntimeCommand> = {},
  ): Promise<AcceptedCommand> {
    const sent = client.send({
      entity: 'chat/a 1',
      service: 'chat',
      key: 'default/a 1',
      handler: 'wake',
      body: Buffer.from('hi'),
      headers: ['x-a', 'b'],
      context: new RequestContext('r1', '/x', ''),
      isRepeatable: true,
      clientHasGone: () => false,
      ...parts,
    });
    return awaited('the outcome of a command', sent);
  }
  const ONCE = { isRepeatable: false };
  const failures = (): unknown[] => calls.map(({ failure }) => failure ?? 'none');

  it.each([
    ['classic', '/base/chat/default%2Fa%201/wake/send'],
    ['restate', '/base/restate/send/chat/default%2Fa%201/wake'],
  ] as const)('sends a command by the way "%s"', async (api, target) => {
    const client = newClient({ api, token: 'c' });
    expect(await send(client)).toEqual(SENT);
    expect(runtime.seen).toMatchObject([
      {
        method: 'POST',
        target,
        body: Buffer.from('hi'),
        headers: { 'x-a': 'b', authorization: 'Bearer c' },
      },
    ]);
    expect(calls).toMatchObject([
      { upstream: { name: 'runtime-ingress' }, status: 202, request: { target } },
    ]);
    expect(failures()).toEqual(['none']);
  });

  it('has no credential where the runtime has none, and keeps its connection', async () => {
    const client = newClient();
    await send(client);
    // The connection is free in the next turn.
    await nextTurn();
    await send(client);
    expect(runtime.seen[0]?.headers).not.toHaveProperty('authorization');
    expect(runtime.openSockets.size).toBe(1);
  });

  describe('whose connection is lost before the answer', () => {
    beforeEach(() => {
      answer = (request, response) => {
        if (runtime.seen.length === 1) request.socket.resetAndDestroy();
        else response.writeHead(202).end(PREVIOUSLY);
      };
    });

    it('sends the same command again if the runtime would recognize it', async () => {
      expect(await send(newClient())).toEqual({ invocationId: 'inv_1', isReplay: true });
      expect(runtime.seen).toHaveLength(2);
      expect(runtime.seen[1]).toEqual(runtime.seen[0]);
      expect(failures()).toEqual(['unreachable', 'none']);
    });

    it('sends any other command once, and says that nothing is known of it', async () => {
      await expect(send(newClient(), ONCE)).rejects.toMatchObject({
        code: 'upstream_unreachable',
        isUnsent: false,
        headers: {},
        message: expect.stringContaining('nothing is known of the command'),
      });
      expect(runtime.seen).toHaveLength(1);
    });
  });

  describe('that meets a proxy before the runtime', () => {
    beforeEach(() => {
      answer = (_, response) => {
        response.writeHead(runtime.seen.length === 1 ? 503 : 202).end(ACCEPTED);
      };
    });

    it('asks again for a command that the runtime would recognize', async () => {
      expect(await send(newClient())).toEqual(SENT);
      expect(runtime.seen).toHaveLength(2);
    });

    it('takes its answer to any other command', async () => {
      await expect(send(newClient(), ONCE)).rejects.toMatchObject({
        code: 'upstream_invalid_response',
      });
      expect(runtime.seen).toHaveLength(1);
    });
  });

  it('asks again, less and less often, until the budget is used up', async () => {
    answer = (_, response) => response.writeHead(503).end();
    // The budget can end between the last attempt and its answer.
    await expect(send(newClient({ responseMs: 1_000 }))).rejects.toMatchObject({
      code: expect.stringMatching(/^upstream_(?:invalid_response|timeout)$/),
    });
    // After 50, 100, 200 and 400 ms, each with a jitter over its upper half.
    expect(runtime.seen.length).toBeGreaterThanOrEqual(2);
    expect(runtime.seen.length).toBeLessThanOrEqual(7);
  });

  describe('whose runtime is slow', () => {
    it('asks once more beside the first attempt after a quarter of the budget, and closes that', async () => {
      const gone = Promise.withResolvers<void>();
      answer = (request, response) => {
        if (runtime.seen.length === 1) request.socket.once('close', () => gone.resolve());
        else response.writeHead(202).end(ACCEPTED);
      };
      expect(await send(newClient({ responseMs: 2_000 }))).toEqual(SENT);
      expect(runtime.seen).toHaveLength(2);
      await awaited('the first attempt is closed', gone.promise);
      expect(failures()).toEqual(['stale', 'none']);
    });

    it('waits with any other command to the end of the budget', async () => {
      answer = () => undefined;
      await expect(send(newClient({ responseMs: 1_000 }), ONCE)).rejects.toMatchObject({
        code: 'upstream_timeout',
        message: expect.stringContaining('within 1000 ms'),
      });
      expect(runtime.seen).toHaveLength(1);
      expect(failures()).toEqual(['timeout']);
    });
  });

  describe('whose runtime is away', () => {
    let port: number;
    const away = (settings: Settings = {}): RuntimeClient =>
      newClient({ url: `http://127.0.0.1:${port}`, ...settings });
    const waiting = (client: RuntimeClient, count: number): Promise<void> =>
      until(`${count} commands wait`, () => stateOf(client, 'gateway_waiting_commands') === count);
    beforeEach(async () => void (port = await freePort()));

    it.each([true, false])(
      'sends what waits once it is back (repeatable: %s)',
      async (isRepeatable) => {
        const client = away();
        const sent = [send(client, { isRepeatable }), send(client, { isRepeatable })];
        await waiting(client, 2);
        expect(stateOf(client, 'gateway_runtime_outage_seconds')).toBeGreaterThan(0);
        const back = await listenAsRuntime(port);
        cleanups.push(() => back.stop());
        expect(await Promise.all(sent)).toEqual([SENT, SENT]);
        expect(back.targets).toHaveLength(2);
        expect([
          stateOf(client, 'gateway_waiting_commands'),
          stateOf(client, 'gateway_runtime_outage_seconds'),
        ]).toEqual([0, 0]);
      },
    );

    it('gives up after the time for an outage, and says that nothing was sent', async () => {
      const startedAtMs = performance.now();
      await expect(send(away({ outageWaitMs: 300 }))).rejects.toMatchObject({
        code: 'upstream_unreachable',
        isUnsent: true,
        headers: { 'Retry-After': '1' },
      });
      expect(performance.now() - startedAtMs).toBeGreaterThan(295);
    });

    it('sends nothing of a command whose client has gone, unless the runtime would recognize it', async () => {
      const client = away();
      const clientHasGone = (): boolean => true;
      const lost = expect(send(client, { ...ONCE, clientHasGone })).rejects.toBeInstanceOf(
        ClientGone,
      );
      const kept = send(client, { clientHasGone });
      await waiting(client, 2);
      const back = await listenAsRuntime(port);
      cleanups.push(() => back.stop());
      await lost;
      expect(await kept).toEqual(SENT);
      expect(back.targets).toHaveLength(1);
    });

    it('asks again for an unknown service, which it may not have loaded yet', async () => {
      const client = away();
      const sent = send(client);
      await waiting(client, 1);
      let answers = 0;
      const back = await listenAsRuntime(port, (_, response) => {
        answers++;
        response.writeHead(answers === 1 ? 404 : 202, OF_RUNTIME).end(ACCEPTED);
      });
      cleanups.push(() => back.stop());
      expect(await sent).toEqual(SENT);
      expect(answers).toBe(2);
    });

    it('ends the wait when the gateway ends', async () => {
      const client = away();
      const sent = expect(send(client)).rejects.toMatchObject({ isUnsent: true });
      await waiting(client, 1);
      client.onApplicationShutdown();
      await sent;
      expect(stateOf(client, 'gateway_waiting_commands')).toBe(0);
    });
  });

  it('takes an unknown service for unknown without an outage before', async () => {
    answer = (_, response) => response.writeHead(404, OF_RUNTIME).end();
    await expect(send(newClient())).rejects.toMatchObject({ code: 'entity_type_not_registered' });
    expect(runtime.seen).toHaveLength(1);
  });
});
