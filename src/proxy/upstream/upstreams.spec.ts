import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '../../platform/config/load-config.ts';
import { NameResolver } from '../../platform/names/name-resolver.ts';
import { Upstreams } from './upstreams.ts';

describe('Upstreams', () => {
  // A request that was sent again opened its connection through Node's default agent, which asks the system: while DNS
  // did not answer, that took a thread of the pool, and the addresses from before were not used.
  it('look up names with the resolver of the gateway, for a kept connection and for a new one', () => {
    const names = new NameResolver(2_000);
    const upstreams = new Upstreams(loadConfig({ GATEWAY_API_KEYS: 'k'.repeat(16) }), names);
    const { history, sync, runtimeAdmin } = upstreams;
    for (const { agent, newConnections } of [history, sync, runtimeAdmin]) {
      expect(agent).toMatchObject({ options: { lookup: names.lookup } });
      expect(newConnections).toMatchObject({ options: { lookup: names.lookup } });
      expect(newConnections).not.toMatchObject({ options: { keepAlive: true } });
    }
    upstreams.onApplicationShutdown();
  });
});
