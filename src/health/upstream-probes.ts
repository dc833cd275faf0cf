import type { StateMetric } from '../platform/metrics/state-metric.ts';
import type { Upstreams } from '../proxy/upstream/upstreams.ts';
import { UpstreamProbe, type UpstreamState } from './upstream-probe.ts';

/** The state of every upstream, by its name in logs and metrics. */
export class UpstreamProbes {
  private readonly probes: ReadonlyMap<string, UpstreamProbe>;

  constructor({ all }: Pick<Upstreams, 'all'>) {
    this.probes = new Map(all.map((upstream) => [upstream.name, new UpstreamProbe(upstream)]));
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

  async states(): Promise<Record<string, UpstreamState>> {
    const entries = [...this.probes].map(
      async ([name, probe]) => [name, await probe.state()] as const,
    );
    return Object.fromEntries(await Promise.all(entries));
  }
}
