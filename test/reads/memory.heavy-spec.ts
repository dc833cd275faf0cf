import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { AUTHORIZED } from '../support/credentials.ts';
import { afterThisTest, forAllTests } from '../support/for-this-test.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { openSocket } from '../support/open-socket.ts';
import { pour } from '../support/pour.ts';
import { rawRequest } from '../support/raw-client.ts';
import { scriptedUpstream } from '../support/scripted-gateway.ts';
import { EVENT_READS, MODES, numberedEvent } from './sharing-gateway.ts';

const KEY = `Authorization: ${AUTHORIZED.authorization}`;
const MIB = 1_048_576;
const LARGE_BYTES = 256 * MIB;
const EVENTS_BYTES = 128 * MIB;
/** The memory that streams, the garbage collector and allocators take, whatever the size of a response. */
const GROWTH_BYTES = 80 * MIB;
const SLOW_READERS = 30;

describe.each(MODES)('the memory under $mode reads', ({ isShared }) => {
  const piece = Buffer.alloc(MIB, 'x');
  const event = Buffer.from(numberedEvent(1, 'x'.repeat(MIB / 4)));
  const upstream = scriptedUpstream((request, response) => {
    const isEvents = request.url?.includes('live') === true;
    if (isEvents) response.setHeader('content-type', 'text/event-stream');
    const [bytes, unit] = isEvents ? [EVENTS_BYTES, event] : [LARGE_BYTES, piece];
    pour(response, unit, Math.ceil(bytes / unit.length));
  });
  const gateway = forAllTests(() =>
    startGatewayChild({
      env: {
        GATEWAY_HISTORY_URL: upstream.url,
        GATEWAY_SYNC_URL: upstream.url,
        GATEWAY_SHARED_READS: String(isShared),
      },
    }),
  );

  /** Asks, takes the first bytes, and then nothing more. */
  async function slowReader(target: string): Promise<Socket> {
    const socket = await openSocket(gateway.port);
    afterThisTest(() => socket.destroy());
    socket.write(rawRequest(`GET ${target}`, [KEY]));
    await once(socket, 'readable');
    return socket;
  }

  /** Reads all, and measures how far the gateway's memory goes beyond what it was. */
  async function readMeasured(
    target: string,
    before: number,
  ): Promise<{ bytes: number; digest: string; grown: number }> {
    const answer = await fetch(gateway.url + target, { headers: AUTHORIZED });
    const hash = createHash('sha256');
    let bytes = 0;
    let highest = 0;
    let measuredAt = 0;
    for await (const chunk of answer.body ?? []) {
      bytes += chunk.length;
      hash.update(chunk);
      if (bytes - measuredAt < 16 * MIB) continue;
      measuredAt = bytes;
      highest = Math.max(highest, await gateway.residentBytes());
    }
    return { bytes, digest: hash.digest('hex'), grown: highest - before };
  }

  it('does not grow with a catch-up of 256 MiB, be its readers quick or slow', async () => {
    const target = '/streams/t/large?offset=-1';
    // What a first large read makes the process take for good.
    await readMeasured('/streams/t/warm?offset=-1', 0);
    const before = await gateway.residentBytes();
    for (let i = 0; i < SLOW_READERS; i++) await slowReader(target);
    const { bytes, grown } = await readMeasured(target, before);
    expect(bytes).toBe(LARGE_BYTES);
    expect(grown).toBeLessThan(GROWTH_BYTES);
  });

  it('does not grow with an event stream, be its readers quick or slow', async () => {
    const target = EVENT_READS[0]?.target('memory') ?? '';
    const before = await gateway.residentBytes();
    const quick = readMeasured(target, before);
    for (let i = 0; i < SLOW_READERS; i++) await slowReader(target);
    const { bytes, grown } = await quick;
    expect(bytes).toBe(Math.ceil(EVENTS_BYTES / event.length) * event.length);
    expect(grown).toBeLessThan(GROWTH_BYTES);
  });
});
