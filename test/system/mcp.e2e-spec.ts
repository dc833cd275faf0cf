import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { forAllTests } from '../support/for-this-test.ts';
import { startLocalSystem } from '../support/local-system.ts';
import { newFolder } from '../support/new-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'packages/mcp/dist/main.js');

const folder = forAllTests(newFolder);
const system = forAllTests(() => startLocalSystem(folder.path));
let client: Client;

beforeAll(async () => {
  // Other suites read the client library meanwhile, so it is not written anew.
  const build = join(ROOT, 'local/build-when-changed.ts');
  execFileSync(process.execPath, [build, 'client', 'mcp'], { stdio: 'inherit' });
  client = await connect(system.baseUrl);
});
afterAll(() => client.close());

async function connect(url: string, mode: VersionNegotiationMode = 'legacy'): Promise<Client> {
  const opened = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const env = { AGENT_GATEWAY_URL: url, AGENT_GATEWAY_KEY: system.apiKey };
  await opened.connect(new StdioClientTransport({ command: process.execPath, args: [MAIN], env }));
  return opened;
}

interface Result {
  isError: boolean;
  text: string;
}

async function call(name: string, request: object, asked = client): Promise<Result> {
  const result = await asked.callTool({ name, arguments: { ...request } });
  const [part] = result.content;
  return { isError: result.isError === true, text: part?.type === 'text' ? part.text : '' };
}

async function done<T>(name: string, request: object): Promise<T> {
  const { isError, text } = await call(name, request);
  expect([isError, text]).toEqual([false, text]);
  return JSON.parse(text) as T;
}

interface Part {
  events: { seq: number; kind: string; status?: string; content?: { text?: string }[] }[];
  cursor: string;
  hasMore: boolean;
}

describe('the MCP server', () => {
  it('has a tool for each thing to do, and says which of them only read', async () => {
    const { tools } = await client.listTools();
    const reading = tools.filter(({ annotations }) => annotations?.readOnlyHint === true);
    expect(tools.map(({ name }) => name)).toEqual([
      'list_agents',
      'read_timeline',
      'spawn_agent',
      'send_message',
      'control_agent',
    ]);
    expect(reading.map(({ name }) => name)).toEqual(['list_agents', 'read_timeline']);
  });

  // `args` had no type: strict clients refused the whole list.
  it('gives each parameter one type, as strict clients ask', async () => {
    const { tools } = await client.listTools();
    for (const { name, inputSchema } of tools) {
      expect([name, inputSchema.type]).toEqual([name, 'object']);
      for (const [parameter, schema] of Object.entries(inputSchema.properties ?? {})) {
        const { type } = schema as { type?: unknown };
        expect([name, parameter, typeof type]).toEqual([name, parameter, 'string']);
      }
      expect(JSON.stringify(inputSchema)).not.toMatch(/anyOf|oneOf|allOf/);
    }
    const spawn = tools.find(({ name }) => name === 'spawn_agent');
    expect(spawn?.inputSchema.properties?.args).toMatchObject({ type: 'object' });
  });

  it("serves a client of the protocol's version of 2026, too", async () => {
    const modern = await connect(system.baseUrl, { pin: '2026-07-28' });
    const { tools } = await modern.listTools();
    const { isError, text } = await call('list_agents', { type: 'none' }, modern);
    await modern.close();
    expect([tools.length, isError, JSON.parse(text)]).toEqual([
      5,
      false,
      { agents: [], hasMore: false },
    ]);
  });

  // It took the path of any stream that the key opens.
  it.each([
    '/streams/t/default/agents/assistant/ada/timeline',
    '/t/default/agents/assistant/ada/timeline',
    '/t/other/a/assistant/ada',
    '/t/default/a/assistant/ada/timeline',
    '/t/default/a/../ada',
    '../x',
    'shared/notes/1',
    '/notes',
    'assistant',
    '',
  ])('reads, sends to and controls no %j', async (agent) => {
    for (const [name, more] of [
      ['read_timeline', {}],
      ['send_message', { text: 'x' }],
      ['control_agent', { verb: 'pause' }],
    ] as const) {
      const { isError, text } = await call(name, { agent, ...more });
      expect([isError, text]).toEqual([
        true,
        expect.stringMatching(/is no (?:agent|entity)|tenant/),
      ]);
    }
  });

  it('spawns, sends, and reads from a cursor what is new, without single words', async () => {
    const agent = 'assistant/ada';
    const spawned = await done<{ url: string }>('spawn_agent', { type: 'assistant', id: 'ada' });
    expect(spawned.url).toBe('/t/default/a/assistant/ada');
    const begin = await done<Part>('read_timeline', { agent, waitSeconds: 45 });
    expect(begin.events.map(({ kind }) => kind)).toEqual(['spawned']);

    await done('send_message', { agent, text: 'count to 5' });
    const kinds: string[] = [];
    let part = begin;
    while (kinds.at(-1) !== 'reply') {
      part = await done<Part>('read_timeline', { agent, cursor: part.cursor, waitSeconds: 45 });
      kinds.push(...part.events.map(({ kind }) => kind));
    }
    expect(kinds).toEqual(['message', 'reply']);
    expect(part.events.at(-1)?.content).toEqual([{ type: 'text', text: '1 2 3 4 5' }]);
    expect(await done('read_timeline', { agent, cursor: part.cursor })).toEqual({
      events: [],
      cursor: part.cursor,
      hasMore: false,
    });
  });

  it('reads a long timeline in parts', async () => {
    const first = await done<Part>('read_timeline', { agent: 'assistant/ada', limit: 2 });
    expect([first.hasMore, ...first.events.map(({ kind }) => kind)]).toEqual([
      true,
      'spawned',
      'message',
    ]);
    const { cursor } = first;
    const rest = await done<Part>('read_timeline', { agent: 'assistant/ada', cursor });
    expect([rest.hasMore, ...rest.events.map(({ kind }) => kind)]).toEqual([false, 'reply']);
  });

  it('ends a wait in which nothing comes with nothing', async () => {
    const all = await done<Part>('read_timeline', { agent: 'assistant/ada' });
    const { cursor } = all;
    const request = { agent: 'assistant/ada', cursor, waitSeconds: 0.2 };
    expect(await done('read_timeline', request)).toEqual({ events: [], cursor, hasMore: false });
  });

  it('controls an agent, and lists agents by type and status', async () => {
    const agent = 'echo/e1';
    await done('spawn_agent', { type: 'echo', id: 'e1' });
    await done('control_agent', { agent, verb: 'archive', reason: 'enough' });
    let part: Part = await done('read_timeline', { agent, waitSeconds: 45 });
    while (part.events.at(-1)?.status !== 'archived') {
      part = await done<Part>('read_timeline', { agent, cursor: part.cursor, waitSeconds: 1 });
    }
    const archived = { type: 'echo', status: 'archived' };
    let listed: { agents: { url: string }[]; hasMore: boolean };
    // The row is written behind the event.
    do listed = await done('list_agents', archived);
    while (listed.agents.length === 0);
    expect(listed.agents.map(({ url }) => url)).toEqual(['/t/default/a/echo/e1']);
    expect(await done('list_agents', { type: 'none' })).toEqual({ agents: [], hasMore: false });
    expect(await done('list_agents', { limit: 1 })).toMatchObject({ hasMore: true });
  });

  it.each<[string, object, RegExp]>([
    ['spawn_agent', { type: 'nobody' }, /^404 entity_type_not_registered: /],
    ['send_message', { agent: 'no address', text: 'x' }, /address|agent/],
    [
      'read_timeline',
      { agent: 'assistant/never' },
      /^404 not_found: assistant\/never has no timeline/,
    ],
    ['read_timeline', { agent: 'assistant/ada', cursor: 'x' }, /^The cursor is none that/],
    ['read_timeline', { agent: 'assistant/ada', waitSeconds: 46 }, /waitSeconds/],
    ['control_agent', { agent: 'assistant/ada', verb: 'explode' }, /verb/],
  ])('%s tells the assistant what is wrong with %j', async (name, request, words) => {
    const { isError, text } = await call(name, request);
    expect([isError, text]).toEqual([true, expect.stringMatching(words)]);
    expect(text).not.toContain(system.apiKey);
  });

  it('says that nothing is at the address', async () => {
    const lost = await connect('http://127.0.0.1:2');
    const { isError, text } = await call('list_agents', {}, lost);
    await lost.close();
    expect([isError, text]).toEqual([true, expect.stringMatching(/^No answer of the gateway: /)]);
  });

  it.each<[string, Record<string, string>, string]>([
    [
      'there is no key for the address',
      { AGENT_GATEWAY_URL: 'http://127.0.0.1:2', GATEWAY_API_KEY: 'a-key-of-the-tests' },
      'there is no API key. Set AGENT_GATEWAY_URL and AGENT_GATEWAY_KEY.',
    ],
    [
      'the address is none',
      { AGENT_GATEWAY_URL: 'gateway', AGENT_GATEWAY_KEY: 'a-key-of-the-tests' },
      'AGENT_GATEWAY_URL must be an http or https URL without user name, query or fragment.',
    ],
    [
      'the address has a password',
      { GATEWAY_URL: 'https://u:secret@x', GATEWAY_API_KEY: 'a-key-of-the-tests' },
      'GATEWAY_URL must be an http or https URL without user name, query or fragment.',
    ],
    [
      'the key has a line end',
      { AGENT_GATEWAY_KEY: 'a-key\nof-the-tests' },
      'the API key holds spaces or characters that no key has.',
    ],
    [
      'the key would go over the network in the clear',
      { AGENT_GATEWAY_URL: 'http://gateway.example', AGENT_GATEWAY_KEY: 'a-key-of-the-tests' },
      'the key is not sent to http://gateway.example in the clear. Give the https address, or set AGENT_GATEWAY_ALLOW_HTTP=1 in a network of your own.',
    ],
    [
      'the tenant is none',
      { AGENT_GATEWAY_KEY: 'a-key-of-the-tests', AGENT_GATEWAY_TENANT: 'a/b' },
      'the tenant must be 1 to 63 letters, digits, underscores or hyphens.',
    ],
  ])('says in one sentence that %s, and does not start', (_, env, words) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN], { env });
    const [line, ...more] = stderr.toString().split('\n');
    expect([status, stdout.toString(), more]).toEqual([2, '', ['']]);
    expect(line).toContain(`agent-gateway-mcp: ${words}`);
    expect(line).not.toContain('secret');
  });
});
