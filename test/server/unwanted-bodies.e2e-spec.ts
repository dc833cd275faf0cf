import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Connections } from '../../src/platform/server/connections.ts';
import { AUTHORIZED } from '../support/gateway.ts';
import { parseRaw } from '../support/raw-client.ts';
import { scriptedGateway } from '../support/scripted-gateway.ts';
import { openWire, type Wire } from '../support/wire.ts';

const KIB = 1_024;
const MIB = 1_024 * KIB;
/** Until it stops, Node reads two more pieces of 64 KiB at most, and fills its buffer of as much. */
const SLACK_BYTES = 4 * 64 * KIB;
const PIECE = 'x'.repeat(64 * KIB);
const CHUNK = `${PIECE.length.toString(16)}\r\n${PIECE}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked';
const LENGTH = 'Content-Length: 999999999';
const EXPECT = 'Expect: 100-continue';
const UPGRADE = ['Upgrade: x', 'Connection: Upgrade'];

describe('a body that nobody wants', () => {
  const { gateway } = scriptedGateway(() => undefined);
  let wire: Wire;
  let before: number;
  beforeEach(async () => {
    before = connections().bytes().received;
    wire = await openWire(gateway.port);
  });
  afterEach(() => wire.reset());

  const connections = (): Connections => gateway.running.app.get(Connections, { strict: false });
  /** How much the gateway has read in this test. */
  const readBytes = (): number => connections().bytes().received - before;

  /** Sends a head and then a body without an end, until the gateway ends the connection. */
  async function flood(line: string, ...headers: string[]): Promise<'end' | 'reset'> {
    let isOver = false;
    const ended = wire.ended.finally(() => (isOver = true));
    await wire.write(`${line} HTTP/1.1\r\nHost: g\r\n${headers.join('\r\n')}\r\n\r\n`);
    const piece = headers.includes(CHUNKED) ? CHUNK : PIECE;
    while (!isOver) await Promise.race([wire.write(piece), ended]);
    return ended;
  }

  // 695 MB in three seconds were read for a client without a credential, and more of them as long as it sent.
  it.each([
    ['a preflight, in chunks', 'OPTIONS /streams/t/x', 204, [CHUNKED]],
    ['a preflight, by its length', 'OPTIONS /shapes/v1/shape', 204, [LENGTH]],
    ['a preflight that asks for leave', 'OPTIONS /streams/t/x', 204, [CHUNKED, EXPECT]],
    ['a preflight with an upgrade', 'OPTIONS /streams/t/x', 204, [CHUNKED, ...UPGRADE]],
    ['OPTIONS of another route', 'OPTIONS /registry/x', 404, [CHUNKED]],
    ['OPTIONS of no route', 'OPTIONS /nothing', 404, [LENGTH]],
    ['OPTIONS of no route that asks for leave', 'OPTIONS /nothing', 404, [LENGTH, EXPECT]],
    ['OPTIONS of everything', 'OPTIONS *', 400, [CHUNKED]],
  ])('is read for 64 KiB with %s, and the connection ends', async (_, line, status, headers) => {
    expect(await flood(line, ...headers)).toBe('end');
    expect(parseRaw(wire.received).status).toBe(status);
    expect(wire.received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(readBytes()).toBeLessThan(64 * KIB + SLACK_BYTES);
  });

  it('is read for 64 KiB where the answer has to wait, and the connection is broken off', async () => {
    const key = `Authorization: ${AUTHORIZED.authorization}`;
    await wire.write(`GET /streams/x HTTP/1.1\r\nHost: g\r\n${key}\r\n\r\n`);
    await flood('OPTIONS /streams/x', CHUNKED);
    expect(wire.received).toBe('');
    expect(readBytes()).toBeLessThan(64 * KIB + SLACK_BYTES);
  });

  it('is dropped with a small OPTIONS, and the connection stays', async () => {
    const rest = 'GET /health HTTP/1.1\r\nHost: g\r\n\r\n';
    for (const body of [
      `${LENGTH.replace('999999999', '65536')}\r\n\r\n${PIECE}`,
      `${CHUNKED}\r\n\r\n${CHUNK}0\r\n\r\n`,
    ]) {
      wire.received = '';
      await wire.write(`OPTIONS /streams/t/x HTTP/1.1\r\nHost: g\r\n${body}${rest}`);
      await wire.until(/\{"status":"ok"/);
      expect(wire.received).toMatch(/^HTTP\/1\.1 204 [^]*\r\n\r\nHTTP\/1\.1 200 /);
    }
  });

  // Each connection without a credential was read for half a minute, as fast as it sent.
  it.each([
    ['without a credential', 'POST /api/spawn', 401],
    ['of a GET', 'GET /health', 400],
    ['of no route', 'PUT /nothing', 404],
  ])('%s is read for 64 MiB, and the connection ends', async (_, line, status) => {
    expect(await flood(line, CHUNKED)).toBe('end');
    expect(parseRaw(wire.received).status).toBe(status);
    expect(readBytes()).toBeLessThan(64 * MIB + SLACK_BYTES);
    expect(readBytes()).toBeGreaterThan(63 * MIB);
  });
});
