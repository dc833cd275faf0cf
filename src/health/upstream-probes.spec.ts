import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
} from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import { listening } from '../../test/support/listening.ts';
import { TLS_IDENTITY } from '../../test/support/tls-identity.ts';
import { until } from '../../test/support/until.ts';
import { startUnacceptingServer } from '../../test/support/unaccepting-server.ts';
import { upstreamsWith } from '../../test/support/upstreams.ts';
import type { Upstreams } from '../proxy/upstream/upstreams.ts';
import { UpstreamProbes, type UpstreamState } from './upstream-probes.ts';

/** Many containers have none. */
const HAS_IPV6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);

const made: Upstreams[] = [];
afterEach(() => {
  for (const upstreams of made.splice(0)) upstreams.onApplicationShutdown();
});

function upstreamsAt(url: string): Upstreams {
  const upstreams = upstreamsWith({ GATEWAY_HISTORY_URL: url });
  made.push(upstreams);
  return upstreams;
}

/** What a new probe says of an upstream. */
async function stateAt(url: string): Promise<UpstreamState | undefined> {
  const probes = new UpstreamProbes({ all: [upstreamsAt(url).history] });
  return (await probes.states()).history;
}

describe('UpstreamProbes', () => {
  it('tells an upstream that takes connections from one that refuses them', async () => {
    const server = await listening(createServer());
    const state = () => stateAt(`${server.url}/v1/stream`);
    await until('it is reachable', async () => (await state()) === 'reachable');
    await server.stop();
    expect(await state()).toBe('unreachable');
  });

  (HAS_IPV6 ? it : it.skip)('takes an address in brackets', async () => {
    const server = createServer().listen(0, '::1');
    await once(server, 'listening');
    const url = `http://[::1]:${(server.address() as AddressInfo).port}`;
    await until('it is reachable', async () => (await stateAt(url)) === 'reachable');
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
      expect(await stateAt(url)).toBe('unreachable');
      expect(await stateAt(urlOf(plain))).toBe('unreachable');
      setDefaultCACertificates([...trusted, TLS_IDENTITY.cert]);
      await until('it is reachable', async () => (await stateAt(url)) === 'reachable');
    } finally {
      setDefaultCACertificates(trusted);
      server.close();
      plain.close();
    }
  });

  it('does not fail for a host name that nobody knows', async () => {
    expect(await stateAt('http://no-such-host.invalid')).toBe('unreachable');
  });

  // A probe of Kubernetes waits one second: an upstream behind a lost route made ready too slow for
  // it, and took every copy of the gateway out of service.
  it('is done with an upstream that does not answer', async () => {
    const deaf = await startUnacceptingServer();
    try {
      // By itself a connection that hangs takes longer than a test may.
      expect(await stateAt(deaf.url)).toBe('unreachable');
    } finally {
      await deaf.stop();
    }
  });

  it('asks the upstream once, however many want to know', async () => {
    let asked = 0;
    const history = {
      name: 'history' as const,
      tryConnect: () => Promise.resolve(++asked === 1 ? new Error('refused') : undefined),
      isSilent: () => false,
    };
    const probes = new UpstreamProbes({ all: [history] });
    expect(await Promise.all([probes.states(), probes.states()])).toEqual([
      { history: 'unreachable' },
      { history: 'unreachable' },
    ]);
    expect(asked).toBe(1);
  });
});
