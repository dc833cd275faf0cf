/**
 * Packs the command line, the client, the hooks and the transport as `npm pack` does, installs each into an empty folder, and runs them
 * from there; the command line from the project and from a clone that is not built, too: `npm run test:package`. With `TEST_SHARE` the
 * transport has one version of the AI SDK.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { minifySync } from '@swc/core';
import { AgentGateway, textOf } from '../../packages/client/src/index.ts';
import { choosePorts } from '../../local/stack/ports.ts';
import { startProcess, untilReady, type RunningProcess } from '../../local/stack/process.ts';
import '../../local/catalog/unref-client-timers.ts';
import { measureClient } from './client-sizes.ts';
import { Checks } from '../support/checks.ts';
import { sampleOf } from '../support/share.ts';
import { startLocalSystem, type LocalSystem } from '../support/local-system.ts';
import { API_KEY, READ_TOKEN_SECRET } from '../support/credentials.ts';
import { startGatewayChild } from '../support/gateway-child.ts';

const ROOT = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};
const COMMAND_TIMEOUT_MS = 240_000;

/** An application that uses the client, with types. */
const USE_OF_CLIENT = `
import { AgentGateway, APIError, type LiveState } from '@agent-gateway/client';
import { mintReadToken } from '@agent-gateway/client/tokens';

declare const process: { env: Record<string, string> };
const { AGENT_GATEWAY_URL: url = '', AGENT_GATEWAY_KEY: apiKey = '', READ_TOKEN_SECRET: secret = '' } = process.env;
const server = new AgentGateway({ url, apiKey, retryForMs: 0 });
const error: unknown = await server.agents.spawn({ type: 'echo' }).catch((thrown: unknown) => thrown);
const page = new AgentGateway({ url, authCallback: () => mintReadToken({ secret, prefix: '/streams' }) });
const stop = new AbortController();
const onState = (state: LiveState): void => {
  if (state.name !== 'waiting') return;
  console.log((error as APIError).code, state.name, state.error.status);
  stop.abort();
};
for await (const event of page.timeline('echo/e1', { signal: stop.signal, onState })) console.log(event.seq);
`;

/** A page with the hooks, as a server renders it. */
const USE_OF_HOOKS = `
import { AgentGateway } from '@agent-gateway/client';
import { useAgent } from '@agent-gateway/react';
import { createElement, type ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';

const gateway = new AgentGateway({ url: 'https://gateway.example', backEnd: '/chat' });
function Chat({ agent }: { agent: string }): ReactElement {
  const { turns, status } = useAgent(gateway, agent);
  return createElement('p', null, status + ' ' + turns.length);
}
console.log(renderToStaticMarkup(createElement(Chat, { agent: 'assistant/ada' })));
`;

/** A chat of the AI SDK without a page. */
const USE_OF_TRANSPORT = `
import { agentTransport, uiMessages, type AgentMessage } from '@agent-gateway/ai-sdk';
import { AgentGateway, conversation } from '@agent-gateway/client';
import type { ChatTransport } from 'ai';

const gateway = new AgentGateway({ url: 'https://gateway.example', apiKey: 'none' });
const transport: ChatTransport<AgentMessage> = agentTransport(gateway, 'assistant/ada');
const messages = uiMessages(conversation([]).turns);
const request = { chatId: 'c1', messageId: undefined, abortSignal: undefined, messages };
transport
  .sendMessages({ ...request, trigger: 'submit-message' })
  .catch((error: Error) => console.log(error.message));
`;

const USE_OF_AG_UI = `
import { agUiBackEnd } from '@agent-gateway/ag-ui';
import { AgentGateway } from '@agent-gateway/client';

const gateway = new AgentGateway({ url: 'https://gateway.example', apiKey: 'none' });
const run = agUiBackEnd({ gateway, authorize: () => false });
console.log((await run(new Request('http://app.example/ag-ui'))).status);
`;

interface Result {
  code: number;
  out: string;
  err: string;
}

/** The environment of a terminal, without the variables that npm adds. `paths` come first in PATH. */
function run(
  command: string,
  args: string[],
  { cwd, env = {}, paths = [] }: { cwd: string; env?: object; paths?: string[] },
): Promise<Result> {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^npm_|^GATEWAY_|^AGENT_/i.test(name),
  );
  const folders = (process.env.PATH ?? '').split(delimiter);
  const usual = folders.filter((path) => !path.includes('node_modules'));
  const PATH = [...paths, ...usual].join(delimiter);
  const options = {
    cwd,
    env: { ...Object.fromEntries(own), PATH, ...env },
    timeout: COMMAND_TIMEOUT_MS,
  };
  return new Promise((resolve, reject) => {
    execFile(command, args, options, (error, out, err) => {
      if (error && typeof error.code !== 'number') reject(error);
      else resolve({ code: Number(error?.code ?? 0), out, err });
    });
  });
}

/** Runs a command. If it fails, throws with its output. */
async function succeed(...args: Parameters<typeof run>): Promise<string> {
  const { code, out, err } = await run(...args);
  assert.equal(code, 0, `${args[0]} ${args[1].join(' ')}\n${out}${err}`);
  return out;
}

const checks = new Checks();
const folder = mkdtempSync(join(tmpdir(), 'gateway-package-'));
const app = join(folder, 'app');
/** The project's Node, because the machine's own may be too old. */
const newNode = [join(ROOT, 'node_modules/.bin')];
const gateway = await startGatewayChild();
const env = { AGENT_GATEWAY_URL: gateway.url, AGENT_GATEWAY_KEY: API_KEY };

/** Packs a package as a release does, and returns what npm says of it as JSON. */
function pack(name: string): Promise<string> {
  const args = ['pack', '--workspace', `@agent-gateway/${name}`, '--json'];
  return succeed('npm', [...args, '--pack-destination', folder], { cwd: ROOT, paths: newNode });
}

/** Installs packages that were packed, and others of the registry. */
async function install(cwd: string, packed: string[], others: string[] = []): Promise<void> {
  const args = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
  const tarballs = packed.map((name) => join(folder, `agent-gateway-${name}-${version}.tgz`));
  const at = { cwd, paths: newNode };
  await succeed('npm', [...args, '--loglevel=error', ...tarballs, ...others], at);
}

/** Checks the types of a program in this folder, and runs it. */
async function runTyped(cwd: string, program: string, more: object, own = {}): Promise<string> {
  writeFileSync(join(cwd, 'use.ts'), program);
  const usual = { module: 'nodenext', target: 'es2024', strict: true, noEmit: true };
  writeFileSync(
    join(cwd, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...usual, ...more } }),
  );
  const at = { cwd, env: { ...env, ...own }, paths: newNode };
  await succeed('node', [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', cwd], at);
  return succeed('node', ['--disable-warning=ExperimentalWarning', 'use.ts'], at);
}

/** Installs the packed client into a copy of the example, and starts it. */
async function startExample(
  example: string,
  type: string,
  system: LocalSystem,
): Promise<RunningProcess> {
  const own = join(folder, example);
  cpSync(join(ROOT, 'examples', example), own, { recursive: true });
  await install(own, ['client']);
  const { port } = await choosePorts({ port: 0 });
  const agent = startProcess({
    name: type,
    command: join(ROOT, 'node_modules/.bin/node'),
    args: [join(own, 'agent.ts')],
    env: {
      PATH: process.env.PATH ?? '',
      GATEWAY_URL: system.baseUrl,
      GATEWAY_API_KEY: system.apiKey,
      CATALOG_URL: system.exported.CATALOG_URL,
      CATALOG_TOKEN: system.exported.CATALOG_TOKEN,
      PORT: String(port),
    },
  });
  await untilReady(agent, COMMAND_TIMEOUT_MS, () =>
    agent.waitForLine((line) => line === `${type} is registered, on port ${port}`),
  );
  return agent;
}

/** Installs the packed client and hooks into a copy of the chat, checks its types, and starts it as its README says. */
async function startChat({ exported }: LocalSystem): Promise<RunningProcess> {
  const own = join(folder, 'chat');
  const filter = (path: string): boolean => !/\/(?:dist|node_modules)$/.test(path);
  cpSync(join(ROOT, 'examples/chat'), own, { recursive: true, filter });
  await install(own, ['client', 'react']);
  await succeed('npx', ['tsc'], { cwd: own, paths: newNode });
  const chat = startProcess({
    name: 'chat',
    command: 'npm',
    args: ['--prefix', own, 'start'],
    env: {
      ...exported,
      PATH: [...newNode, process.env.PATH].join(delimiter),
      HOME: folder,
      PORT: '0',
    },
  });
  await untilReady(chat, COMMAND_TIMEOUT_MS, () =>
    chat.waitForLine((line) => line.startsWith('The chat is at')),
  );
  return chat;
}

/** It serves its page, and a user signs in. */
async function signInToChat(chat: RunningProcess): Promise<void> {
  const url = chat.lastLines().join('\n').split('The chat is at ')[1]?.trim() ?? '';
  const page = await fetch(url);
  assert.match(await page.text(), /<script type="module" crossorigin src="\/assets\/index-/);
  const headers = { 'content-type': 'application/json' };
  const signIn = { method: 'POST', headers, body: '{"name":"Ada"}' };
  const answer = await fetch(`${url}/session`, signIn);
  assert.deepEqual([answer.status, ((await answer.json()) as { user: string }).user], [200, 'ada']);
}

/** The command line sends the canonical message, and the example once shouted its JSON. */
async function askShout(system: LocalSystem): Promise<void> {
  const env = { AGENT_GATEWAY_URL: system.baseUrl, AGENT_GATEWAY_KEY: system.apiKey };
  const paths = [join(ROOT, 'packages/cli/bin'), ...newNode];
  const args = ['send', 'shout/s1', 'hello', '--create', '--tail'];
  const out = await succeed('agent-gateway', args, { cwd: folder, env, paths });
  assert.match(out, / 2 {2}reply {8}HELLO\n$/);
  const client = new AgentGateway({ url: system.baseUrl, apiKey: system.apiKey });
  await client.agents.send('shout/s1', 'as text');
  const seen: unknown[] = [];
  for await (const event of client.timeline('shout/s1')) {
    seen.push([event.kind, textOf('content' in event ? event.content : [])]);
    if (event.seq === 4) break;
  }
  assert.deepEqual(seen, [
    ['spawned', ''],
    ['message', 'hello'],
    ['reply', 'HELLO'],
    ['message', 'as text'],
    ['reply', 'AS TEXT'],
  ]);
  await client.agents.control('shout/s1', 'archive');
  const where = { where: 'type = $1', params: ['shout'] };
  for await (const rows of client.catalog(where)) {
    if (rows.some(({ id, status }) => id === 's1' && status === 'archived')) break;
  }
}

/** Packs a package, installs it beside the client and others, and runs a program there after checking its types. */
async function runBesideClient(name: string, others: string[], program: string): Promise<string> {
  const own = mkdtempSync(join(folder, `${name}-app-`));
  writeFileSync(join(own, 'package.json'), '{"private":true,"type":"module"}');
  await pack(name);
  await install(own, ['client', name], others);
  const types = others.some((each) => each.startsWith('@types/node')) ? ['node'] : [];
  return runTyped(own, program, { skipLibCheck: false, types });
}

/** With the stand-in: it streams, calls a tool, fails, and is stopped. */
async function askWriter(client: AgentGateway): Promise<void> {
  const agent = 'writer/w1';
  const said: string[] = [];
  await client.agents.send(agent, 'What is the weather in Rome?');
  await client.agents.send(agent, 'fail 2 times');
  await client.agents.send(agent, 'count to 1000');
  let replies = 0;
  for await (const event of client.timeline(agent)) {
    if (event.kind === 'tool') said.push(`${event.name} ${event.state}`);
    if (event.kind === 'status') said.push([event.status, event.reason].join(' ').trim());
    if (event.kind === 'reply') said.push(textOf(event.content).slice(0, 70));
    if (event.kind === 'reply') replies += 1;
    if (event.kind === 'word' && replies === 2) {
      await client.agents.control(agent, 'interrupt', { reason: 'enough' });
      replies += 1;
    }
    if (event.kind === 'reply' && event.stopped) break;
  }
  assert.match(said.pop() ?? '', /^1 2/);
  assert.deepEqual(said, [
    'weather called',
    'weather done',
    'The tool says {"city":"Rome","degrees":21}.',
    'failing the model failed',
    'failing the model failed',
    'running',
    'I am no model. You said: fail 2 times',
    'idle enough',
  ]);
}

try {
  await checks.check('the command line packs what it runs and nothing else', async () => {
    const packed: unknown = JSON.parse(await pack('cli'));
    // npm 11 says it as an object by name, older ones as a list.
    const [{ files = [] } = {}] = Object.values(packed as object) as {
      files?: { path: string }[];
    }[];
    const paths = files.map(({ path }) => path);
    for (const needed of ['bin/agent-gateway', 'dist/packages/cli/src/main.js', 'README.md']) {
      assert.ok(paths.includes(needed), `${needed} is missing`);
    }
    const wanted =
      /^(?:bin\/agent-gateway|dist\/(?:packages|src)\/.*\.js|package\.json|README\.md)$/;
    assert.deepEqual(
      paths.filter((path) => !wanted.test(path) || /\.spec\.|\.module\.|-fixture/.test(path)),
      [],
    );
  });

  await checks.check('it runs from the tarball, in an empty folder, without Nest', async () => {
    mkdirSync(app);
    writeFileSync(join(app, 'package.json'), '{"private":true}');
    await install(app, ['cli']);
    assert.ok(!readdirSync(join(app, 'node_modules')).includes('@nestjs'));
    const at = { cwd: app, env, paths: newNode };
    assert.equal(await succeed('npx', ['agent-gateway', '--version'], at), `${version}\n`);
    // Of the clients and of the token code, too, nothing is missing: nothing else is behind the gateway.
    const installed = join(app, 'node_modules/.bin/agent-gateway');
    for (const args of [['ls'], ['tail', 'a/b'], ['watch'], ['describe', 'a/b'], ['dp', 'ls']]) {
      const retry = args[0] === 'describe' || args[0] === 'dp' ? [] : ['--retry-for', '0'];
      const { code, err } = await run(installed, [...args, ...retry], at);
      assert.deepEqual([args, code], [args, 6]);
      assert.match(err, /^agent-gateway: 502 upstream_unreachable\. /);
    }
    const doctor = await run(installed, ['doctor', '--json'], at);
    assert.equal(doctor.code, 6);
    assert.equal((JSON.parse(doctor.out) as { findings: unknown[] }).findings.length, 7);
    const inspect = await run(installed, ['token', 'inspect', 'no-token'], at);
    assert.equal(inspect.code, 1);
    const profiles = await run(installed, ['profile', 'ls', '--config', join(app, 'none')], at);
    assert.equal(profiles.code, 0);
    assert.match(
      await succeed(installed, ['completion', 'bash'], at),
      /^# Completion of agent-gateway/,
    );
  });

  await checks.check('it runs in the project with npx, and from its folder bin', async () => {
    // With a cache of its own, as in a first try: npx keeps there how it once found a project's command.
    const npm_config_cache = join(folder, 'npm-cache');
    for (const paths of [[], newNode]) {
      const at = { cwd: ROOT, env: { npm_config_cache, npm_config_offline: 'true' }, paths };
      assert.equal(await succeed('npx', ['agent-gateway', '--version'], at), `${version}\n`);
    }
    const paths = [join(ROOT, 'packages/cli/bin')];
    assert.equal(
      await succeed('agent-gateway', ['--version'], { cwd: folder, paths }),
      `${version}\n`,
    );
  });

  await checks.check('the client packs, and works from an empty folder', async () => {
    const own = join(folder, 'client-app');
    mkdirSync(own);
    writeFileSync(join(own, 'package.json'), '{"private":true,"type":"module"}');
    await pack('client');
    await install(own, ['client']);
    const modules = readdirSync(join(own, 'node_modules'), { recursive: true, encoding: 'utf8' });
    assert.deepEqual(
      modules.filter((path) => /^@nestjs|^@agent-gateway.*\.spec\./.test(path)),
      [],
    );
    const types = { skipLibCheck: true, types: [] };
    const said = await runTyped(own, USE_OF_CLIENT, types, { READ_TOKEN_SECRET });
    assert.equal(said, 'upstream_unreachable waiting 502\n');
    // Without the optional peers only the entries that need them are missing something.
    for (const [entry, peer] of [
      ['agent', '@restatedev/restate-sdk'],
      ['opentelemetry', '@opentelemetry/api'],
    ]) {
      const script = `import("@agent-gateway/client/${entry}")`;
      const { err } = await run('node', ['-e', script], { cwd: own, paths: newNode });
      assert.ok(err.includes(`Cannot find package '${peer}'`), err);
    }
  });

  await checks.check('the hooks pack, and work beside the client, with types', async () => {
    const react = ['react@19', 'react-dom@19', '@types/react@19', '@types/react-dom@19'];
    assert.equal(await runBesideClient('react', react, USE_OF_HOOKS), '<p>idle 0</p>\n');
  });

  for (const version of sampleOf([6, 7])) {
    await checks.check(
      `the transport packs, and works beside the client and AI SDK ${version}, with types`,
      async () => {
        // The types of the AI SDK need those of others.
        const others = [`ai@${version}`, 'zod@4', '@types/node@24', '@types/json-schema@7'];
        const said = await runBesideClient('ai-sdk', others, USE_OF_TRANSPORT);
        assert.equal(said, 'Only a message of a user can be sent.\n');
      },
    );
  }

  await checks.check(
    'the route of AG-UI packs, and works beside the client, with types',
    async () => {
      const said = await runBesideClient('ag-ui', ['@types/node@24'], USE_OF_AG_UI);
      assert.equal(said, '405\n');
    },
  );

  await checks.check('the examples run in folders of their own, and answer', async () => {
    const system = await startLocalSystem(join(folder, 'data'));
    const examples: RunningProcess[] = [];
    try {
      examples.push(await startExample('agent', 'shout', system));
      examples.push(await startExample('llm-agent', 'writer', system));
      const chat = await startChat(system);
      examples.push(chat);
      await signInToChat(chat);
      await askShout(system);
      await askWriter(new AgentGateway({ url: system.baseUrl, apiKey: system.apiKey }));
    } finally {
      for (const example of examples) await example.kill();
      await system.process.stop(COMMAND_TIMEOUT_MS);
    }
  });

  await checks.check('the client, the hooks and the transport are small', async () => {
    const bytesOf = (name: string): number => {
      const dist = join(ROOT, 'packages', name, 'dist');
      const code = readdirSync(dist, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.js') && !/^(?:agent|opentelemetry|server)\//.test(path))
        .map((path) => minifySync(readFileSync(join(dist, path), 'utf8'), { module: true }).code);
      return gzipSync(code.join('')).length;
    };
    assert.ok(bytesOf('client') < 25 * 1024, `the client: ${bytesOf('client')} bytes`);
    assert.ok(bytesOf('react') < 3 * 1024, `the hooks: ${bytesOf('react')} bytes`);
    assert.ok(bytesOf('ai-sdk') < 3 * 1024, `the transport: ${bytesOf('ai-sdk')} bytes`);
  });

  await checks.check('docs/client.md says what a page loads of the client', async () => {
    const { own, timeline, catalog, runs, failures } = await measureClient();
    const kib = [own, timeline, catalog, runs, failures].map((bytes) => Math.ceil(bytes / 1024));
    const page = readFileSync(join(ROOT, 'docs/client.md'), 'utf8').replaceAll('\n', ' ');
    const said =
      /Its own code has (\d+) KiB\. The first timeline loads (\d+) KiB more, the catalog (\d+) KiB, a list of runs (\d+) KiB, and what fails (\d+) KiB/;
    assert.deepEqual(said.exec(page)?.slice(1).map(Number), kib);
  });

  await checks.check('says what to do in a clone that is not built', async () => {
    const clone = join(folder, 'clone');
    cpSync(join(ROOT, 'packages/cli/bin'), join(clone, 'packages/cli/bin'), { recursive: true });
    cpSync(join(ROOT, 'packages/cli/package.json'), join(clone, 'packages/cli/package.json'));
    const result = await run(join(clone, 'packages/cli/bin/agent-gateway'), ['ls'], { cwd: clone });
    assert.deepEqual(result, {
      code: 1,
      out: '',
      err: 'agent-gateway is not built yet: run npm ci && npm run build first.\n',
    });
  });
} finally {
  await gateway.stop();
  rmSync(folder, { recursive: true });
}
checks.finish();
