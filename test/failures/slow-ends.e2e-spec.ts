import { once } from 'node:events';
import type { Socket } from 'node:net';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { AUTHORIZED, READ_TOKEN_SECRET } from '../support/credentials.ts';
import { afterThisTest, forThisTest } from '../support/for-this-test.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { openSocket } from '../support/open-socket.ts';
import { everyUpstream } from '../support/nobody.ts';
import { pour } from '../support/pour.ts';
import { rawRequest } from '../support/raw-client.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';

const EVENT = `data: ${'x'.repeat(200)}\n\nevent: control\ndata: {"streamNextOffset":"1"}\n\n`;

/**
 * A source that was paused hands over what it has even after it is destroyed. Written behind the end of the answer
 * that was an error without a listener, and the process ended.
 */
describe('an event stream of a slow reader that is ended from outside', () => {
  let gateway: GatewayChild;

  beforeEach(async () => {
    const { url } = forThisTest(
      await startScriptedUpstream((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        pour(response, EVENT.repeat(100));
      }),
    );
    const env = { ...everyUpstream(url), GATEWAY_DRAIN_TIMEOUT_MS: '1000' };
    gateway = await startGatewayChild({ env });
    afterThisTest(() => gateway.kill());
  });

  /** A client that takes the beginning of what it asked for, and then nothing. */
  async function stoppedReader(path: string, credential: string): Promise<Socket> {
    const socket = await openSocket(gateway.port);
    afterThisTest(() => socket.destroy());
    socket.write(rawRequest(`GET ${path}`, [`Authorization: ${credential}`]));
    await once(socket, 'readable');
    return socket;
  }

  const READS = [
    '/streams/s?offset=1_0&live=sse',
    '/shapes/v1/shape?table=entities&offset=1_0&live=true&live_sse=true',
  ];

  it.each(READS)('leaves the gateway alive when its token expires: %s', async (path) => {
    const token = await mintReadToken(READ_TOKEN_SECRET, {
      prefix: ['/streams', '/shapes'],
      ttlSeconds: 2,
    });
    const readers = await Promise.all(
      Array.from({ length: 5 }, () => stoppedReader(path, `Bearer ${token}`)),
    );
    await Promise.all(
      readers.map(async (socket) => {
        const closed = new Promise((resolve) => socket.once('close', resolve));
        // Some bytes now and then, as a slow line takes them.
        const line = setInterval(() => socket.read(), 10);
        await closed;
        clearInterval(line);
      }),
    );
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    expect(gateway.log.filter(({ level }) => level === 'fatal' || level === 'error')).toEqual([]);
  });

  it.each([...READS, '/registry/events'])('leaves the drain in order: %s', async (path) => {
    const readers = await Promise.all(
      Array.from({ length: 5 }, () => stoppedReader(path, AUTHORIZED.authorization)),
    );
    gateway.signal('SIGTERM');
    // They go on reading while they are ended.
    const lines = setInterval(() => readers.forEach((socket) => socket.read()), 5);
    const exit = await gateway.exited;
    clearInterval(lines);
    expect(exit).toMatchObject({ code: 0 });
    expect(gateway.log.filter(({ level }) => level === 'fatal' || level === 'error')).toEqual([]);
  });
});
