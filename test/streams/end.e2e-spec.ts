import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Upstreams } from '../../src/proxy/upstream/upstreams.ts';
import { ServerModule } from '../../src/platform/server/server.module.ts';
import { startMeasuredGateway } from '../support/measured-gateway.ts';

afterEach(() => void jest.restoreAllMocks());

describe('the end of the gateway', () => {
  // The process drained and exited: whatever Nest's modules had opened was never closed but in tests.
  it('closes both ports behind the drain, and everything that the modules have opened', async () => {
    const closings = [
      jest.spyOn(Upstreams.prototype, 'onApplicationShutdown'),
      jest.spyOn(ServerModule.prototype, 'onApplicationShutdown'),
    ];
    const gateway = await startMeasuredGateway({ GATEWAY_DRAIN_TIMEOUT_MS: '60000' });
    await gateway.running.drain({ hasLameDuck: false });
    expect(closings.map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
    for (const url of [gateway.url, gateway.managementUrl]) {
      await expect(fetch(`${url}/health`)).rejects.toMatchObject({
        cause: { code: 'ECONNREFUSED' },
      });
    }
    // Once more is nothing more.
    await gateway.stop();
    expect(closings.map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  });
});
