import type { LookupFunction } from 'node:net';
import type { GatewayConfig } from '../platform/config/gateway-config.ts';
import { UpstreamProbe, type UpstreamState } from './upstream-probe.ts';

/** The state of every upstream, by its name in logs and metrics. */
export class UpstreamProbes {
  private readonly probes: Readonly<Record<string, UpstreamProbe>>;

  constructor({ runtime, history, sync }: GatewayConfig, lookup: LookupFunction) {
    this.probes = {
      'runtime-ingress': new UpstreamProbe(runtime.ingressUrl, lookup),
      'runtime-admin': new UpstreamProbe(runtime.adminUrl, lookup),
      history: new UpstreamProbe(history.url, lookup),
      sync: new UpstreamProbe(sync.url, lookup),
    };
  }

  async states(): Promise<Record<string, UpstreamState>> {
    const entries = Object.entries(this.probes).map(
      async ([name, probe]) => [name, await probe.state()] as const,
    );
    return Object.fromEntries(await Promise.all(entries));
  }
}
