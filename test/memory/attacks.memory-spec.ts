import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AUTHORIZED } from '../support/credentials.ts';
import { sampleOf } from '../support/share.ts';
import { until } from '../support/until.ts';
import {
  MIB,
  REFUSED_FOR_NOW,
  startLimitedGateway,
  type LimitedGateway,
} from './limited-gateway.ts';

const KEY = `Authorization: ${AUTHORIZED.authorization}`;
const LIMIT_BYTES = 300 * MIB;
/**
 * What the kernel may take from the upstream of one client between two looks of the gateway, which cannot limit a
 * socket's receive buffer: as much was seen. Version 1 of control groups counts it by itself, and version 2
 * refuses what does not fit. It is there for a tenth of a second.
 */
const BETWEEN_LOOKS_BYTES = 307_200;
const MEMORY_IS_SHORT =
  'memory is short: new reads, and bodies that would have to be held, are refused for now';
/** An attack lasts until the witness has had this many responses. */
const ATTACK_READS = 50;

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: g\r\n${KEY}\r\n\r\n`;

/**
 * Bytes that nobody reads: each of these took the process past its limit, or to the end of V8's heap. Its memory has to
 * stay within the limit, sockets in the kernel included, while another client is served all along. While memory is short,
 * it may be refused for a moment. Then the log says so.
 */
describe('in 300 MiB the gateway stands', () => {
  let limited: LimitedGateway;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    limited = await startLimitedGateway(LIMIT_BYTES, 'hostile-store-main.ts');
    await limited.witness.served(3);
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await limited.stop();
  });

  /** A connection that sends this and reads nothing, unless it is told to. */
  async function client(bytes: string | Buffer): Promise<Socket> {
    const socket = connect({ port: limited.gateway.port, host: '127.0.0.1' });
    sockets.push(socket);
    socket.on('error', () => undefined).pause();
    await once(socket, 'connect');
    socket.write(bytes);
    return socket;
  }

  async function clients(count: number, bytes: (index: number) => string | Buffer): Promise<void> {
    for (let i = 0; i < count; i++) await client(bytes(i));
  }

  /** The attack has gone on for a while: what has to hold, and that nothing of it is left when it is over. */
  async function expectStanding(mostBytes = LIMIT_BYTES): Promise<void> {
    const { witness, group, gateway } = limited;
    await witness.served(ATTACK_READS);
    expect(group.kills()).toBe(0);
    expect(limited.highestProcessBytes).toBeLessThan(LIMIT_BYTES);
    expect(limited.highestBytes).toBeLessThan(mostBytes);
    expect(witness.wrong).toEqual([]);
    // Answers to 600 readers came at once on a busy machine: five reads in 50 ms were refused, and CI failed.
    const wasRefused = witness.outcomes.includes(REFUSED_FOR_NOW);
    if (wasRefused) expect(gateway.log.map(({ message }) => message)).toContain(MEMORY_IS_SHORT);

    for (const socket of sockets.splice(0)) socket.destroy();
    for (const kind of ['answers', 'events', 'bodies']) {
      await until(
        `nothing is held of ${kind}`,
        async () => (await limited.metric(`gateway_held_bytes{kind="${kind}"}`)) === 0,
      );
    }
    await until(
      'nobody reads but the witness',
      async () => (await limited.metric('gateway_open_reads')) <= 1,
    );
    expect(gateway.log.filter(({ level }) => level === 'fatal' || level === 'error')).toEqual([]);
  }

  const attacks: Record<string, () => Promise<void>> = {
    '200 readers that stop in one event stream of small events, while another one reads':
      async () => {
        const stream = '/streams/words?offset=1_1&live=sse';
        const quick = await client(get(stream));
        quick.resume();
        await once(quick, 'data');
        await clients(200, () => get(stream));
        const before = quick.bytesRead;
        await expectStanding();
        expect(quick.bytesRead).toBeGreaterThan(before);
      },

    '60 readers that stop in event streams of their own': async () => {
      await clients(60, (index) => get(`/streams/words/${index}?offset=1_1&live=sse`));
      await expectStanding();
    },

    '600 connections that read nothing of a mebibyte each': async () => {
      await clients(600, (index) =>
        get(`/streams/hold-1000000/${index}?offset=1_1&live=long-poll`),
      );
      await limited.store.untilWaiting(600);
      limited.store.answer();
      await expectStanding(LIMIT_BYTES + 600 * BETWEEN_LOOKS_BYTES);
    },

    '600 connections that read nothing of a mebibyte shared by two': async () => {
      await clients(600, (index) =>
        get(`/streams/hold-1000000/${index >> 1}?offset=1_1&live=long-poll`),
      );
      await limited.store.untilWaiting(300);
      limited.store.answer();
      await expectStanding();
    },

    'six connections that send 100 long-polls each ahead, and read no answer': async () => {
      await clients(6, (client) =>
        Array.from({ length: 100 }, (_, index) =>
          get(`/streams/hold-1000000/${client}-${index}?offset=1_1&live=long-poll`),
        ).join(''),
      );
      await limited.store.untilWaiting(600);
      limited.store.answer();
      await expectStanding(LIMIT_BYTES + 600 * BETWEEN_LOOKS_BYTES);
    },

    'a connection that sends 100 reads of 50 MiB ahead, and reads nothing': async () => {
      await clients(1, () =>
        Array.from({ length: 100 }, (_, index) => get(`/streams/large-52428800/${index}`)).join(''),
      );
      await expectStanding();
    },

    '150 connections that stop in an answer of 50 MiB': async () => {
      await clients(150, (index) => get(`/streams/large-52428800/${index}`));
      await expectStanding();
    },

    '300 connections that ask to be closed behind an answer which they do not read': async () => {
      await clients(300, (index) =>
        get(`/streams/large-3000000/${index}`).replace('Host: g', 'Host: g\r\nConnection: close'),
      );
      await expectStanding(LIMIT_BYTES + 300 * BETWEEN_LOOKS_BYTES);
    },

    '400 bodies of a mebibyte that are not finished': async () => {
      const head = (index: number): string =>
        `POST /api/a/echo/e${index}/send HTTP/1.1\r\nHost: g\r\n${KEY}\r\nTransfer-Encoding: chunked\r\n\r\nf4240\r\n`;
      const body = Buffer.alloc(1_000_000, 'x');
      await clients(400, (index) => Buffer.concat([Buffer.from(head(index)), body]));
      await expectStanding();
    },

    '100 bodies in chunks of a byte': async () => {
      const head = (index: number): string =>
        `POST /api/a/echo/e${index}/send HTTP/1.1\r\nHost: g\r\n${KEY}\r\nTransfer-Encoding: chunked\r\n\r\n`;
      await clients(100, (index) => head(index) + '1\r\nx\r\n'.repeat(5_000));
      await expectStanding();
    },

    '100 event streams that are quiet but for keep-alives': async () => {
      await clients(100, (index) => get(`/streams/quiet/${index}?offset=1_1&live=sse`));
      for (const socket of sockets) socket.resume();
      await expectStanding();
    },
  };

  it.each(sampleOf(Object.entries(attacks)))('%s', (_name, attack) => attack());
});
