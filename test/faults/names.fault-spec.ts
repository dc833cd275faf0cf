import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { AUTHORIZED } from '../support/credentials.ts';
import { afterThisTest, forThisTest } from '../support/for-this-test.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { startNameServer, type NameServer } from '../support/name-server.ts';
import { newFolder } from '../support/new-folder.ts';
import { ACCEPTED } from '../support/runtime.ts';
import { scriptedUpstream } from '../support/scripted-gateway.ts';
import { until } from '../support/until.ts';

/** The C library would wait for 150 s in all. */
const OPTIONS = 'options timeout:30 attempts:5 ndots:5';
const SEARCH = 'search agents.svc.test svc.test test';
/** Longer than any test here. */
const LONG_MS = '50000';

/** Whether this user may give a process files and a port 53 of its own: Linux and root. */
function canHaveOwnFiles(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const itWithOwnFiles = canHaveOwnFiles() ? it : it.skip;

/**
 * Every connect asked the C library by itself. Two threads of the process do so at a time, so that one silent name, asked
 * for by nothing but the readiness probe, held up all other names: spawns got 502 after 15 s, and a SIGTERM took 20 s.
 */
describe('the names of upstreams (needs root)', () => {
  let folder: string;
  let names: NameServer;
  const upstream = scriptedUpstream((request, response) => {
    const isCommand = request.url?.endsWith('/send') === true;
    response.writeHead(isCommand ? 202 : 200, { 'content-type': 'application/json' });
    response.end(isCommand ? ACCEPTED : '[]');
  });
  let gateway: GatewayChild;

  beforeEach(async () => {
    folder = forThisTest(await newFolder()).path;
    names = forThisTest(await startNameServer());
  });

  /** A gateway whose system finds names with these files. */
  async function start(env: Record<string, string>, hosts = ''): Promise<GatewayChild> {
    const [hostsFile, resolvConf] = [join(folder, 'hosts'), join(folder, 'resolv.conf')];
    await writeFile(hostsFile, hosts);
    await writeFile(resolvConf, `nameserver ${names.address}\n${SEARCH}\n${OPTIONS}\n`);
    const mount = `mount --bind ${hostsFile} /etc/hosts && mount --bind ${resolvConf} /etc/resolv.conf && exec "$@"`;
    gateway = await startGatewayChild({
      env: { GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: LONG_MS, ...env },
      wrapper: ['unshare', '--mount', 'sh', '-c', mount, 'sh'],
    });
    afterThisTest(() => gateway.kill());
    return gateway;
  }

  const at = (name: string): string => `http://${name}:${upstream.port}`;

  async function statusOf(
    path: string,
    init: RequestInit = {},
    headers: Record<string, string> = {},
  ): Promise<number> {
    const response = await fetch(`${gateway.url}${path}`, {
      ...init,
      headers: { ...AUTHORIZED, ...headers },
    });
    await response.arrayBuffer();
    return response.status;
  }
  const spawn = (): Promise<number> =>
    statusOf('/api/spawn', { method: 'POST', body: '{"type":"chat"}' });

  /** Waits until the gateway has asked for a name. */
  function askedFor(name: string): Promise<void> {
    const isAsked = (): boolean => names.asked.some((question) => question.name === name);
    return until(`${name} is asked for`, isAsked, () => statusOf('/health'));
  }

  itWithOwnFiles('hold up nobody else where one is never answered', async () => {
    names.silent.add('silent.agents.svc.test').add('mute.agents.svc.test');
    names.known.set('history.agents.svc.test', ['127.0.0.1']);
    names.known.set('runtime.agents.svc.test', ['127.0.0.1']);
    const { managementUrl } = await start({
      GATEWAY_SYNC_URL: at('silent'),
      GATEWAY_RUNTIME_ADMIN_URL: at('mute'),
      GATEWAY_HISTORY_URL: at('history'),
      GATEWAY_RUNTIME_INGRESS_URL: at('runtime'),
    });
    const done: string[] = [];
    const waits = [
      statusOf('/shapes/v1/shape?table=entities&offset=-1').then(() => done.push('shapes')),
      statusOf('/registry/deployments').then(() => done.push('registry')),
    ];
    await askedFor('silent.agents.svc.test');
    await askedFor('mute.agents.svc.test');
    for (let i = 0; i < 20; i++) await (await fetch(`${managementUrl}/health/ready`)).arrayBuffer();
    // Connections of their own, so that each of them needs an address.
    const others = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => [
        await statusOf(`/streams/s${i}?offset=-1`),
        await spawn(),
      ]),
    );
    expect(others).toEqual(others.map(() => [200, 202]));
    expect(done).toEqual([]);
    // One look-up at a time for a name, however many ask for it.
    const silent = names.asked.filter(({ name, type }) => name.startsWith('silent.') && type === 1);
    expect(silent.length).toBeLessThan(5);
    gateway.signal('SIGKILL');
    await Promise.allSettled(waits);
  });

  itWithOwnFiles('do not hold up the end of the process', async () => {
    names.silent.add('silent.agents.svc.test').add('mute.agents.svc.test');
    const child = await start({
      GATEWAY_SYNC_URL: at('silent'),
      GATEWAY_HISTORY_URL: at('mute'),
      GATEWAY_DRAIN_TIMEOUT_MS: '1000',
    });
    const waits = [
      statusOf('/shapes/v1/shape?table=entities&offset=-1'),
      statusOf('/streams/s?offset=-1'),
    ];
    await askedFor('silent.agents.svc.test');
    await askedFor('mute.agents.svc.test');
    child.signal('SIGTERM');
    // With a thread that waits for the C library it took as long as that.
    expect(await child.exited).toEqual({ code: 0, signal: null });
    await Promise.allSettled(waits);
  });

  itWithOwnFiles('are found in the hosts file, by the search list, and as they are', async () => {
    names.known.set('deep.svc.test', ['127.0.0.1']);
    names.known.set('a.b.c.d.e.example', ['127.0.0.1']);
    names.known.set('short.example', ['127.0.0.1']);
    await start(
      {
        GATEWAY_SYNC_URL: at('deep'),
        GATEWAY_HISTORY_URL: at('in-hosts'),
        GATEWAY_RUNTIME_INGRESS_URL: at('a.b.c.d.e.example'),
        GATEWAY_RUNTIME_ADMIN_URL: at('short.example'),
      },
      '127.0.0.1 other in-hosts\n',
    );
    expect(await statusOf('/shapes/v1/shape?table=entities&offset=-1')).toBe(200);
    expect(await statusOf('/streams/s?offset=-1')).toBe(200);
    expect(await spawn()).toBe(202);
    expect(await statusOf('/registry/deployments')).toBe(200);
    const asked = names.asked.filter(({ type }) => type === 1).map(({ name }) => name);
    expect(asked.filter((name) => name.startsWith('deep'))).toEqual([
      'deep.agents.svc.test',
      'deep.svc.test',
    ]);
    expect(asked.filter((name) => name.startsWith('a.'))).toEqual(['a.b.c.d.e.example']);
    expect(asked.filter((name) => name.startsWith('short'))).toEqual([
      'short.example.agents.svc.test',
      'short.example.svc.test',
      'short.example.test',
      'short.example',
    ]);
    expect(asked.filter((name) => name.startsWith('in-hosts'))).toEqual([]);
  });

  itWithOwnFiles('may have several addresses, which are tried in turn', async () => {
    // Nobody listens on the first one.
    names.known.set('history.test', ['127.9.9.9', '127.0.0.1']);
    names.known.set('runtime.test', ['127.9.9.9', '127.0.0.1']);
    await start({ GATEWAY_HISTORY_URL: at('history'), GATEWAY_RUNTIME_INGRESS_URL: at('runtime') });
    expect(await statusOf('/streams/s?offset=-1')).toBe(200);
    expect(await statusOf('/streams/s', { method: 'POST', body: 'x' })).toBe(200);
    expect(await spawn()).toBe(202);
  });

  // Only the first usable address was ever used: five connections went to the silent server, none to the other one, and
  // each of them cost a read or a command 15 s.
  itWithOwnFiles('have a probe at the other address where a server is silent', async () => {
    const silent = createServer((socket) => socket.on('error', () => undefined).resume());
    silent.listen(upstream.port, '127.9.9.8');
    await once(silent, 'listening');
    afterThisTest(() => void silent.close());
    let silentConnections = 0;
    silent.on('connection', (socket) => {
      silentConnections++;
      afterThisTest(() => void socket.destroy());
    });
    names.known.set('history.test', ['127.9.9.8', '127.0.0.1']);
    names.known.set('runtime.test', ['127.9.9.8', '127.0.0.1']);
    await start({
      GATEWAY_HISTORY_URL: at('history'),
      GATEWAY_RUNTIME_INGRESS_URL: at('runtime'),
      GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '8000',
    });
    const keyed = (id: number): Promise<number> =>
      statusOf(
        `/api/a/chat/a${id}/send`,
        { method: 'POST', body: 'x' },
        { 'idempotency-key': 'k' },
      );
    // Connections of their own, each to a random one of the two.
    for (let i = 0; i < 20; i++) {
      expect([await statusOf(`/streams/s${i}?offset=-1`), await keyed(i)]).toEqual([200, 202]);
      for (const socket of upstream.openSockets) socket.destroy();
    }
    // After the first one, that address comes last for a while.
    expect(silentConnections).toBeLessThan(8);
  });

  itWithOwnFiles(
    'keep their last addresses while the name server is silent, and follow new ones',
    async () => {
      names.known.set('history.agents.svc.test', ['127.0.0.1']);
      await start({ GATEWAY_HISTORY_URL: at('history') });
      expect(await statusOf('/streams/s?offset=-1')).toBe(200);
      names.silent.add('history.agents.svc.test');
      // A connection of its own for each, over more than the second for which an address is taken as it is.
      const questions = (): number => names.asked.filter(({ type }) => type === 1).length;
      const before = questions();
      while (questions() === before) {
        upstream.openSockets.forEach((socket) => socket.destroy());
        expect(await statusOf('/streams/s?offset=-1')).toBe(200);
      }
      expect(await statusOf('/streams/s?offset=-1')).toBe(200);
    },
  );

  itWithOwnFiles('say at once that there is no such name', async () => {
    const { process: child } = await start({ GATEWAY_HISTORY_URL: at('nowhere') });
    const failure = child.waitForLine((line) => line.includes('"err"'));
    expect(await statusOf('/streams/s?offset=-1')).toBe(502);
    expect((JSON.parse(await failure) as { err: object }).err).toMatchObject({
      code: 'ENOTFOUND',
      message: expect.stringMatching(/^no address found for nowhere: .*ENOTFOUND nowhere\./),
    });
  });
});
