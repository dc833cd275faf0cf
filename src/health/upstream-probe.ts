import type { LookupFunction } from 'node:net';
import { tryConnect } from '../proxy/upstream/connections/try-connect.ts';
import { connectorTo, type Connector } from '../proxy/upstream/connections/upstream-socket.ts';

export type UpstreamState = 'reachable' | 'unreachable';

/** How long the result of a probe is reused, so that probes do not become a load for the upstream. */
const FRESH_MS = 1_000;
/** Well below Kubernetes' timeout of one second for a readiness probe, so that a slow upstream does not fail it. */
const PROBE_TIMEOUT_MS = 300;

/**
 * Checks whether a connection to an upstream can be opened, in the same way as a read opens it. With TLS it
 * includes the handshake, because a server with an invalid certificate is of no use.
 */
export class UpstreamProbe {
  private readonly connect: Connector;
  private probedAtMs = Number.NEGATIVE_INFINITY;
  private answer: Promise<UpstreamState> = Promise.resolve('unreachable');

  constructor(url: string, lookup: LookupFunction) {
    this.connect = connectorTo(new URL(url), lookup);
  }

  /** Never rejects. */
  state(): Promise<UpstreamState> {
    if (performance.now() - this.probedAtMs > FRESH_MS) {
      this.probedAtMs = performance.now();
      this.answer = this.probe();
    }
    return this.answer;
  }

  private async probe(): Promise<UpstreamState> {
    const failure = await tryConnect(this.connect, PROBE_TIMEOUT_MS);
    return failure ? 'unreachable' : 'reachable';
  }
}
