import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFile,
  cp,
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { isSupported } from '../../src/platform/process/own-node.ts';
import { afterThisTest, forThisTest } from '../support/for-this-test.ts';
import { GATEWAY_MAIN, startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { API_KEY, AUTHORIZED, startTestGateway } from '../support/gateway.ts';
import { listening } from '../support/listening.ts';
import { newFolder } from '../support/new-folder.ts';
import { openSocket } from '../support/open-socket.ts';
import { rawRequest } from '../support/raw-client.ts';
import { canRecordModules, recordModules } from '../support/recorded-modules.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';

const END_TIMEOUT_MS = 60_000;
/** The required settings, on free ports. */
const REQUIRED = { GATEWAY_API_KEYS: API_KEY, GATEWAY_PORT: '0', GATEWAY_MANAGEMENT_PORT: '0' };

/** Runs the program with the required settings and these variables alone, until it listens. */
async function startProgram(
  env: Record<string, string> = {},
  node?: string,
): Promise<GatewayChild> {
  const gateway = await startGatewayChild({ onlyEnv: { ...REQUIRED, ...env }, node });
  afterThisTest(() => gateway.kill());
  return gateway;
}

interface Ending {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the program until it exits by itself. */
function run(
  env: Record<string, string>,
  node = process.execPath,
  main = GATEWAY_MAIN,
): Promise<Ending> {
  return new Promise((resolve) => {
    execFile(node, [main], { env, timeout: END_TIMEOUT_MS }, (error, stdout, stderr) => {
      // One that a signal has ended has no code.
      resolve({ code: error ? Number(error.code ?? 128) : 0, stdout, stderr });
    });
  });
}

describe('the start', () => {
  it('needs nothing but environment variables, and says where it listens', async () => {
    const gateway = await startProgram();
    expect(gateway.log).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        service: 'agent-gateway',
        host: expect.stringMatching(/^(?:::|0\.0\.0\.0)$/),
        port: gateway.port,
        message: 'the gateway listens',
      },
    ]);
    expect(gateway.output).toHaveLength(1);
    const health = await fetch(`${gateway.url}/health`);
    expect(health.status).toBe(200);
  });

  // Terminus loaded @nestjs/swagger, which is installed for development, for its own decorators: the start took twice as long.
  (canRecordModules ? it : it.skip)(
    'loads no package, because they are in the program',
    async () => {
      const record = await recordModules();
      afterThisTest(() => record.remove());
      const gateway = await startProgram(record.environment);
      await gateway.kill();
      const loaded = await record.loaded();
      expect(loaded.filter((url) => url.endsWith('/dist/bootstrap.js'))).not.toEqual([]);
      expect(loaded.filter((url) => url.includes('/node_modules/'))).toEqual([]);
    },
  );

  it('opens to the keys of the variable and to those of the file', async () => {
    const folder = forThisTest(await newFolder()).path;
    const file = join(folder, 'keys');
    const digest = createHash('sha256').update('the-hashed-key-of-the-file').digest('hex');
    await writeFile(file, `the-plain-key-of-the-file\nsha256:${digest}\n`);
    const { url } = forThisTest(
      await startScriptedUpstream((_request, response) => response.end()),
    );
    const settings = { GATEWAY_API_KEYS_FILE: file, GATEWAY_HISTORY_URL: url };
    const gateway = forThisTest(await startTestGateway(settings));
    const keys = [API_KEY, 'the-plain-key-of-the-file', 'the-hashed-key-of-the-file'];
    const statuses = [...keys, digest, `sha256:${digest}`].map(async (key) => {
      const headers = { authorization: `Bearer ${key}` };
      return (await fetch(`${gateway.url}/streams/x`, { headers })).status;
    });
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 401, 401]);
  });

  it('ends with exit code 1 and one message about every wrong setting, which repeats none', async () => {
    const env = {
      GATEWAY_API_KEYS: 'short-key',
      GATEWAY_READ_TOKEN_SECRETS: 'short-secret',
      GATEWAY_PORT: 'http',
      GATEWAY_HISTORY_URL: 'history:4437',
      GATEWAY_READ_TOKEN_SECRETS_FILE: '/no/such/file',
      GATEWAY_API_KEYS_FILE: '',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:secret-in-a-url@collector:4317',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_HEADERS: 'secret-of-a-collector',
    };
    expect(await run(env)).toEqual({
      code: 1,
      stdout: '',
      stderr: [
        'the gateway cannot start, 8 settings are wrong:',
        '  - GATEWAY_PORT must be a whole number from 0 to 65535',
        '  - GATEWAY_HISTORY_URL must be an http or https URL without user name, query or fragment, such as http://host:1234/path',
        '  - GATEWAY_API_KEYS entry 1 must have at least 16 characters, or be sha256:<64 hex digits>',
        '  - GATEWAY_READ_TOKEN_SECRETS entry 1 must have at least 32 bytes',
        '  - GATEWAY_READ_TOKEN_SECRETS_FILE must be a readable file (ENOENT)',
        '  - OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL without user name, query or fragment, such as ' +
          'http://collector:4318; a credential goes into OTEL_EXPORTER_OTLP_HEADERS',
        '  - OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf, which collectors take on port 4318',
        '  - OTEL_EXPORTER_OTLP_HEADERS must be name=value, or several of them between commas, percent-encoded',
        '',
      ].join('\n'),
    });
  });

  // GATEWAY_CORS_ALLOWED_ORIGINS was ignored in silence, and CORS stayed open to every origin.
  it('warns of a misspelt setting by its name alone, and continues', async () => {
    const gateway = await startProgram({
      GATEWAY_CORS_ALLOWED_ORIGINS: 'https://app.example',
      GATEWAY_SERVICE_HOST: '10.0.0.1',
      GATEWAY_URL: 'http://gateway:8787',
    });
    expect(gateway.log).toEqual([
      {
        level: 'warn',
        time: expect.any(String),
        service: 'agent-gateway',
        setting: 'GATEWAY_CORS_ALLOWED_ORIGINS',
        message:
          'GATEWAY_CORS_ALLOWED_ORIGINS is no setting and has no effect; ' +
          'the nearest one is GATEWAY_CORS_ALLOW_ORIGINS',
      },
      expect.objectContaining({ level: 'info', message: 'the gateway listens' }),
    ]);
  });

  it.each([
    ['GATEWAY_PORT', {}, 'another process has it'],
    ['GATEWAY_MANAGEMENT_PORT', {}, 'another process has it'],
    [
      'GATEWAY_PORT',
      { GATEWAY_REUSE_PORT: 'true' },
      'another process has it, without GATEWAY_REUSE_PORT=true or as another user',
    ],
  ])(
    'ends with exit code 1 and a plain message when %s is taken, with %j',
    async (setting, more, reason) => {
      const { port } = forThisTest(await listening(createServer()));
      const env = { ...REQUIRED, GATEWAY_HOST: '127.0.0.1', [setting]: String(port), ...more };
      const { code, stderr } = await run(env);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: `agent-gateway: cannot listen on 127.0.0.1, port ${port} (${setting}): ${reason}\n`,
      });
    },
  );

  it('ends with exit code 1 and a plain message when the address is not of this machine', async () => {
    const { code, stderr } = await run({ ...REQUIRED, GATEWAY_HOST: '192.0.2.1' });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'agent-gateway: cannot listen on 192.0.2.1, port 0 (GATEWAY_PORT): ' +
        'this machine has no such address (GATEWAY_HOST)\n',
    });
  });
});

describe('what Node has compiled', () => {
  const NO_KEYS =
    /^the gateway cannot start, a setting is wrong:\n {2}- GATEWAY_API_KEYS is required/;

  /** A copy of the built gateway in a folder of its own. */
  async function copyOfDist(): Promise<string> {
    const folder = forThisTest(await newFolder()).path;
    const root = dirname(dirname(GATEWAY_MAIN));
    const filter = (path: string): boolean => !path.includes('.compile-cache');
    await cp(join(root, 'dist'), join(folder, 'dist'), { recursive: true, filter });
    await copyFile(join(root, 'package.json'), join(folder, 'package.json'));
    return join(folder, 'dist');
  }

  const said = async (dist: string): Promise<string> =>
    (await run({}, process.execPath, join(dist, 'main.js'))).stderr;

  it('is kept beside the program for its next start', async () => {
    const dist = await copyOfDist();
    await expect(said(dist)).resolves.toMatch(NO_KEYS);
    const [version = ''] = await readdir(join(dist, '.compile-cache'));
    await expect(readdir(join(dist, '.compile-cache', version))).resolves.not.toEqual([]);
    await expect(said(dist)).resolves.toMatch(NO_KEYS);
  });

  it('is not kept where it cannot be written', async () => {
    const dist = await copyOfDist();
    await writeFile(join(dist, '.compile-cache'), '');
    await expect(said(dist)).resolves.toMatch(NO_KEYS);
  });
});

describe('the end', () => {
  const start = (env: Record<string, string> = {}) =>
    startProgram({ GATEWAY_DRAIN_TIMEOUT_MS: '1000', ...env });

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
    const arrived = Promise.withResolvers<void>();
    const silent = forThisTest(await startScriptedUpstream(() => arrived.resolve()));
    const gateway = await start({ GATEWAY_HISTORY_URL: silent.url });
    const parked = fetch(`${gateway.url}/streams/x?live=long-poll`, { headers: AUTHORIZED });
    await arrived.promise;
    await open(gateway.port, '');
    await open(gateway.port, 'GET /health HTTP/1.1\r\nHost: half');
    await open(gateway.port, rawRequest('POST /api/spawn', ['Content-Length: 10'], 'half'));
    await open(gateway.port, 'GET /health HTTP/1.1\r\nHost: kept\r\n\r\n');

    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });

    expect((await parked).status).toBe(503);
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
});

describe('on a Node whose private parts are others', () => {
  it('says so in place of a stack', async () => {
    const change =
      'import common from "node:_http_common"; common.HTTPParser.prototype.execute = () => 0';
    const { code, stdout, stderr } = await run({
      ...REQUIRED,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(change)}`,
    });
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `agent-gateway does not work on this Node, ${process.version}: its HTTP parser is another than expected. Run it on Node 24.\n`,
    });
  });
});

describe('on a Node that is too old', () => {
  const oldNode = findOldNode();
  const ifThereIsOne = oldNode === undefined ? it.skip : it;

  ifThereIsOne('runs on the Node of the project, and ends with it', async () => {
    const gateway = await startProgram({ GATEWAY_DRAIN_TIMEOUT_MS: '500' }, oldNode);
    const { pid } = gateway;
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    expect(await readlink(`/proc/${children.trim()}/exe`)).toBe(
      join(import.meta.dirname, '../../node_modules/node/bin/node'),
    );

    gateway.signal('SIGTERM');
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

  // 202 lines of EBADENGINE at `npm ci` frightened people, although everything runs on the project's own Node.
  ifThereIsOne('is no reason for npm to warn', async () => {
    const npm = await realpath(join(dirname(String(oldNode)), 'npm'));
    const ending = await new Promise((resolve) => {
      const options = { cwd: join(import.meta.dirname, '../..'), maxBuffer: 10 * 1024 * 1024 };
      execFile(String(oldNode), [npm, 'ci', '--dry-run'], options, (error, _, stderr) =>
        resolve({ code: error?.code, stderr }),
      );
    });
    expect(ending).toEqual({ code: undefined, stderr: '' });
  });

  ifThereIsOne('says so where the project has no Node of its own', async () => {
    const folder = forThisTest(await newFolder()).path;
    await mkdir(join(folder, 'dist'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    for (const file of ['main.js', 'own-node.js']) {
      await copyFile(join(dirname(GATEWAY_MAIN), file), join(folder, 'dist', file));
    }
    const ending = await run({}, oldNode, join(folder, 'dist/main.js'));
    const version = execFileSync(String(oldNode), ['--version'], { encoding: 'utf8' }).trim();
    expect(ending).toEqual({
      code: 1,
      stdout: '',
      stderr: `agent-gateway needs Node 22.19 to 26; this is ${version}.\n`,
    });
  });
});

async function open(port: number, bytes: string): Promise<void> {
  const socket = await openSocket(port);
  afterThisTest(() => socket.destroy());
  socket.write(bytes);
}

/** A Node of this machine that is older than the gateway needs, if there is one. */
function findOldNode(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'];
  return folders
    .map((folder) => join(folder, 'node'))
    .find((node) => {
      try {
        const version = execFileSync(node, ['--version'], { encoding: 'utf8', stdio: 'pipe' });
        return !isSupported(version.trim().slice(1));
      } catch {
        return false;
      }
    });
}
