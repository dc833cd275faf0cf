import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { afterThisTest, forThisTest } from '../support/for-this-test.ts';
import { AUTHORIZED } from '../support/gateway.ts';
import { startMeasuredGateway, type MeasuredGateway } from '../support/measured-gateway.ts';
import { openSocket } from '../support/open-socket.ts';
import { pour } from '../support/pour.ts';
import { rawRequest } from '../support/raw-client.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';
import { until } from '../support/until.ts';

const KEY = `Authorization: ${AUTHORIZED.authorization}`;
const MIB = 1_048_576;
/** More bytes than the sockets on the way buffer for a client that reads nothing. */
const LARGE_BYTES = 512 * MIB;
const itOnLinux = process.platform === 'linux' ? it : it.skip;

/** A client that stopped in the middle of an answer kept it, and its upstream connection, for good. */
describe('a client that takes nothing of what waits for it', () => {
  let upstream: ScriptedUpstream;
  let gateway: MeasuredGateway;
  let answer: (response: ServerResponse) => void;

  beforeEach(async () => {
    upstream = forThisTest(await startScriptedUpstream((_request, response) => answer(response)));
    await startGateway(1_200);
  });

  async function startGateway(stallTimeoutMs: number): Promise<void> {
    gateway = forThisTest(
      await startMeasuredGateway({
        GATEWAY_HISTORY_URL: upstream.url,
        GATEWAY_RUNTIME_ADMIN_URL: upstream.url,
        GATEWAY_CLIENT_STALL_TIMEOUT_MS: String(stallTimeoutMs),
      }),
    );
  }

  /** A client that has sent a request and reads only what the test reads. */
  async function client(request: string): Promise<Socket> {
    const socket = await openSocket(gateway.port);
    afterThisTest(() => socket.destroy());
    socket.pause();
    socket.write(request);
    return socket;
  }

  const sendLarge = (response: ServerResponse): void =>
    pour(response, Buffer.alloc(MIB, 'x'), LARGE_BYTES / MIB);
  /** A client that reads nothing of a large answer. */
  async function stopIn(
    line: string,
  ): Promise<{ stopped: Socket; upstreamClosed: Promise<unknown> }> {
    const upstreamClosed = new Promise((resolve) => {
      answer = (response) => {
        response.once('close', resolve);
        sendLarge(response);
      };
    });
    return { stopped: await client(rawRequest(line, [KEY])), upstreamClosed };
  }
  const STALLED = { reason: 'stalled' };
  const ended = () => gateway.value('gateway_clients_ended_total', STALLED);

  it.each([
    ['a read', 'GET /streams/large'],
    ['a registry call', 'GET /registry/large'],
    ['an append', 'POST /streams/large'],
  ])('is broken off with its upstream request, in the answer to %s', async (_, line) => {
    const { stopped, upstreamClosed } = await stopIn(line);
    await upstreamClosed;
    expect(await ended()).toBe(1);
    const closed = new Promise((resolve) => stopped.once('close', resolve));
    stopped.resume();
    await closed;
    expect(stopped.bytesRead).toBeLessThan(LARGE_BYTES);
  });

  it('is broken off in an event stream, while another one of the same stream continues', async () => {
    const open = new Set<ServerResponse>();
    answer = (response) => {
      open.add(response);
      response.once('close', () => open.delete(response));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: control\ndata: {}\n\n');
    };
    const request = rawRequest('GET /streams/s?offset=1_0&live=sse', [KEY]);
    const quick = await client(request);
    let bytes = 0;
    quick.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume();
    while (bytes === 0) await once(quick, 'data');
    const stopped = await client(request);
    await once(stopped, 'readable');
    const event = `data: ${'x'.repeat(16_000)}\n\nevent: control\ndata: {}\n\n`;
    // Slowly enough that it is not too far behind the other one at any time.
    const feed = setInterval(() => open.forEach((events) => events.write(event)), 2);
    while ((await ended()) === 0 && !gateway.logLines.some((line) => /slow_reader/.test(line))) {
      await once(quick, 'data');
    }
    clearInterval(feed);
    expect(quick.destroyed).toBe(false);
    // On a busy machine the stopped one can have come too late to share, and its own request ends with it.
    await until('the one request', () => open.size === 1);
  });

  // Node had handed all of it to the kernel, which holds it for good; only the kernel knows.
  itOnLinux('is broken off although its answer is whole', async () => {
    answer = (response) => response.end(Buffer.alloc(2 * MIB));
    // Longer than a client's own buffers, which take some of it whatever it reads.
    const request = `GET /streams/x HTTP/1.1\r\nHost: g\r\n${KEY}\r\n\r\n`;
    const stopped = await client(request.repeat(8));
    await once(stopped, 'readable');
    await gateway.until('gateway_clients_ended_total', STALLED, 1);
  });

  it('is not one that takes some now and then, nor one for whom nothing is there', async () => {
    // On a busy machine this process once did not come to read for over a second, and the client that reads was ended.
    await startGateway(3_000);
    answer = sendLarge;
    const drip = await client(rawRequest('GET /streams/large', [KEY]));
    await once(drip, 'readable');
    // Much at a time: a system tells the sender of room in its buffers only when there is much of it.
    let taken = 0;
    drip.on('data', (chunk: Buffer) => {
      taken += chunk.length;
      if (taken >= 2 * MIB) drip.pause();
    });
    const dripping = setInterval(() => {
      taken = 0;
      drip.resume();
    }, 100);
    for (let others = 1; others <= 3; others++) {
      const { upstreamClosed } = await stopIn('GET /streams/large');
      await upstreamClosed;
      expect(await ended()).toBe(others);
    }
    clearInterval(dripping);
    expect(drip.destroyed).toBe(false);

    answer = () => undefined;
    const parked = await client(rawRequest('GET /streams/p?offset=1&live=long-poll', [KEY]));
    await until('the fifth read is at the upstream', () => upstream.seen.length === 5);
    const { upstreamClosed } = await stopIn('GET /streams/large');
    await upstreamClosed;
    expect(parked.destroyed).toBe(false);
  });
});
