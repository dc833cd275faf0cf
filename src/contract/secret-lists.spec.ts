import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { thrown } from '../../test/support/thrown.ts';
import { ConfigError } from './config-error.ts';
import type { GatewayConfig } from './gateway-config.ts';
import { parseApiKey, type ApiKey } from './api-key.ts';
import { loadConfig } from './load-config.ts';

const API_KEY = 'an-api-key-0123456789';
const SECRET = 'a-read-token-secret-of-over-32-bytes';
const REQUIRED = { GATEWAY_API_KEYS: API_KEY };

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Files by path; any other path does not exist. */
function files(contents: Record<string, string>): (path: string) => string {
  return (path) => {
    const content = contents[path];
    if (content !== undefined) return content;
    throw Object.assign(new Error(`no such file ${path}`), { code: 'ENOENT' });
  };
}

function problemsOf(env: Record<string, string>, readFile = files({})): string[] {
  return thrown(ConfigError, () => loadConfig(env, readFile))?.problems ?? [];
}

describe.each([
  {
    name: 'GATEWAY_API_KEYS',
    list: (config: GatewayConfig) => config.apiKeys,
    one: API_KEY,
    other: 'another-api-key-0123456789',
    parsed: (key: string): object => parseApiKey(key) as ApiKey,
    short: 'fifteen-letters',
    comment: '#a-comment-without-a-space-in-it-0123456789',
    problem: 'must have at least 16 characters, or be sha256:<64 hex digits>',
  },
  {
    name: 'GATEWAY_READ_TOKEN_SECRETS',
    list: (config: GatewayConfig) => config.readTokens.secrets,
    one: SECRET,
    other: `other-${SECRET}`,
    parsed: (secret: string) => Buffer.from(secret),
    short: 'x'.repeat(31),
    comment: '# a comment that has more than 32 bytes',
    problem: 'must have at least 32 bytes',
  },
])('the setting $name', ({ name, list, one, other, parsed, short, comment, problem }) => {
  const fileName = `${name}_FILE`;
  // The other list needs no entry, or has one.
  const env = name === 'GATEWAY_API_KEYS' ? {} : REQUIRED;

  it('takes entries between commas, spaces around them aside, and empty ones not', () => {
    const { entries, hasFile } = list(loadConfig({ ...env, [name]: ` ${one} ,, ${other},` }));
    expect(entries).toEqual([parsed(one), parsed(other)]);
    expect(hasFile).toBe(false);
  });

  it('takes its file form alone, one entry a line', () => {
    const readFile = files({ '/run/list': `\uFEFF${one}\r\n\n  ${other}  \n` });
    expect(list(loadConfig({ ...env, [fileName]: '/run/list' }, readFile))).toMatchObject({
      setting: fileName,
      hasFile: true,
      entries: [parsed(one), parsed(other)],
    });
  });

  // A comment without spaces was a key, and a comment of 32 bytes was a secret that signs read tokens.
  it('takes lines of its file that begin with # for comments, and nothing else', () => {
    const env = { [fileName]: '/run/list', ...(name === 'GATEWAY_API_KEYS' ? {} : REQUIRED) };
    const problemsIn = (text: string) => problemsOf(env, files({ '/run/list': text }));
    expect(problemsIn(`\uFEFF${comment}\r\n#\n${one}\n${comment}`)).toEqual([]);
    expect(problemsIn(`${one}\n ${comment}`)).toEqual([
      expect.stringMatching(new RegExp(`^${fileName} line 2 must`)),
    ]);
    expect(problemsIn(comment)).toEqual([`${fileName} must hold at least one entry, one a line`]);
    expect(problemsOf({ ...REQUIRED, [name]: `${one},${comment}` })).toEqual([
      expect.stringMatching(new RegExp(`^${name} entry 2 must`)),
    ]);
  });

  // Each line of a wrong file had a message of its own: a file of 1 MiB made a message of 40 MiB.
  it('names sixteen wrong entries, and counts the others', () => {
    const problems = problemsOf({ ...REQUIRED, [name]: Array(20).fill(short).join(',') });
    expect(problems).toHaveLength(17);
    expect(problems.at(-1)).toBe(`${name} has 4 more wrong entries`);
  });

  it('counts both forms when both are there', () => {
    const readFile = files({ '/run/list': other });
    const config = loadConfig({ ...env, [name]: one, [fileName]: '/run/list' }, readFile);
    expect(list(config).entries).toEqual([parsed(one), parsed(other)]);
  });

  it('names each bad entry by its place, in the variable and in the file', () => {
    const readFile = files({ '/run/list': `${one}\n\n${short}\n${short}` });
    expect(
      problemsOf({ ...env, [name]: `${one},${short}`, [fileName]: '/run/list' }, readFile),
    ).toEqual([
      `${name} entry 2 ${problem}`,
      `${fileName} line 3 ${problem}`,
      `${fileName} line 4 ${problem}`,
    ]);
  });

  it('refuses a file that cannot be read or holds nothing', () => {
    const readFile = files({ '/run/empty': ' \n\n' });
    expect(problemsOf({ ...env, [fileName]: '/run/missing' }, readFile)).toEqual([
      `${fileName} must be a readable file (ENOENT)`,
    ]);
    expect(problemsOf({ ...env, [name]: one, [fileName]: '/run/empty' }, readFile)).toEqual([
      `${fileName} must hold at least one entry, one a line`,
    ]);
  });

  it('counts an empty variable and an empty file name as unset', () => {
    const config = loadConfig({ ...REQUIRED, [name]: one, [fileName]: '' });
    expect(list(config)).toMatchObject({ setting: name, hasFile: false, entries: [parsed(one)] });
  });
});

describe('an API key', () => {
  const digest = sha256(API_KEY).toString('hex');

  it('takes a digest for the key itself, in digits of either case', () => {
    const keys = `sha256:${digest},sha256:${digest.toUpperCase()}`;
    const { entries } = loadConfig({ GATEWAY_API_KEYS: keys }).apiKeys;
    expect(entries.map((key) => key.digest)).toEqual([sha256(API_KEY), sha256(API_KEY)]);
  });

  it.each([
    'sha256:',
    `sha256:${digest.slice(1)}`,
    `sha256:${digest}0`,
    `sha256:g${digest.slice(1)}`,
  ])('refuses the digest %j instead of taking it for a key', (entry) => {
    expect(problemsOf({ GATEWAY_API_KEYS: entry })).toEqual([
      'GATEWAY_API_KEYS entry 1 must have 64 hex digits after sha256:',
    ]);
  });
});

describe('a secret of read tokens', () => {
  // Lines in a variable were one secret: no token that a back end signed with one of them was valid.
  it('is one line without control characters', () => {
    const lines = `${SECRET}\n${SECRET}`;
    expect(problemsOf({ ...REQUIRED, GATEWAY_READ_TOKEN_SECRETS: lines })).toEqual([
      'GATEWAY_READ_TOKEN_SECRETS entry 1 must not have line ends or other control characters',
    ]);
  });
});
