import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AUTHORIZED } from '../support/credentials.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { listening } from '../support/listening.ts';
import { startMeasuredGateway } from '../support/measured-gateway.ts';
import { TLS_IDENTITY } from '../support/tls-identity.ts';

/** Anybody on the way can end a connection, and so made a part of a body the whole of it. */
describe('a body over TLS that only the end of its connection ends', () => {
  const trusted = getCACertificates('default');
  beforeAll(() => setDefaultCACertificates([...trusted, TLS_IDENTITY.cert]));
  const upstream = forAllTests(() =>
    listening(
      createServer(TLS_IDENTITY, (socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\n[1,2'));
      }),
    ),
  );
  const gateway = forAllTests(() => {
    const url = `https://localhost:${upstream.port}`;
    return startMeasuredGateway({ GATEWAY_HISTORY_URL: url, GATEWAY_RUNTIME_ADMIN_URL: url });
  });
  afterAll(() => setDefaultCACertificates(trusted));

  // Toward the client all were broken off; metrics took those of `http-proxy` for good ends.
  it.each([
    ['GET', '/streams/x?offset=-1', 'history'],
    ['POST', '/streams/x', 'history'],
    ['GET', '/registry/deployments', 'runtime-admin'],
  ])('is broken off on %s %s, and counts as broken', async (method, path, name) => {
    const init = { method, headers: AUTHORIZED, body: method === 'POST' ? 'x' : undefined };
    await expect(fetch(gateway.url + path, init).then((answer) => answer.text())).rejects.toThrow();
    const labels = { upstream: name, http_request_method: method, kind: 'broken' };
    await gateway.until('gateway_upstream_failures_total', labels, 1);
  });
});
