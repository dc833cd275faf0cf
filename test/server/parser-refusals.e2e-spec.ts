import type { Server } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { choosePorts } from '../../local/stack/ports.ts';
import { AUTHORIZED } from '../support/gateway.ts';
import { parseRaw, rawRequest, sendRaw } from '../support/raw-client.ts';
import { logOf, testGateway } from '../support/scripted-gateway.ts';
import { openWire } from '../support/wire.ts';

const KEY = `Authorization: ${AUTHORIZED.authorization}`;

/** Bytes that Node refuses before there is a request. They once left no log line and no metric. */
describe('what Node itself refuses', () => {
  const gateway = testGateway(async () => {
    const { management } = await choosePorts({ management: 0 });
    return { GATEWAY_MANAGEMENT_PORT: String(management) };
  });

  const lines = (): Record<string, unknown>[] =>
    logOf(gateway).filter(({ message }) => message === 'request');
  const counted = async (): Promise<number> => {
    const text = await (await fetch(`${gateway.managementUrl}/metrics`)).text();
    const refused =
      /^gateway_requests_total\{http_request_method="_OTHER",http_route="[^"]*",http_response_status_class="4xx"\} (\d+)$/m;
    return Number(refused.exec(text)?.[1] ?? 0);
  };

  it.each([
    ['what is no HTTP', 'GARBAGE\r\n\r\n', 400, 'HPE_INVALID_METHOD'],
    [
      'a head over 64 KiB',
      rawRequest('GET /health', [`X-A: ${'a'.repeat(70_000)}`]),
      431,
      'HPE_HEADER_OVERFLOW',
    ],
    [
      'two lengths',
      rawRequest('POST /streams/a', [KEY, 'Content-Length: 1', 'Content-Length: 2'], 'ab'),
      400,
      'HPE_UNEXPECTED_CONTENT_LENGTH',
    ],
    [
      'a head that is cut by the end of the connection',
      'GET /health HTTP/1.1\r\nHost: g\r\n',
      400,
      'HPE_INVALID_EOF_STATE',
    ],
  ])('is answered, logged and counted once: %s', async (what, bytes, status, reason) => {
    const before = await counted();
    const wire = await openWire(gateway.port);
    if (what.includes('cut')) wire.socket.end(bytes);
    else await wire.write(bytes);
    await wire.over();
    const answer = parseRaw(wire.received);
    expect(answer.status).toBe(status);
    expect(answer.head).toMatch(/\r\nConnection: close/);
    const requestId = /\r\nX-Request-Id: (\S+)/.exec(answer.head)?.[1];
    expect(lines()).toEqual([
      {
        level: 'info',
        time: expect.any(String),
        service: 'agent-gateway',
        address: '127.0.0.1',
        path: '(no path)',
        status,
        durationMs: 0,
        requestId,
        reason,
        message: 'request',
      },
    ]);
    expect(await counted()).toBe(before + 1);
  });

  // The read waits for the end of the turn in which it came, and the fault comes in the same packet.
  it('is logged with its id where a read is refused before anything was done for it', async () => {
    const raw = await sendRaw(
      gateway.port,
      `GET /streams/x HTTP/1.1\r\nHost: g\r\nX-Request-Id: cut-1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n`,
    );
    const { status, head } = parseRaw(raw);
    expect(status).toBe(400);
    expect(head).toMatch(/\r\nX-Request-Id: cut-1\r\n/);
    expect(lines()).toMatchObject([
      { status: 400, requestId: 'cut-1', reason: 'HPE_INVALID_CHUNK_SIZE' },
    ]);
  });

  it('is a missing Host too, which gets a problem as other requests do', async () => {
    const raw = await sendRaw(gateway.port, 'GET /health HTTP/1.1\r\nX-Request-Id: h-1\r\n\r\n');
    const { status, head, body } = parseRaw(raw);
    expect(status).toBe(400);
    expect(head).toMatch(/\r\nConnection: close/i);
    expect(JSON.parse(body)).toMatchObject({ code: 'malformed_path', requestId: 'h-1' });
    expect(lines()).toMatchObject([{ status: 400, requestId: 'h-1', code: 'malformed_path' }]);
    const old = await sendRaw(gateway.port, 'GET /health HTTP/1.0\r\n\r\n');
    expect(parseRaw(old).status).toBe(200);
  });

  // The last one: it changes the server of the file.
  it('is logged with what is known where a request does not come in time', async () => {
    const server = gateway.running.app.getHttpServer() as Server;
    server.requestTimeout = 500;
    const wire = await openWire(gateway.port);
    await wire.write(
      `POST /streams/a HTTP/1.1\r\nHost: g\r\n${KEY}\r\nX-Request-Id: slow-1\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    await wire.over();
    const answer = parseRaw(wire.received);
    expect(answer.status).toBe(408);
    expect(answer.head).toMatch(/\r\nX-Request-Id: slow-1\r\n/);
    expect(lines()).toMatchObject([
      {
        method: 'POST',
        path: '/streams/a',
        status: 408,
        requestId: 'slow-1',
        reason: 'ERR_HTTP_REQUEST_TIMEOUT',
      },
    ]);
  });
});
