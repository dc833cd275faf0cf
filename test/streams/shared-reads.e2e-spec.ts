import { rename, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { forThisTest } from '../support/for-this-test.ts';
import { READ_TOKEN_SECRET } from '../support/credentials.ts';
import { startMeasuredGateway, type MeasuredGateway } from '../support/measured-gateway.ts';
import { newFolder } from '../support/new-folder.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { scriptedUpstream } from '../support/scripted-gateway.ts';
import { until } from '../support/until.ts';
import { openWire, type Wire } from '../support/wire.ts';

const KEEP = 'a-key-that-stays-in-use';
const GOES = 'a-key-that-is-withdrawn';
const EVENT = (number: number): string =>
  `event: data\ndata: ${number}\n\nevent: control\ndata: {"streamNextOffset":"1_${number}"}\n\n`;

/** A part of what `test:system` checks of shared reads and withdrawn keys, so that `npm test` sees them break. */
describe('equal live reads', () => {
  let folder: string;
  const held: ServerResponse[] = [];
  const upstream = scriptedUpstream((_, response) => held.push(response));
  let gateway: MeasuredGateway;
  const wires: Wire[] = [];

  const writeKeys = async (text: string): Promise<void> => {
    await writeFile(join(folder, 'new'), text);
    await rename(join(folder, 'new'), join(folder, 'keys'));
  };
  // One for each test: what is sent again depends on whether a connection is kept.
  beforeEach(async () => {
    folder = forThisTest(await newFolder()).path;
    await writeKeys(`${KEEP}\n${GOES}`);
    gateway = forThisTest(
      await startMeasuredGateway({
        GATEWAY_HISTORY_URL: upstream.url,
        GATEWAY_API_KEYS: '',
        GATEWAY_API_KEYS_FILE: join(folder, 'keys'),
      }),
    );
  });
  afterEach(() => {
    for (const wire of wires.splice(0)) wire.reset();
    held.length = 0;
  });

  /** Begins so many equal reads. They wait for the upstream when it resolves. */
  async function park(live: 'long-poll' | 'sse', ...keys: string[]): Promise<Wire[]> {
    const parked = await Promise.all(
      keys.map(async (key) => {
        const wire = await openWire(gateway.port);
        wires.push(wire);
        const head = `GET /streams/t/x?offset=1_0&live=${live} HTTP/1.1\r\nHost: g\r\n`;
        await wire.write(`${head}Authorization: Bearer ${key}\r\nConnection: close\r\n\r\n`);
        return wire;
      }),
    );
    await gateway.until('gateway_parked_reads', { mode: live }, wires.length);
    return parked;
  }
  /** Expects that each ends in order, with what matches. */
  async function expectEnds(wires: Wire[], received: RegExp): Promise<void> {
    for (const wire of wires) {
      expect(await wire.over()).toBe('end');
      expect(wire.received).toMatch(received);
    }
  }
  const PROBLEM = (status: number, code: string): RegExp =>
    new RegExp(`^HTTP/1\\.1 ${status} [^]*"code":"${code}"`);
  const NEW = /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nnew$/;

  it('are one request at the upstream, whose answer each of them gets whole', async () => {
    const readers = await park('long-poll', KEEP, GOES, KEEP);
    expect(held).toHaveLength(1);
    held[0]
      ?.writeHead(200, { 'content-type': 'application/json', 'content-length': 9 })
      .end('[1, 2, 3]');
    await expectEnds(readers, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n\[1, 2, 3\]$/);
    expect(upstream.seen).toHaveLength(1);
  });

  it('are sent again together when their kept connection turns out to be closed', async () => {
    await park('long-poll', KEEP);
    held[0]?.writeHead(204).end();
    await gateway.until('gateway_parked_reads', { mode: 'long-poll' }, 0);
    wires.length = 0;
    const readers = await park('long-poll', KEEP, KEEP);
    expect(upstream.openSockets.size).toBe(1);
    held[1]?.socket?.resetAndDestroy();
    await until('they are sent again', () => held.length === 3);
    held[2]?.writeHead(200, { 'content-length': 3 }).end('new');
    await expectEnds(readers, NEW);
    expect(upstream.seen[2]).toEqual(upstream.seen[1]);
  });

  it('each get a problem when their connection is lost', async () => {
    const readers = await park('long-poll', KEEP, KEEP);
    held[0]?.socket?.resetAndDestroy();
    await expectEnds(readers, PROBLEM(502, 'upstream_unreachable'));
    expect(upstream.seen).toHaveLength(1);
  });

  it('that are event streams bring a later reader everything, and end with the last of them', async () => {
    const [early] = await park('sse', KEEP);
    held[0]?.writeHead(200, { 'content-type': 'text/event-stream' }).write(EVENT(1));
    await early?.until('"1_1"');
    const [late] = await park('sse', KEEP);
    held[0]?.write(EVENT(2));
    for (const reader of [early, late]) {
      const received = (await reader?.until('"1_2"')) ?? '';
      expect(received.match(/data: \d/g)).toEqual(['data: 1', 'data: 2']);
    }
    early?.reset();
    await gateway.until('gateway_parked_reads', { mode: 'sse' }, 1);
    expect(held[0]?.destroyed).toBe(false);
    late?.reset();
    await until('the upstream is left', () => held[0]?.destroyed);
    expect(upstream.seen).toHaveLength(1);
  });

  it.each([
    ['token ends', 'token_expired'],
    ['key is withdrawn', 'invalid_credentials'],
  ])('lose the reader whose %s, and no other', async (what, code) => {
    const isToken = what === 'token ends';
    const prefix = '/streams';
    const token = isToken && (await mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds: 8 }));
    const [stays, goes] = await park('long-poll', KEEP, token || GOES);
    if (!isToken) await writeKeys(KEEP);
    await expectEnds([goes as Wire], PROBLEM(401, code));
    held[0]?.writeHead(200, { 'content-length': 3 }).end('new');
    await expectEnds([stays as Wire], NEW);
    expect(upstream.seen).toHaveLength(1);
  });
});
