import { METHODS } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { askHoldings } from '../soak/holdings.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { AUTHORIZED } from '../support/credentials.ts';
import { newFolder } from '../support/new-folder.ts';
import { everyUpstream } from '../support/nobody.ts';
import { openSocket } from '../support/open-socket.ts';
import { parseRaw, rawRequest, sendRaw } from '../support/raw-client.ts';
import { scriptedUpstream } from '../support/scripted-gateway.ts';
import { until } from '../support/until.ts';
import { Pipeline } from './pipeline.ts';

const KEY = `Authorization: ${AUTHORIZED.authorization}`;
const MIB = 1_048_576;
const PROBE = join(import.meta.dirname, '../soak/probe.ts');

describe('requests that HTTP allows and nobody sends', () => {
  const folder = forAllTests(newFolder);
  const probeSocket = (): string => join(folder.path, 'probe.sock');
  const upstream = scriptedUpstream((request, response) => response.end(request.url));
  const gateway = forAllTests(() =>
    startGatewayChild({
      nodeArgs: ['--expose-gc', '--import', PROBE],
      env: { ...everyUpstream(upstream.url), SOAK_PROBE_SOCKET: probeSocket() },
    }),
  );

  const send = async (request: string): Promise<{ status: number; body: string }> =>
    parseRaw(await sendRaw(gateway.port, request));

  /** What each prefix serves; everything else must be answered without a look at an upstream. */
  const SERVED: Record<string, string[]> = {
    '/streams/a': ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS'],
    '/shapes/v1/shape': ['GET', 'HEAD', 'OPTIONS'],
    '/registry/deployments': ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH'],
    '/api/spawn': ['POST'],
    '/health': ['GET', 'HEAD'],
    '/': [],
  };
  const unserved = Object.entries(SERVED).map(([path, served]): [string, string[]] => [
    path,
    METHODS.filter((method) => !served.includes(method) && method !== 'CONNECT'),
  ]);

  it.each(unserved)(
    'answers 404 to every other method on %s, with a key',
    async (path, methods) => {
      for (const method of methods) {
        const { status, body } = await send(rawRequest(`${method} ${path}`, [KEY]));
        expect([method, status]).toEqual([method, 404]);
        if (method !== 'HEAD') expect(JSON.parse(body)).toMatchObject({ code: 'route_not_found' });
      }
      expect(upstream.seen).toEqual([]);
    },
  );

  it.each([
    ['33 KiB', 33, 'head_too_large'],
    ['65 KiB', 69, undefined],
  ])('answers headers of %s together by 431 and closes', async (_, length, code) => {
    const headers = Array.from({ length: 900 }, (_, i) => `X-${i}: ${'y'.repeat(length)}`);
    const { status, body } = await send(rawRequest('GET /streams/a', [KEY, ...headers]));
    expect(status).toBe(431);
    if (code === undefined) expect(body).toBe('');
    else expect(JSON.parse(body)).toMatchObject({ code });
    expect(upstream.seen).toEqual([]);
  });

  it('closes on endless headers, whatever of the answer the client gets to see', async () => {
    const socket = await openSocket(gateway.port);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write('GET /streams/a HTTP/1.1\r\nHost: x\r\n');
    const flood = 'X-Bomb: boom\r\n'.repeat(1_000);
    const more = (): void => {
      while (!socket.destroyed && socket.write(flood));
    };
    socket.on('drain', more);
    more();
    await closed;
    expect(upstream.seen).toEqual([]);
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  });

  it('answers a target of 33 KiB by 431, and one of 15 KB', async () => {
    const long = await send(rawRequest(`GET /streams/${'a'.repeat(33_792)}`, [KEY]));
    expect(long.status).toBe(431);
    const fits = await send(rawRequest(`GET /streams/${'a'.repeat(15_000)}`, [KEY]));
    expect(fits.status).toBe(200);
  });

  it('serves 100,000 requests on one connection without growing', async () => {
    const REQUESTS = 100_000;
    const AT_ONCE = 50;
    const WARM_UP = 30_000;
    const ALLOWED_GROWTH_BYTES = 6 * MIB;
    const request = 'GET /none HTTP/1.1\r\nHost: x\r\n\r\n';
    const pipeline = await Pipeline.open(gateway.port, request);
    // The first third makes the process take what it needs.
    await pipeline.send(WARM_UP, AT_ONCE);
    const before = await askHoldings(probeSocket());
    await pipeline.send(REQUESTS - WARM_UP, AT_ONCE);
    // Lines of the log that this test has not read yet are held too, for a moment.
    let grown = 0;
    await until(
      () => `the heap has not grown by ${grown} bytes`,
      async () => {
        grown = (await askHoldings(probeSocket())).heapUsed - before.heapUsed;
        return grown < ALLOWED_GROWTH_BYTES;
      },
    );
    pipeline.close();
    const warnings = gateway.process.lastLines().filter((line) => /Warning/.test(line));
    expect(warnings).toEqual([]);
  });
});
