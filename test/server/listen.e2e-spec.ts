import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { choosePorts } from '../../local/stack/ports.ts';
import { testGateway } from '../support/scripted-gateway.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);
const HOSTS = hasIpv6 ? ['127.0.0.1', '[::1]'] : ['127.0.0.1'];

// An IPv6-only cluster's probes reached nothing.
describe.each(['false', 'true'])('without GATEWAY_HOST, GATEWAY_REUSE_PORT=%s', (reusePort) => {
  const gateway = testGateway(async () => {
    const { management } = await choosePorts({ management: 0 });
    return {
      GATEWAY_HOST: '',
      GATEWAY_MANAGEMENT_PORT: String(management),
      GATEWAY_REUSE_PORT: reusePort,
    };
  });

  it.each(HOSTS)('both ports are served at %s', async (host) => {
    const { port, managementPort } = gateway.running;
    for (const url of [
      `http://${host}:${port}/health`,
      `http://${host}:${managementPort}/health/live`,
    ]) {
      expect([url, (await fetch(url)).status]).toEqual([url, 200]);
    }
  });
});

describe('with GATEWAY_HOST', () => {
  const gateway = testGateway(() => ({ GATEWAY_HOST: '127.0.0.1' }));

  it('the port is taken at that address alone', async () => {
    const { address, port } = gateway.running;
    expect(address).toBe('127.0.0.1');
    const other = createServer();
    const bound = new Promise<void>((resolve, reject) => {
      other.once('error', reject).listen({ host: '127.0.0.2', port }, resolve);
    });
    await bound;
    await new Promise((resolve) => other.close(resolve));
  });
});
