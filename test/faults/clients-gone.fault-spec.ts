import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Random } from '../soak/random.ts';
import { AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { rawRequest } from '../support/raw-client.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';
import { until } from '../support/until.ts';

const CLIENTS = 400;
const KEY = `Authorization: ${AUTHORIZED.authorization}`;
const HEAD = (line: string, ...headers: string[]) => rawRequest(line, [KEY, ...headers]);

/** A client that disconnects: what it sends, and whether the upstream may get its whole request. */
const DEPARTURES = {
  'before it has sent anything': '',
  'within the head': 'POST /api/a/echo/e1/send HTTP/1.1\r\nHost: x\r\nAuthoriz',
  'within the body of a command': `${HEAD('POST /api/a/echo/e1/send', 'Content-Length: 100')}{"kind"`,
  'within a chunked command': `${HEAD('POST /api/a/echo/e1/send', 'Transfer-Encoding: chunked')}5\r\n{"ki`,
  'within the body of an append': `${HEAD('POST /streams/s', 'Content-Length: 100')}{"seq"`,
  'within a chunked append': `${HEAD('POST /streams/s', 'Transfer-Encoding: chunked')}5\r\n{"se`,
  'while its read is parked': HEAD('GET /streams/parked'),
  'while its catalog read is parked': HEAD('GET /shapes/v1/shape?parked'),
  'within an event stream': HEAD('GET /streams/events'),
  'within a large answer that it does not read': HEAD('GET /streams/large'),
  'while its command is with the runtime': HEAD('POST /api/a/parked/e1/send', 'Content-Length: 0'),
  'while a registration is under way': HEAD('POST /registry/parked', 'Content-Length: 2') + '{}',
} as const;

describe('clients that go', () => {
  let upstream: ScriptedUpstream;
  let gateway: TestGateway;
  let server: Server;

  beforeEach(async () => {
    upstream = await startScriptedUpstream((request, response) => {
      if (request.url?.includes('parked')) return;
      if (request.url?.includes('events')) {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
      } else if (request.url?.includes('large')) {
        response.end(Buffer.alloc(8 * 1_048_576));
      } else response.end('{"invocationId":"inv_1","status":"Accepted"}');
    });
    gateway = await startTestGateway({
      GATEWAY_HISTORY_URL: upstream.url,
      GATEWAY_SYNC_URL: upstream.url,
      GATEWAY_RUNTIME_INGRESS_URL: upstream.url,
      GATEWAY_RUNTIME_ADMIN_URL: upstream.url,
      // A command is waited for although its client has gone: this long.
      GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '1000',
    });
    server = gateway.running.app.getHttpServer() as Server;
  });
  afterEach(async () => {
    await gateway.stop();
    await upstream.stop();
  });

  it(`leave nothing behind, ${CLIENTS} of them at any moment, rude or polite`, async () => {
    const random = new Random(42);
    const [first, ...rest] = Object.values(DEPARTURES);
    const gone = Array.from({ length: CLIENTS }, async (_, index) => {
      const bytes = [first ?? '', ...rest][index % (rest.length + 1)] ?? '';
      const socket = await open();
      if (bytes !== '') socket.write(bytes);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      setTimeout(
        () => (random.next() < 0.5 ? socket.destroy() : socket.resetAndDestroy()),
        random.between(0, 300),
      );
      await closed;
    });
    await Promise.all(gone);
    await untilServerHas(0);
    await untilUpstreamIsIdle();

    // No command and no append that was cut short has reached an upstream as if it were whole.
    const whole = upstream.seen.filter(({ target }) => /echo|\/s$/.test(target));
    expect(whole).toEqual([]);
    const alive = await fetch(`${gateway.url}/health`);
    expect(alive.status).toBe(200);
    const faults = gateway.logLines.filter((line) => /internal_error|"level":"fatal"/.test(line));
    expect(faults).toEqual([]);
  });

  it('that went while a command was with the runtime do not take it back', async () => {
    const socket = await open();
    socket.write(
      rawRequest('POST /api/a/echo/e1/send', [KEY, 'Content-Length: 2', 'Idempotency-Key: k']) +
        '{}',
    );
    socket.resetAndDestroy();
    await untilServerHas(0);
    // Whole when it left, or never seen: nothing between.
    for (const { body } of upstream.seen) expect(body.toString()).toBe('{}');

    const again = await fetch(`${gateway.url}/api/a/echo/e1/send`, {
      method: 'POST',
      headers: { ...AUTHORIZED, 'idempotency-key': 'k' },
      body: '{}',
    });
    expect(again.status).toBe(202);
  });

  async function open(): Promise<Socket> {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }

  async function untilServerHas(connections: number): Promise<void> {
    const isDown = async (): Promise<boolean> => (await connectionCount(server)) <= connections;
    await until(`the server has ${connections} connections`, isDown);
  }

  /** Its answers under way are ended; connections that are kept for the next request may stay. */
  function untilUpstreamIsIdle(): Promise<void> {
    const busy = (): boolean =>
      [...upstream.openSockets].some(
        (socket) => (socket as Socket & { _httpMessage?: unknown })._httpMessage,
      );
    return until('the upstream is idle', () => !busy());
  }
});

function connectionCount(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}
