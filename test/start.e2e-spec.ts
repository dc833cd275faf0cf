import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startProcess, untilReady, type RunningProcess } from '../local/stack/process.ts';
import { isNewEnough } from '../src/own-node.ts';
import { buildGateway, type BuiltGateway } from './support/built-gateway.ts';
import { API_KEY, AUTHORIZED } from './support/gateway.ts';
import { startGatewayProcess } from './support/gateway-process.ts';
import { rawRequest } from './support/raw-client.ts';
import { startScriptedUpstream } from './support/scripted-upstream.ts';

const START_TIMEOUT_MS = 20_000;

let built: BuiltGateway;
beforeAll(async () => {
  built = await buildGateway();
});
afterAll(() => built?.remove());

interface Ending {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the program where it is expected to end by itself. */
function run(env: Record<string, string>, node = process.execPath): Promise<Ending> {
  return new Promise((resolve) => {
    execFile(node, [built.main], { env, timeout: START_TIMEOUT_MS }, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}

describe('the start', () => {
  it('needs nothing but environment variables, and says where it listens', async () => {
    const gateway = startProcess({
      name: 'gateway',
      command: process.execPath,
      args: [built.main],
      env: { GATEWAY_API_KEYS: API_KEY, GATEWAY_PORT: '0', GATEWAY_MANAGEMENT_PORT: '0' },
    });
    const line = await untilListening(gateway);
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      service: 'agent-gateway',
      host: '0.0.0.0',
      port: expect.any(Number),
      message: 'the gateway listens',
    });
    const health = await fetch(`http://127.0.0.1:${String(line.port)}/health`);
    expect(health.status).toBe(200);
    await gateway.kill();
  });

  it('ends with exit code 1 and one message about every wrong setting', async () => {
    const env = {
      GATEWAY_API_KEYS: 'short-key',
      GATEWAY_READ_TOKEN_SECRETS: 'short-secret',
      GATEWAY_PORT: 'http',
      GATEWAY_HISTORY_URL: 'history:4437',
      GATEWAY_READ_TOKEN_SECRETS_FILE: '/no/such/file',
      GATEWAY_API_KEYS_FILE: '',
    };
    expect(await run(env)).toEqual({
      code: 1,
      stdout: '',
      stderr: [
        'the gateway cannot start, 5 settings are wrong:',
        '  - GATEWAY_PORT must be a whole number from 0 to 65535',
        '  - GATEWAY_HISTORY_URL must be an http or https URL without user name, query or fragment, such as http://host:1234/path',
        '  - GATEWAY_API_KEYS entry 1 must have at least 16 characters, or be sha256:<64 hex digits>',
        '  - GATEWAY_READ_TOKEN_SECRETS entry 1 must have at least 32 bytes',
        '  - GATEWAY_READ_TOKEN_SECRETS_FILE must be a readable file (ENOENT)',
        '',
      ].join('\n'),
    });
  });

  it.each(['GATEWAY_PORT', 'GATEWAY_MANAGEMENT_PORT'])(
    'ends with exit code 1 and a plain message when %s is taken',
    async (setting) => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      const { code, stderr } = await run({
        GATEWAY_HOST: '127.0.0.1',
        GATEWAY_PORT: '0',
        GATEWAY_MANAGEMENT_PORT: '0',
        GATEWAY_API_KEYS: API_KEY,
        [setting]: String(port),
      });
      other.close();
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: `agent-gateway: cannot listen on 127.0.0.1, port ${port} (${setting}): another process has it\n`,
      });
    },
  );

  it('ends with exit code 1 and a plain message when the address is not of this machine', async () => {
    const env = { GATEWAY_API_KEYS: API_KEY, GATEWAY_HOST: '192.0.2.1', GATEWAY_PORT: '0' };
    const { code, stderr } = await run(env);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'agent-gateway: cannot listen on 192.0.2.1, port 0 (GATEWAY_PORT): ' +
        'this machine has no such address (GATEWAY_HOST)\n',
    });
  });
});

describe('the end', () => {
  const start = (env: Record<string, string> = {}) =>
    startGatewayProcess({ main: built.main, env: { GATEWAY_DRAIN_TIMEOUT_MS: '1000', ...env } });

  /** A gateway with a read that its upstream leaves parked. */
  async function startWithParkedRead(drainTimeoutMs: number) {
    const arrived = Promise.withResolvers<void>();
    const silent = await startScriptedUpstream(() => arrived.resolve());
    const gateway = await start({
      GATEWAY_HISTORY_URL: silent.url,
      GATEWAY_DRAIN_TIMEOUT_MS: String(drainTimeoutMs),
    });
    const url = `${gateway.url}/streams/x?live=long-poll`;
    const parkedStatus = fetch(url, { headers: AUTHORIZED }).then(
      ({ status }) => status,
      () => undefined,
    );
    await arrived.promise;
    return { gateway, parkedStatus, stopUpstream: () => silent.stop() };
  }

  it.each(['SIGTERM', 'SIGINT'] as const)('comes with exit code 0 on %s', async (signal) => {
    const gateway = await start();
    gateway.signal(signal);
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect(gateway.log.map(({ message }) => message)).toEqual([
      'the gateway listens',
      'the gateway drains',
      'the gateway has stopped',
    ]);
  });

  it('comes with exit code 0 whatever the connections are doing', async () => {
    const { gateway, parkedStatus, stopUpstream } = await startWithParkedRead(1000);
    const sockets = [
      await open(gateway.port, ''),
      await open(gateway.port, 'GET /health HTTP/1.1\r\nHost: half'),
      await open(gateway.port, rawRequest('POST /api/spawn', ['Content-Length: 10'], 'half')),
      await open(gateway.port, 'GET /health HTTP/1.1\r\nHost: kept\r\n\r\n'),
    ];

    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });

    expect(await parkedStatus).toBe(503);
    for (const socket of sockets) socket.destroy();
    await stopUpstream();
  });

  it('is announced by the readiness probe while reads are still open', async () => {
    const { gateway, parkedStatus, stopUpstream } = await startWithParkedRead(1000);
    const drains = gateway.process.waitForLine((line) => line.includes('the gateway drains'));
    expect((await fetch(`${gateway.managementUrl}/health/ready`)).status).toBe(200);

    gateway.signal('SIGTERM');
    await drains;
    expect((await fetch(`${gateway.managementUrl}/health/ready`)).status).toBe(503);
    expect((await fetch(`${gateway.managementUrl}/health/live`)).status).toBe(200);

    expect(await parkedStatus).toBe(503);
    await gateway.exited;
    await stopUpstream();
  });

  // The terminal sends a Ctrl-C to all of the group, and npm hands it on: the second one ended the
  // process at once, with exit code 1 and whatever was under way.
  it('is not hurried by a signal that arrives twice', async () => {
    const gateway = await start();
    gateway.signal('SIGINT');
    gateway.signal('SIGINT');
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  it('is hurried by another signal later on', async () => {
    const { gateway, parkedStatus, stopUpstream } = await startWithParkedRead(4000);
    const idle = await open(gateway.port, '');
    gateway.signal('SIGTERM');
    // Idle connections are closed after a fifth of the time.
    await once(idle, 'close');
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    expect(await parkedStatus).toBeUndefined();
    await stopUpstream();
  });
});

describe('on a Node that is too old', () => {
  const oldNode = findOldNode();
  const ifThereIsOne = oldNode === undefined ? it.skip : it;

  ifThereIsOne('runs on the Node of the project, and ends with it', async () => {
    const gateway = startProcess({
      name: 'gateway',
      command: String(oldNode),
      args: [built.main],
      env: {
        GATEWAY_API_KEYS: API_KEY,
        GATEWAY_PORT: '0',
        GATEWAY_MANAGEMENT_PORT: '0',
        GATEWAY_DRAIN_TIMEOUT_MS: '500',
      },
    });
    await untilListening(gateway);
    const children = await readFile(`/proc/${gateway.pid}/task/${gateway.pid}/children`, 'utf8');
    expect(await readlink(`/proc/${children.trim()}/exe`)).toBe(
      join(import.meta.dirname, '../node_modules/node/bin/node'),
    );

    process.kill(gateway.pid, 'SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  ifThereIsOne('hands on the exit code and the message of a failed start', async () => {
    const { code, stderr } = await run({ GATEWAY_API_KEYS: 'short' }, oldNode);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'the gateway cannot start, a setting is wrong:\n' +
        '  - GATEWAY_API_KEYS entry 1 must have at least 16 characters, or be sha256:<64 hex digits>\n',
    });
  });

  ifThereIsOne('says so where the project has no Node of its own', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-alone-'));
    await mkdir(join(folder, 'dist'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    for (const file of ['main.js', 'own-node.js']) {
      await copyFile(join(dirname(built.main), file), join(folder, 'dist', file));
    }
    const ending = await new Promise((resolve) => {
      execFile(String(oldNode), [join(folder, 'dist/main.js')], (error, stdout, stderr) =>
        resolve({ code: error?.code, stdout, stderr }),
      );
    });
    await rm(folder, { recursive: true });
    const version = execFileSync(String(oldNode), ['--version'], { encoding: 'utf8' }).trim();
    expect(ending).toEqual({
      code: 1,
      stdout: '',
      stderr: `agent-gateway needs Node 22.19 or newer; this is ${version}.\n`,
    });
  });
});

async function untilListening(gateway: RunningProcess): Promise<Record<string, unknown>> {
  const line = await untilReady(gateway, START_TIMEOUT_MS, () =>
    gateway.waitForLine((text) => text.includes('the gateway listens')),
  );
  return JSON.parse(line) as Record<string, unknown>;
}

async function open(port: number, bytes: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  if (bytes !== '') socket.write(bytes);
  return socket;
}

/** A Node of this machine that is older than the gateway needs, if there is one. */
function findOldNode(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'];
  return folders
    .map((folder) => join(folder, 'node'))
    .find((node) => {
      try {
        const version = execFileSync(node, ['--version'], { encoding: 'utf8', stdio: 'pipe' });
        return !isNewEnough(version.trim().slice(1));
      } catch {
        return false;
      }
    });
}
