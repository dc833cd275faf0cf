import type { StateMetric } from '../platform/metrics/state-metric.ts';
import type { Upstream } from '../proxy/upstream/upstream.ts';

/** `silent`: it takes connections, and no command is accepted. */
export type UpstreamState = 'reachable' | 'unreachable' | 'silent';

type ProbedUpstream = Pick<Upstream, 'name' | 'tryConnect' | 'isSilent'>;

/** How long the results are reused, so that probes do not become a load for the upstreams. */
const FRESH_MS = 1_000;
/** Well below Kubernetes' timeout of one second for a readiness probe, so that a slow upstream does not fail it. */
const PROBE_TIMEOUT_MS = 300;

/**
 * Checks whether a connection to each upstream can be opened, in the same way as a read opens it. With TLS it
 * includes the handshake, because a server with an invalid certificate is of no use.
 */
export class UpstreamProbes {
  private readonly upstreams: readonly ProbedUpstream[];
  private probedAtMs = Number.NEGATIVE_INFINITY;
  private found: Promise<Record<string, UpstreamState>> = Promise.resolve({});

  constructor({ all }: { all: readonly ProbedUpstream[] }) {
    this.upstreams = all;
  }

  readonly metrics: readonly StateMetric[] = [
    {
      name: 'gateway_upstream_reachable',
      help: '1 where a connection to the upstream could be made just now, and a runtime accepts commands.',
      label: 'upstream',
      read: async () =>
        Object.fromEntries(
          Object.entries(await this.states()).map(([upstream, reachable]) => [
            upstream,
            Number(reachable === 'reachable'),
          ]),
        ),
    },
  ];

  /** The state of every upstream, by its name in logs and metrics. Never rejects. */
  states(): Promise<Record<string, UpstreamState>> {
    if (performance.now() - this.probedAtMs > FRESH_MS) {
      this.probedAtMs = performance.now();
      this.found = this.probeAll();
    }
    return this.found;
  }

  private async probeAll(): Promise<Record<string, UpstreamState>> {
    const entries = this.upstreams.map(
      async (upstream) => [upstream.name, await stateOf(upstream)] as const,
    );
    return Object.fromEntries(await Promise.all(entries));
  }
}

async function stateOf(upstream: ProbedUpstream): Promise<UpstreamState> {
  const failure = await upstream.tryConnect(PROBE_TIMEOUT_MS);
  if (failure) return 'unreachable';
  return upstream.isSilent() ? 'silent' : 'reachable';
}
