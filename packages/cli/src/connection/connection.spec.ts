import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Notices } from '../output/notices.ts';
import { openConnection, type ConnectionFlags } from './connection.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cli-connection-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const PROFILES = {
  default: 'local',
  profiles: {
    local: { url: 'http://127.0.0.1:8787/', key: 'local-key-0123456789' },
    prod: { url: 'https://gateway.example/base/', keyFile: 'prod.key', tenant: 'acme' },
    bare: { url: 'https://bare.example' },
  },
};

/** Writes a configuration file, for its owner alone unless a mode says otherwise. */
function config(content: unknown, mode = 0o600): string {
  const path = join(mkdtempSync(join(folder, 'config-')), 'config.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode });
  writeFileSync(join(path, '../prod.key'), 'prod-key-0123456789\n', { mode: 0o600 });
  return path;
}

/** What a connection comes to, with the key in the open. */
async function open(
  flags: ConnectionFlags,
  env: Record<string, string> = {},
  input = '',
): Promise<object> {
  const { credential, ...connection } = await openConnection(flags, {
    env: { HOME: folder, ...env },
    stdin: Readable.from([Buffer.from(input)]),
    stdout: new Writable(),
    notices: new Notices(new Writable()),
    interrupted: new AbortController().signal,
    exitCode: 0,
    endWithReader: () => undefined,
    watchReader: () => undefined,
  });
  return { ...connection, key: credential?.value, keyFrom: credential?.from };
}

describe('which gateway, and as whom', () => {
  const env = {
    AGENT_GATEWAY_URL: 'https://env.example',
    AGENT_GATEWAY_KEY: 'env-key-0123456789',
    AGENT_GATEWAY_TENANT: 'env',
  };
  const local = {
    GATEWAY_URL: 'http://127.0.0.1:1234',
    GATEWAY_API_KEY: 'dev-key-0123456789',
    GATEWAY_TENANT: 'dev',
  };

  it('is the one of npm run local where nothing names one', async () => {
    expect(await open({})).toEqual({
      url: 'http://127.0.0.1:8787',
      urlFrom: 'the default',
      tenant: undefined,
      key: undefined,
      keyFrom: undefined,
      warnings: [],
    });
  });

  it('goes by flags first, then a profile that a flag names, then the environment, then a profile', async () => {
    const AGENT_GATEWAY_CONFIG = config(PROFILES);
    const fromProfile = { url: 'http://127.0.0.1:8787', key: 'local-key-0123456789' };
    const fromEnv = { url: 'https://env.example', key: 'env-key-0123456789', tenant: 'env' };
    const named = {
      url: 'https://gateway.example/base',
      key: 'prod-key-0123456789',
      tenant: 'acme',
    };
    expect(await open({}, { AGENT_GATEWAY_CONFIG })).toMatchObject(fromProfile);
    expect(await open({}, { AGENT_GATEWAY_CONFIG, AGENT_GATEWAY_PROFILE: 'prod' })).toMatchObject(
      named,
    );
    expect(await open({}, { AGENT_GATEWAY_CONFIG, ...local })).toMatchObject({
      url: 'http://127.0.0.1:1234',
      key: 'dev-key-0123456789',
      tenant: 'dev',
    });
    expect(await open({}, { AGENT_GATEWAY_CONFIG, ...local, ...env })).toMatchObject(fromEnv);
    // A key of the environment must not go to the profile that the user has just named.
    expect(await open({ profile: 'prod' }, { AGENT_GATEWAY_CONFIG, ...env })).toMatchObject(named);
    const flags = { url: 'https://flag.example', key: 'flag-key-0123456789', tenant: 'flag' };
    expect(
      await open({ ...flags, profile: 'prod' }, { AGENT_GATEWAY_CONFIG, ...env }),
    ).toMatchObject(flags);
  });

  it('finds the file below XDG_CONFIG_HOME, and below the home folder', async () => {
    for (const [name, path] of [
      ['XDG_CONFIG_HOME', ''],
      ['HOME', '.config'],
    ] as const) {
      const home = mkdtempSync(join(folder, 'home-'));
      mkdirSync(join(home, path, 'agent-gateway'), { recursive: true });
      const file = join(home, path, 'agent-gateway/config.json');
      writeFileSync(file, JSON.stringify(PROFILES), { mode: 0o600 });
      expect(await open({}, { [name]: home })).toMatchObject({ key: 'local-key-0123456789' });
    }
  });

  it('reads the key from standard input or a file, whose first line counts', async () => {
    expect(await open({ keyFile: '-' }, {}, '\n  a-key-0123456789 \n')).toMatchObject({
      key: 'a-key-0123456789',
      keyFrom: 'the standard input',
    });
    const file = join(folder, 'key');
    writeFileSync(file, 'file-key-0123456789\nsecond\n', { mode: 0o600 });
    expect(await open({}, { AGENT_GATEWAY_KEY_FILE: file })).toMatchObject({
      key: 'file-key-0123456789',
      keyFrom: `the file ${file}`,
      warnings: [],
    });
  });

  it('warns of a key that others can read', async () => {
    const file = join(folder, 'open-key');
    writeFileSync(file, 'file-key-0123456789\n', { mode: 0o644 });
    const warning = (path: string): string =>
      `${path} holds a key and can be read by others: chmod 600 ${path}`;
    expect(await open({ keyFile: file })).toMatchObject({ warnings: [warning(file)] });
    const path = config(PROFILES, 0o640);
    expect(await open({ config: path })).toMatchObject({ warnings: [warning(path)] });
    // No key of this file is used.
    expect(await open({ config: path, profile: 'bare' })).toMatchObject({ warnings: [] });
  });

  it("gives a profile's key to its own address only", async () => {
    const config_ = config(PROFILES);
    await expect(open({ config: config_, url: 'https://evil.example' })).rejects.toMatchObject({
      exitCode: 2,
      message:
        'The key of the profile "local" is for http://127.0.0.1:8787, not for https://evil.example.',
    });
    const elsewhere = { AGENT_GATEWAY_URL: 'https://evil.example' };
    await expect(open({ config: config_ }, elsewhere)).rejects.toMatchObject({ exitCode: 2 });
    const here = { config: config_, url: 'http://127.0.0.1:8787/behind' };
    expect(await open(here)).toMatchObject({ key: 'local-key-0123456789' });
    const own = { config: config_, url: 'https://evil.example', key: 'own-key-0123456789' };
    expect(await open(own)).toMatchObject({ key: 'own-key-0123456789' });
  });

  it("gives the environment's key to the environment's address only, and says where one without address goes", async () => {
    await expect(open({ url: 'https://evil.example' }, env)).rejects.toMatchObject({
      exitCode: 2,
      message:
        'The key of AGENT_GATEWAY_KEY is for https://env.example, not for https://evil.example.',
    });
    const { AGENT_GATEWAY_KEY } = env;
    expect(await open({ url: 'https://other.example' }, { AGENT_GATEWAY_KEY })).toMatchObject({
      key: 'env-key-0123456789',
      warnings: [
        'the key from AGENT_GATEWAY_KEY goes to https://other.example, which is the address from --url.',
      ],
    });
    expect(await open({ url: 'https://env.example/behind' }, env)).toMatchObject({ warnings: [] });
  });

  it.each<[string, unknown, string]>([
    ['no JSON', '{"key": "very-secret', 'is not JSON.'],
    ['no object', '[]', 'must hold a JSON object.'],
    ['an unknown field', { profile: {} }, 'has the unknown field "profile"; known are default'],
    ['a default that is none', { default: 1 }, '"default" must be the name of a profile.'],
    ['profiles that are none', { profiles: [] }, '"profiles" must be an object.'],
    ['a profile that is none', { profiles: { x: 'y' } }, 'the profile "x" must be an object.'],
    [
      'a typing error',
      { profiles: { x: { uri: 'http://x' } } },
      'the profile "x" has the unknown field "uri"; known are url, tenant, key, keyFile, scopes, allowHttp.',
    ],
    ['a number', { profiles: { x: { url: 1 } } }, 'the profile "x": "url" must be a text.'],
    ['no address', { profiles: { x: { key: 'k' } } }, 'the profile "x" has no "url".'],
    [
      'a scope that there is not',
      { profiles: { x: { url: 'http://x', scopes: 'commands+everything' } } },
      'the profile "x" has scopes= whose value 2 is none; there are commands,',
    ],
    [
      'two keys',
      { profiles: { x: { url: 'http://x', key: 'very-secret', keyFile: 'f' } } },
      'the profile "x" has both "key" and "keyFile": give one of them.',
    ],
    [
      'a default that is not there',
      { default: 'y', profiles: { x: { url: 'http://x' } } },
      'There is no profile "y" in ',
    ],
  ])(
    'says what is wrong with a file that holds %s, and never a key',
    async (_, content, message) => {
      const refused = open({ config: config(content) });
      await expect(refused).rejects.toMatchObject({
        exitCode: 2,
        message: expect.stringContaining(message),
      });
      await expect(refused).rejects.not.toMatchObject({
        message: expect.stringContaining('very-secret'),
      });
    },
  );

  it.each([
    'gateway.example',
    'ftp://gateway.example',
    'https://user:very-secret@gateway.example',
    'https://gateway.example?key=very-secret',
    'https://gateway.example#x',
  ])('refuses the address %s without repeating it', async (url) => {
    const refused = open({}, { AGENT_GATEWAY_URL: url });
    await expect(refused).rejects.toMatchObject({
      exitCode: 2,
      message:
        'The address from AGENT_GATEWAY_URL must be an http or https URL without user name, query or ' +
        'fragment, such as https://gateway.example.',
    });
  });
});

describe('a key over plain HTTP', () => {
  const key = 'a-key-0123456789';

  // A mistyped address sent the key over the network in the clear.
  it.each([
    'http://gateway.example',
    'http://10.0.0.7:8787',
    'http://127.0.0.1.example',
    'http://localhost.example',
    'http://[::2]:8787',
    'http://gateway:8787',
  ])('does not go to %s', async (url) => {
    const refused = { exitCode: 2, message: expect.stringContaining(`is not sent to ${url}`) };
    await expect(open({ url, key })).rejects.toMatchObject(refused);
    await expect(
      open({}, { AGENT_GATEWAY_URL: url, AGENT_GATEWAY_KEY: key }),
    ).rejects.toMatchObject(refused);
    await expect(
      open({}, { GATEWAY_URL: url, GATEWAY_API_KEY: key, AGENT_GATEWAY_ALLOW_HTTP: 'false' }),
    ).rejects.toMatchObject(refused);
    // Without a key nothing is secret.
    expect(await open({ url })).toMatchObject({ url, key: undefined });
  });

  it.each([
    'http://127.0.0.1:8787',
    'http://127.1',
    'http://0x7f000001',
    'http://localhost:1',
    'http://p1.localhost:8787',
    'http://[::1]:8787',
    'https://gateway.example',
  ])('goes to %s', async (url) => {
    expect(await open({ url, key })).toMatchObject({ key });
  });

  it('goes where a flag, the variable or the profile of the address allows it', async () => {
    const url = 'http://gateway:8787';
    expect(await open({ url, key, allowHttp: true })).toMatchObject({ url, key });
    for (const AGENT_GATEWAY_ALLOW_HTTP of ['1', 'true', 'TRUE']) {
      const env = { GATEWAY_URL: url, GATEWAY_API_KEY: key, AGENT_GATEWAY_ALLOW_HTTP };
      expect(await open({}, env)).toMatchObject({ url, key });
    }
    const profiles = { here: { url, key, allowHttp: true }, there: { url, key } };
    const path = config({ profiles });
    expect(await open({ config: path, profile: 'here' })).toMatchObject({ url, key });
    const there = open({ config: path, profile: 'there' });
    await expect(there).rejects.toMatchObject({ exitCode: 2 });
    // What one profile allows is allowed for its own address only.
    const elsewhere = open({ config: path, profile: 'here', url: 'http://other:1', key });
    await expect(elsewhere).rejects.toMatchObject({ exitCode: 2 });
  });

  it('names a variable and a field that are neither yes nor no', async () => {
    const url = 'http://gateway:8787';
    await expect(open({ url, key }, { AGENT_GATEWAY_ALLOW_HTTP: 'yes' })).rejects.toMatchObject({
      message: 'AGENT_GATEWAY_ALLOW_HTTP must be 1 or 0.',
    });
    const path = config({ profiles: { x: { url, key, allowHttp: 'true' } } });
    await expect(open({ config: path, profile: 'x' })).rejects.toMatchObject({
      message: expect.stringContaining('"allowHttp" must be true or false.'),
    });
  });
});
