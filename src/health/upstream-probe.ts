import { connect } from 'node:net';
import { tcpAddress, type TcpAddress } from '../proxy/tcp-address.ts';

export type UpstreamState = 'reachable' | 'unreachable';

/** How long an answer of a probe is good for, so that probes of ours do not become a load. */
const FRESH_MS = 1_000;
/** Well below the second that Kubernetes gives a readiness probe: a slow upstream must not fail it. */
const PROBE_TIMEOUT_MS = 300;

/** Tells whether a TCP connection to an upstream can be made. */
export class UpstreamProbe {
  private readonly address: TcpAddress;
  private probedAtMs = Number.NEGATIVE_INFINITY;
  private answer: Promise<UpstreamState> = Promise.resolve('unreachable');

  constructor(url: string) {
    this.address = tcpAddress(new URL(url));
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
      const socket = connect(this.address);
      const settle = (state: UpstreamState): void => {
        clearTimeout(timer);
        socket.destroy();
        resolve(state);
      };
      const timer = setTimeout(() => settle('unreachable'), PROBE_TIMEOUT_MS);
      socket.once('connect', () => settle('reachable'));
      socket.once('error', () => settle('unreachable'));
    });
  }
}
