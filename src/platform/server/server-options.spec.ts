import { describe, expect, it } from '@jest/globals';
import { serverOptions } from './server-options.ts';

describe('serverOptions', () => {
  it('gives a head 15 seconds, looks every second, and keeps idle connections longer than a load balancer', () => {
    expect(serverOptions(0)).toEqual({
      keepAliveTimeout: 75_000,
      headersTimeout: 15_000,
      requestTimeout: 60_000,
      connectionsCheckingInterval: 1_000,
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
      maxHeaderSize: 65_536,
      optimizeEmptyRequests: true,
      requireHostHeader: false,
    });
  });

  it('gives a body the more time the larger it may be: 16 KiB in about a second', () => {
    expect(serverOptions(1_048_576).requestTimeout).toBe(60_000 + 65_536);
    expect(serverOptions(1).requestTimeout).toBe(60_001);
  });
});
