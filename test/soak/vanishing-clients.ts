import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { AUTHORIZED } from '../support/credentials.ts';
import { rawRequest } from '../support/raw-client.ts';
import type { Random } from './random.ts';

const PER_SECOND = 4;
const MAX_STAY_MS = 800;

/**
 * Clients that go: before they have asked, in the middle of a head, of a body, of an answer, while
 * they wait. Straight to the gateways, so that no load balancer stands in for them. `path` is that of a stream that can be
 * read. Returns how many have gone until the signal.
 */
export async function vanish(
  ports: readonly [number, ...number[]],
  path: string,
  random: Random,
  signal: AbortSignal,
): Promise<number> {
  const requests = requestsFor(path);
  let gone = 0;
  while (!signal.aborted) {
    const bytes = random.pick(requests);
    const isRude = random.next() < 0.5;
    const stayMs = random.between(0, MAX_STAY_MS);
    const socket = connect({ port: random.pick(ports), host: '127.0.0.1' });
    socket.on('error', () => undefined).resume();
    socket.once('connect', () => {
      socket.write(bytes);
      setTimeout(() => (isRude ? socket.resetAndDestroy() : socket.destroy()), stayMs);
      gone++;
    });
    await sleep(1_000 / PER_SECOND, undefined, { signal }).catch(() => undefined);
  }
  return gone;
}

function requestsFor(path: string): [string, ...string[]] {
  const head = (line: string, ...headers: string[]) =>
    rawRequest(line, [`Authorization: ${AUTHORIZED.authorization}`, ...headers]).replace(
      'Connection: close\r\n',
      '',
    );
  return [
    '',
    'GET /streams/half-a-he',
    head(`GET ${path}?offset=-1`),
    head(`GET ${path}?offset=now&live=long-poll`),
    head(`GET ${path}?offset=now&live=sse`),
    head('GET /shapes/v1/shape?table=entities&offset=-1'),
    // Bodies that never come to their end: none of them may have an effect.
    `${head('POST /api/a/echo/vanished/send', 'Content-Length: 1000')}{"kind":`,
    `${head(`POST ${path}`, 'Content-Length: 1000')}{"seq":`,
    `${head('POST /api/a/echo/vanished/send', 'Transfer-Encoding: chunked')}4\r\n{"ki\r\n`,
  ];
}
