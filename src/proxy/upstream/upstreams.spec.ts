import { describe, expect, it } from '@jest/globals';
import { upstreamsWith } from '../../../test/support/upstreams.ts';
import { NameResolver } from '../../platform/names/name-resolver.ts';

describe('Upstreams', () => {
  // A request that was sent again opened its connection through Node's default agent, which asks the system: while DNS
  // did not answer, that took a thread of the pool, and the addresses from before were not used.
  it('look up names with the resolver of the gateway, for a kept connection and for a new one', async () => {
    const names = new NameResolver(2_000);
    const upstreams = upstreamsWith({}, names);
    const { history, sync, runtimeAdmin } = upstreams;
    for (const { agent, newConnections } of [history, sync, runtimeAdmin]) {
      expect(agent).toMatchObject({ options: { lookup: names.lookup } });
      expect(newConnections).toMatchObject({ options: { lookup: names.lookup } });
      expect(newConnections).not.toMatchObject({ options: { keepAlive: true } });
    }
    upstreams.onApplicationShutdown();
  });
});
