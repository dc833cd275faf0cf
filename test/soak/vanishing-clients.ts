import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { AUTHORIZED } from '../support/credentials.ts';
import { rawRequest } from '../support/raw-client.ts';
import type { Random } from './random.ts';

/**
 * Clients that go: before they have asked, in the middle of a head, of a body, of an answer, while
 * they wait. Straight to the gateways, so that no load balancer stands in for them.
 */
export class VanishingClients {
  gone = 0;
  private readonly ports: readonly [number, ...number[]];
  private readonly path: string;
  private readonly random: Random;

  /** `path` is that of a stream that can be read. */
  constructor(ports: readonly [number, ...number[]], path: string, random: Random) {
    this.ports = ports;
    this.path = path;
    this.random = random;
  }

  async run(perSecond: number, signal: AbortSignal): Promise<void> {
    const requests = this.requests();
    while (!signal.aborted) {
      this.connectAndLeave(this.random.pick(requests), this.random.between(0, 800));
      await sleep(1_000 / perSecond, undefined, { signal }).catch(() => undefined);
    }
  }

  private connectAndLeave(bytes: string, afterMs: number): void {
    const socket = connect({ port: this.random.pick(this.ports), host: '127.0.0.1' });
    socket.on('error', () => undefined);
    socket.on('data', () => undefined);
    socket.once('connect', () => {
      socket.write(bytes);
      const isRude = this.random.next() < 0.5;
      setTimeout(() => (isRude ? socket.resetAndDestroy() : socket.destroy()), afterMs);
      this.gone++;
    });
  }

  private requests(): [string, ...string[]] {
    const head = (line: string, ...headers: string[]) =>
      rawRequest(line, [`Authorization: ${AUTHORIZED.authorization}`, ...headers]).replace(
        'Connection: close\r\n',
        '',
      );
    return [
      '',
      'GET /streams/half-a-he',
      head(`GET ${this.path}?offset=-1`),
      head(`GET ${this.path}?offset=now&live=long-poll`),
      head(`GET ${this.path}?offset=now&live=sse`),
      head('GET /shapes/v1/shape?table=entities&offset=-1'),
      // Bodies that never come to their end: none of them may have an effect.
      `${head('POST /api/a/echo/vanished/send', 'Content-Length: 1000')}{"kind":`,
      `${head(`POST ${this.path}`, 'Content-Length: 1000')}{"seq":`,
      `${head('POST /api/a/echo/vanished/send', 'Transfer-Encoding: chunked')}4\r\n{"ki\r\n`,
    ];
  }
}
