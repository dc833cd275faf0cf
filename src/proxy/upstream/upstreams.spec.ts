import { describe, expect, it } from '@jest/globals';
import { createServer } from 'node:net';
import { listening } from '../../../test/support/listening.ts';
import { everyUpstream } from '../../../test/support/nobody.ts';
import { upstreamsWith } from '../../../test/support/upstreams.ts';
import { NameResolver } from '../../platform/names/name-resolver.ts';

describe('Upstreams', () => {
  // A request that was sent again opened its connection through Node's default agent, which asks the system: while DNS
  // did not answer, that took a thread of the pool, and the addresses from before were not used.
  it('look up names with the resolver of the gateway', async () => {
    const asked: string[] = [];
    const names = new NameResolver(2_000, (name) => {
      asked.push(name);
      return Promise.resolve(['127.0.0.1']);
    });
    const server = await listening(createServer());
    const settings = everyUpstream(server.url.replace('127.0.0.1', 'known-to-nobody.test'));
    const upstreams = upstreamsWith(settings, { names });
    for (const upstream of upstreams.all) {
      expect([upstream.name, await upstream.tryConnect(5_000)]).toEqual([upstream.name, undefined]);
    }
    expect(asked).toEqual(['known-to-nobody.test']);
    upstreams.onApplicationShutdown();
    await server.stop();
  });

  it('have the credential in a header, except the sync engine, which has it in the query', () => {
    const upstreams = upstreamsWith({
      GATEWAY_HISTORY_TOKEN: 'of-history',
      GATEWAY_RUNTIME_ADMIN_TOKEN: 'of-admin',
      GATEWAY_SYNC_SECRET: 'of-sync',
    });
    expect(upstreams.all.map(({ name, authorization }) => [name, authorization])).toEqual([
      ['runtime-ingress', undefined],
      ['runtime-admin', 'Bearer of-admin'],
      ['history', 'Bearer of-history'],
      ['sync', undefined],
    ]);
    expect(upstreams.syncSecret).toBe('of-sync');
    upstreams.onApplicationShutdown();
  });
});
