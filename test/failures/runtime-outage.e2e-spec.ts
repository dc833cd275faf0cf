import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { problem } from '../support/ask-raw.ts';
import { forThisTest } from '../support/for-this-test.ts';
import { AUTHORIZED } from '../support/gateway.ts';
import { startMeasuredGateway, type MeasuredGateway } from '../support/measured-gateway.ts';
import { openSocket } from '../support/open-socket.ts';
import { ACCEPTED, freePort, KEYED, listenAsRuntime, sendCommand } from '../support/runtime.ts';
import { startRawUpstream } from '../support/scripted-upstream.ts';
import { startUnacceptingServer } from '../support/unaccepting-server.ts';
import { until } from '../support/until.ts';

/** Longer than a test: what waits for it waits for something else. */
const FOREVER_MS = '600000';

const gatewayTo = async (url: string, env: Record<string, string> = {}): Promise<MeasuredGateway> =>
  forThisTest(await startMeasuredGateway({ GATEWAY_RUNTIME_INGRESS_URL: url, ...env }));

/** The attempts of commands that found no connection. Those of the scout do not count. */
const FAILED = [
  'gateway_upstream_failures_total',
  { upstream: 'runtime-ingress', http_request_method: 'POST', kind: 'unreachable' },
] as const;

/** A runtime on this port, which accepts commands or does as the script says. */
const returning = async (...args: Parameters<typeof listenAsRuntime>) =>
  forThisTest(await listenAsRuntime(...args));

const waiting = (gateway: MeasuredGateway, count: number): Promise<void> =>
  gateway.until('gateway_waiting_commands', {}, count);

/** So many commands that wait for a runtime which is away. */
async function waitingCommands(
  count: number,
  headersOf: (index: number) => Record<string, string>,
) {
  const port = await freePort();
  const gateway = await gatewayTo(`http://127.0.0.1:${port}`, {
    GATEWAY_RUNTIME_OUTAGE_WAIT_MS: FOREVER_MS,
    GATEWAY_MAX_CONNECTIONS: '10000',
  });
  const ids = Array.from({ length: count }, (_, index) => `a${index}`);
  const [first = '', ...others] = ids;
  const commands = [sendCommand(gateway.url, headersOf(0), first)];
  await gateway.until(...FAILED, 1);
  for (const [index, id] of others.entries())
    commands.push(sendCommand(gateway.url, headersOf(index + 1), id));
  await waiting(gateway, count);
  return { port, gateway, ids, commands };
}

const refusal = (
  id: string,
  ...[status, code, title, detail]: [number, string, string, string]
) => ({
  status,
  isReplay: false,
  retryAfter: '1',
  body: problem(status, code, title, detail, `to-${id}`),
});
const unsent = (id: string) => {
  const detail =
    'The server behind this route could not be reached, so nothing was sent; try again.';
  const told = refusal(id, 502, 'upstream_unreachable', 'An upstream could not be reached', detail);
  return { ...told, body: { ...told.body, sent: false } };
};

describe('an outage of the runtime', () => {
  // Every command asked for itself and waited 14.7 s for its 502, while all others knew.
  it.each([
    ['without a key', {}],
    ['with a key', KEYED],
  ])(
    'of some length is told to a command %s at once, and nobody tries by himself',
    async (_, headers) => {
      const url = `http://127.0.0.1:${await freePort()}`;
      const gateway = await gatewayTo(url, {
        GATEWAY_RUNTIME_OUTAGE_WAIT_MS: '2000',
        GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: FOREVER_MS,
      });
      expect(await sendCommand(gateway.url, headers, 'first')).toEqual(unsent('first'));
      expect(await gateway.value('gateway_runtime_outage_seconds')).toBeGreaterThan(0);

      // One after the other: if each waited, they would take minutes.
      for (let i = 0; i < 100; i++) {
        expect(await sendCommand(gateway.url, headers, `late-${i}`)).toEqual(unsent(`late-${i}`));
      }
      expect(await gateway.value(...FAILED)).toBe(1);
      expect(await gateway.value('gateway_waiting_commands')).toBe(0);
    },
  );

  // 2,653 commands that had waited opened 2,653 connections at once.
  it('ends for those who wait over a few connections, each sent once', async () => {
    const { port, gateway, ids, commands } = await waitingCommands(201, (i) =>
      i % 2 ? {} : KEYED,
    );
    const runtime = await returning(port, (_, response) => {
      setTimeout(() => response.writeHead(202).end(ACCEPTED), 5);
    });
    for (const { status } of await Promise.all(commands)) expect(status).toBe(202);
    const targets = ids.map((id) => `/chat/${id}/wake/send`);
    expect(runtime.targets.toSorted()).toEqual(targets.sort());
    // Sixteen, and more only while a busy machine hardly answers.
    expect(runtime.mostConnections).toBeLessThan(ids.length / 2);
    expect(await gateway.value('gateway_waiting_commands')).toBe(0);
    expect(await gateway.value('gateway_runtime_outage_seconds')).toBe(0);
  });

  it('lets all go soon, also to a runtime that answers nobody', async () => {
    const { port, commands } = await waitingCommands(61, () => ({}));
    const open: (() => void)[] = [];
    const all = Promise.withResolvers<void>();
    await returning(port, (_, response) => {
      open.push(() => response.writeHead(202).end(ACCEPTED));
      if (open.length === 61) all.resolve();
    });
    await all.promise;
    for (const answer of open) answer();
    for (const { status } of await Promise.all(commands)) expect(status).toBe(202);
  });

  it('is noticed to be over although no command comes', async () => {
    const port = await freePort();
    const gateway = await gatewayTo(`http://127.0.0.1:${port}`, {
      GATEWAY_RUNTIME_OUTAGE_WAIT_MS: '0',
    });
    expect(await sendCommand(gateway.url)).toEqual(unsent('a1'));
    await returning(port);
    await gateway.until('gateway_runtime_outage_seconds', {}, 0);
    expect((await sendCommand(gateway.url)).status).toBe(202);
  });

  it('is one for a server that takes connections and then breaks off their handshake', async () => {
    let connections = 0;
    const more = Promise.withResolvers<void>();
    const server = forThisTest(
      await startRawUpstream((socket) => {
        if (++connections === 5) more.resolve();
        socket.destroy();
      }),
    );
    const gateway = await gatewayTo(`https://127.0.0.1:${server.port}`, {
      GATEWAY_RUNTIME_OUTAGE_WAIT_MS: '0',
    });
    expect(await sendCommand(gateway.url)).toEqual(unsent('a1'));
    // The scout goes on.
    await more.promise;
  });

  // Sent then it is the second one, where the client tries again by itself after a time of its own.
  it('sends nothing of a command without a key whose client has gone; one with a key goes through', async () => {
    const port = await freePort();
    const gateway = await gatewayTo(`http://127.0.0.1:${port}`, {
      GATEWAY_RUNTIME_OUTAGE_WAIT_MS: FOREVER_MS,
    });
    const leaving = new AbortController();
    const gone = [
      sendCommand(gateway.url, KEYED, 'keyed', leaving),
      sendCommand(gateway.url, {}, 'gone', leaving),
    ];
    await waiting(gateway, 2);
    leaving.abort();
    await Promise.allSettled(gone);
    const staying = sendCommand(gateway.url, {}, 'stays');
    await waiting(gateway, 3);

    const runtime = await returning(port);
    expect((await staying).status).toBe(202);
    await gateway.until('gateway_open_commands', {}, 0);
    expect(runtime.targets.sort()).toEqual(['/chat/keyed/wake/send', '/chat/stays/wake/send']);
  });

  it('does not keep the gateway from closing', async () => {
    const gateway = await startMeasuredGateway({
      GATEWAY_RUNTIME_INGRESS_URL: 'http://127.0.0.1:2',
      GATEWAY_RUNTIME_OUTAGE_WAIT_MS: FOREVER_MS,
    });
    const command = sendCommand(gateway.url).catch(() => 'broken off');
    await waiting(gateway, 1);
    await gateway.stop();
    expect(await command).toBe('broken off');
  });
});

describe('a runtime that has no address', () => {
  it('is away at once', async () => {
    // A label of 64 characters: the resolver says no without asking anyone.
    const gateway = await gatewayTo(`http://${'x'.repeat(64)}.invalid:8080`, {
      GATEWAY_RUNTIME_OUTAGE_WAIT_MS: '0',
    });
    expect(await sendCommand(gateway.url)).toEqual(unsent('a1'));
  });
});

describe('a runtime that takes no connection', () => {
  it.each([
    ['without a key', {}],
    ['with a key', KEYED],
  ])('is away after the time to connect, for a command %s', async (_, headers) => {
    const server = forThisTest(await startUnacceptingServer());
    const gateway = await gatewayTo(server.url, {
      GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: '100',
      GATEWAY_RUNTIME_OUTAGE_WAIT_MS: '200',
      GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: FOREVER_MS,
    });
    expect(await sendCommand(gateway.url, headers)).toEqual(unsent('a1'));
    expect(await sendCommand(gateway.url, headers, 'later')).toEqual(unsent('later'));
    expect(await gateway.value(...FAILED)).toBe(1);
  });

  it('gets the commands that wait when it takes connections again', async () => {
    const server = forThisTest(await startUnacceptingServer());
    const gateway = await gatewayTo(server.url, {
      GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: '300',
      GATEWAY_RUNTIME_OUTAGE_WAIT_MS: FOREVER_MS,
    });
    const first = sendCommand(gateway.url, {}, 'first');
    await gateway.until(...FAILED, 1);
    const second = sendCommand(gateway.url, KEYED, 'second');
    await waiting(gateway, 2);
    server.accept();
    expect([(await first).status, (await second).status]).toEqual([202, 202]);
  });

  it.each([
    ['without a key', {}],
    // A command that waited for a connection once heard nothing of the end of its time.
    ['with a key', KEYED],
  ])('is given up at the end of the budget of a command %s', async (_, headers) => {
    const server = forThisTest(await startUnacceptingServer());
    const gateway = await gatewayTo(server.url, {
      GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: '60000',
      GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '400',
    });
    expect(await sendCommand(gateway.url, headers)).toEqual(unsent('a1'));
  });

  it('gets nothing of a command whose time was up before the connection came', async () => {
    const server = forThisTest(await startUnacceptingServer());
    const gateway = await gatewayTo(server.url, {
      GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: '60000',
      GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '200',
    });
    expect((await sendCommand(gateway.url)).status).toBe(502);
    server.accept();
    let accepted: Record<string, unknown> = {};
    await until('the runtime takes a command', async () => {
      const { status, body } = await sendCommand(gateway.url, {}, 'next');
      accepted = body;
      return status === 202;
    });
    expect(accepted).toMatchObject({ restate: { invocationId: 'inv_next' } });
  });
});

describe('commands in progress', () => {
  // At 40 commands a second and a cap of 400, readers got 503 through 20 s of outage and 75 s after it.
  it('take a quarter of the connections at most, and readers the others', async () => {
    const port = await freePort();
    const history = forThisTest(
      await startRawUpstream((socket) => {
        socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
      }),
    );
    const gateway = await gatewayTo(`http://127.0.0.1:${port}`, {
      GATEWAY_HISTORY_URL: history.url,
      GATEWAY_MAX_CONNECTIONS: '20',
      GATEWAY_RUNTIME_OUTAGE_WAIT_MS: FOREVER_MS,
    });
    const commands = Array.from({ length: 5 }, (_, i) => sendCommand(gateway.url, {}, `a${i}`));
    await waiting(gateway, 5);
    expect(await gateway.value('gateway_open_commands')).toBe(5);
    expect(await gateway.value('gateway_open_commands_limit')).toBe(5);

    const detail = 'The gateway has too many commands in progress; try again in a moment.';
    expect(await sendCommand(gateway.url, KEYED, 'more')).toEqual(
      refusal('more', 503, 'overloaded', 'The gateway is at its limit', detail),
    );
    const refused = { code: 'overloaded', reason: 'open_commands' };
    await gateway.until('gateway_problems_total', refused, 1);
    const read = await fetch(`${gateway.url}/streams/x`, { headers: AUTHORIZED });
    expect([read.status, await read.text()]).toEqual([200, 'ok']);

    await returning(port);
    for (const { status } of await Promise.all(commands)) expect(status).toBe(202);
    await gateway.until('gateway_open_commands', {}, 0);
    expect((await sendCommand(gateway.url, KEYED, 'more')).status).toBe(202);
  });

  it('count from before their body has come, and not after their client has left', async () => {
    const gateway = await gatewayTo('http://127.0.0.1:2', { GATEWAY_MAX_CONNECTIONS: '4' });
    const slow = await openSocket(gateway.port);
    slow.write(
      'POST /api/a/chat/slow/send HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n' +
        `Authorization: ${AUTHORIZED.authorization}\r\n\r\nhalf`,
    );
    await gateway.until('gateway_open_commands', {}, 1);
    expect(await sendCommand(gateway.url)).toMatchObject({ status: 503 });
    slow.destroy();
    await once(slow, 'close');
    await gateway.until('gateway_open_commands', {}, 0);
  });
});
