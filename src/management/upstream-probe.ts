import { connectorTo, type Connector } from '../upstream/connections/upstream-socket.ts';

export type UpstreamState = 'reachable' | 'unreachable';

/** How long an answer of a probe is good for, so that probes of ours do not become a load. */
const FRESH_MS = 1_000;
/** Well below the second that Kubernetes gives a readiness probe: a slow upstream must not fail it. */
const PROBE_TIMEOUT_MS = 300;

/** A probe reads nothing. */
const UNREAD = { buffer: Buffer.alloc(1), callback: () => true };

/**
 * Tells whether a connection to an upstream can be made just as a read makes it: over TLS with a handshake, as one
 * whose certificate is refused serves nobody.
 */
export class UpstreamProbe {
  private readonly connect: Connector;
  private probedAtMs = Number.NEGATIVE_INFINITY;
  private answer: Promise<UpstreamState> = Promise.resolve('unreachable');

  constructor(url: string) {
    this.connect = connectorTo(new URL(url));
  }

  /** Never rejects. */
  state(): Promise<UpstreamState> {
    if (performance.now() - this.probedAtMs > FRESH_MS) {
      this.probedAtMs = performance.now();
      this.answer = this.probe();
    }
    return this.answer;
  }

  private probe(): Promise<UpstreamState> {
    return new Promise((resolve) => {
      const settle = (state: UpstreamState): void => {
        clearTimeout(timer);
        socket.destroy();
        resolve(state);
      };
      const timer = setTimeout(() => settle('unreachable'), PROBE_TIMEOUT_MS);
      const socket = this.connect(UNREAD, () => settle('reachable'));
      socket.on('error', () => settle('unreachable'));
      // A TLS server may hang up in the middle of the handshake without a word.
      socket.once('close', () => settle('unreachable'));
    });
  }
}
