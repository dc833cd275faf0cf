import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
} from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { listening } from '../../test/support/listening.ts';
import { TLS_IDENTITY } from '../../test/support/tls-identity.ts';
import { until } from '../../test/support/until.ts';
import { startUnacceptingServer } from '../../test/support/unaccepting-server.ts';
import { UpstreamProbe } from './upstream-probe.ts';
import { NameResolver } from '../platform/names/name-resolver.ts';

const { lookup } = new NameResolver(2_000);

/** Many containers have none. */
const HAS_IPV6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);

describe('UpstreamProbe', () => {
  it('tells an upstream that takes connections from one that refuses them', async () => {
    const server = await listening(createServer());
    const state = () => new UpstreamProbe(`${server.url}/v1/stream`, lookup).state();
    await until('it is reachable', async () => (await state()) === 'reachable');
    await server.stop();
    expect(await state()).toBe('unreachable');
  });

  (HAS_IPV6 ? it : it.skip)('takes an address in brackets', async () => {
    const server = createServer().listen(0, '::1');
    await once(server, 'listening');
    const url = `http://[::1]:${(server.address() as AddressInfo).port}`;
    const state = () => new UpstreamProbe(url, lookup).state();
    await until('it is reachable', async () => (await state()) === 'reachable');
    server.close();
  });

  // It said reachable, and every request was 502.
  it('tells a certificate that is trusted from one that is refused, and from no TLS at all', async () => {
    const server = createTlsServer(TLS_IDENTITY).listen(0, 'localhost');
    server.on('tlsClientError', () => undefined);
    const plain = createServer((socket) => socket.resume().end('plain')).listen(0, 'localhost');
    const urlOf = (listener: Server) =>
      `https://localhost:${(listener.address() as AddressInfo).port}`;
    await Promise.all([once(server, 'listening'), once(plain, 'listening')]);
    const url = urlOf(server);
    const trusted = getCACertificates('default');
    try {
      expect(await new UpstreamProbe(url, lookup).state()).toBe('unreachable');
      expect(await new UpstreamProbe(urlOf(plain), lookup).state()).toBe('unreachable');
      setDefaultCACertificates([...trusted, TLS_IDENTITY.cert]);
      const state = () => new UpstreamProbe(url, lookup).state();
      await until('it is reachable', async () => (await state()) === 'reachable');
    } finally {
      setDefaultCACertificates(trusted);
      server.close();
      plain.close();
    }
  });

  it('does not fail for a host name that nobody knows', async () => {
    expect(await new UpstreamProbe('http://no-such-host.invalid', lookup).state()).toBe(
      'unreachable',
    );
  });

  // A probe of Kubernetes waits one second: an upstream behind a lost route made ready too slow for
  // it, and took every copy of the gateway out of service.
  it('is done with an upstream that does not answer', async () => {
    const deaf = await startUnacceptingServer();
    try {
      // By itself a connection that hangs takes longer than a test may.
      expect(await new UpstreamProbe(deaf.url, lookup).state()).toBe('unreachable');
    } finally {
      await deaf.stop();
    }
  });
});
