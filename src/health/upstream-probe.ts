import type { Upstream } from '../proxy/upstream/upstream.ts';

/** `silent`: it takes connections, and no command is accepted. */
export type UpstreamState = 'reachable' | 'unreachable' | 'silent';

/** How long the result of a probe is reused, so that probes do not become a load for the upstream. */
const FRESH_MS = 1_000;
/** Well below Kubernetes' timeout of one second for a readiness probe, so that a slow upstream does not fail it. */
const PROBE_TIMEOUT_MS = 300;

/**
 * Checks whether a connection to an upstream can be opened, in the same way as a read opens it. With TLS it
 * includes the handshake, because a server with an invalid certificate is of no use.
 */
export class UpstreamProbe {
  private readonly upstream: Pick<Upstream, 'tryConnect' | 'isSilent'>;
  private probedAtMs = Number.NEGATIVE_INFINITY;
  private answer: Promise<UpstreamState> = Promise.resolve('unreachable');

  constructor(upstream: Pick<Upstream, 'tryConnect' | 'isSilent'>) {
    this.upstream = upstream;
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
    const failure = await this.upstream.tryConnect(PROBE_TIMEOUT_MS);
    if (failure) return 'unreachable';
    return this.upstream.isSilent() ? 'silent' : 'reachable';
  }
}
