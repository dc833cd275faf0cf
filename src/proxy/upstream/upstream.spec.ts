import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { comes, pass } from '../../../test/support/fake-time.ts';
import { HistoryExchanges } from '../../../test/support/history-exchanges.ts';
import { upstreamsWith } from '../../../test/support/upstreams.ts';
import { MAX_OPENING_CONNECTIONS } from './connections/connection-pool.ts';

describe('Upstream', () => {
  const { history, sync, runtimeAdmin, runtimeIngress } = upstreamsWith({
    GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '20000',
    GATEWAY_LIVE_TIMEOUT_MS: '200000',
    GATEWAY_HISTORY_URL: 'http://store.test/v1/stream/',
  });

  it('has three quarters of the time of a live read for the response of one, so that its readers come again', () => {
    expect([history.timeoutMs(false), history.timeoutMs(true)]).toEqual([20_000, 150_000]);
  });

  it('is probed after a quarter of the time, and for a live read not before its silence says something', () => {
    expect([history.probesAfterMs(false), history.probesAfterMs(true)]).toEqual([5_000, 50_000]);
    expect(runtimeIngress.probesAfterMs(false)).toBe(5_000);
    const short = upstreamsWith({ GATEWAY_LIVE_TIMEOUT_MS: '60000' });
    expect(short.sync.probesAfterMs(true)).toBe(35_000);
  });

  it('stands for a public prefix, and serves reads, if it has them', () => {
    expect([history, sync, runtimeAdmin].map(({ prefix, isRead }) => [prefix, isRead])).toEqual([
      ['/streams', true],
      ['/shapes', true],
      ['/registry', false],
    ]);
    expect(() => runtimeIngress.prefix).toThrow('runtime-ingress has no public prefix');
    expect([history.basePath, sync.basePath]).toEqual(['/v1/stream', '']);
  });

  describe('with requests', () => {
    let exchanges: HistoryExchanges;
    beforeEach(async () => {
      exchanges = await HistoryExchanges.start();
    });
    afterEach(async () => {
      await exchanges.stop();
    });

    it('lets a write wait for no crowd of reads', async () => {
      exchanges.names.isSilent = true;
      for (let i = 0; i < MAX_OPENING_CONNECTIONS + 1; i++) exchanges.send();
      await pass(0);
      exchanges.names.isSilent = false;
      exchanges.send({ method: 'POST', target: '/t/write' });
      expect((await exchanges.store.nth(1)).target).toBe('/t/write');
    });

    it('tells of each connection that opens, and of each that does not', async () => {
      const told: (Error | undefined)[] = [];
      exchanges.upstream.onConnect = (failure) => void told.push(failure);
      exchanges.send();
      await exchanges.store.nth(1);
      expect(told).toEqual([undefined]);
      await exchanges.store.stop();
      exchanges.send({ method: 'POST' });
      await comes('a failure', () => told.length === 2);
      expect(told[1]).toMatchObject({ code: 'ECONNREFUSED' });
      expect(exchanges.names.failures).toBe(1);
    });

    it('closes all connections with its end', async () => {
      exchanges.send();
      exchanges.send({ method: 'POST' });
      await exchanges.store.nth(2);
      exchanges.upstream.close();
      const { requests } = exchanges.store;
      await comes('the end of all', () => requests.every(({ isClosed }) => isClosed));
    });
  });
});
