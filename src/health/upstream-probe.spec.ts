import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { createInterface } from 'node:readline';
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
} from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { TLS_IDENTITY } from '../../test/support/tls-identity.ts';
import { UpstreamProbe } from './upstream-probe.ts';
import { NameResolver } from '../platform/names/name-resolver.ts';

const { lookup } = new NameResolver(2_000);

/** Many containers have none. */
const HAS_IPV6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);

/** Listens and then never takes a connection: its backlog fills up, and new ones get no answer. */
const DEAF_SERVER = `
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, server.address().port + '\\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;

async function startDeafServer(): Promise<{ port: number; stop: () => Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, ['-e', DEAF_SERVER], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (!child.stdout) throw new Error('the server has no output');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const port = Number(line);
  const fillers = Array.from({ length: 8 }, () => connect({ port, host: '127.0.0.1' }));
  for (const filler of fillers) filler.on('error', () => undefined);
  // Those of the backlog connect; the rest stay on their way.
  await once(fillers[0] as Socket, 'connect');
  return {
    port,
    stop: async () => {
      for (const filler of fillers) filler.destroy();
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

describe('UpstreamProbe', () => {
  it('tells an upstream that takes connections from one that refuses them', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/stream`;
    expect(await new UpstreamProbe(url, lookup).state()).toBe('reachable');

    server.close();
    await once(server, 'close');
    expect(await new UpstreamProbe(url, lookup).state()).toBe('unreachable');
  });

  (HAS_IPV6 ? it : it.skip)('takes an address in brackets', async () => {
    const server = createServer().listen(0, '::1');
    await once(server, 'listening');
    const url = `http://[::1]:${(server.address() as AddressInfo).port}`;
    expect(await new UpstreamProbe(url, lookup).state()).toBe('reachable');
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
      expect(await new UpstreamProbe(url, lookup).state()).toBe('reachable');
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
    const deaf = await startDeafServer();
    try {
      // By itself a connection that hangs takes longer than a test may.
      expect(await new UpstreamProbe(`http://127.0.0.1:${deaf.port}`, lookup).state()).toBe(
        'unreachable',
      );
    } finally {
      await deaf.stop();
    }
  });
});
