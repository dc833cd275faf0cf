import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { isKey, parseApiKey, SCOPES, type ApiKey } from './api-key.ts';
import { parseApiKeys } from './secret-lists.ts';

const KEY = 'a-key-of-some-length';
const OTHER = 'another-key-of-some-length';
const digest = createHash('sha256').update(KEY).digest();
const hash = `sha256:${digest.toString('hex')}`;

const parsed = (entry: string): ApiKey => parseApiKey(entry) as ApiKey;

describe('a key', () => {
  it.each([
    'x'.repeat(16),
    'x'.repeat(256),
    'AZaz09._~+/=-'.replace('=', '') + '0123',
    'dGhlIGtleSBpbiBiYXNlNjQ=',
    'dGhlIGtleSBpbiBiYXNlNjQ6==',
    '+/begins-with-a-plus',
    '-begins-with-a-hyphen',
    '~_sha256-in-the-middle',
    '0'.repeat(64),
  ])('may be %s', (key) => {
    expect(isKey(key)).toBe(true);
    expect(parseApiKey(key)).toHaveProperty('digest');
  });

  // Each was a key that opened everything: a piece of a list of paths, a wrapped attribute, a comment, a digest.
  it.each([
    '',
    'x'.repeat(15),
    'x'.repeat(257),
    '/streams/t/partners',
    './streams/t/partners',
    'scopes=streams:read',
    'name=agents-of-the-house',
    'paths=/streams/t/acme',
    'streams:read+streams:write',
    '#comment-without-spaces',
    `SHA256:${'5e'.repeat(32)}`,
    `Sha256-${'5e'.repeat(32)}`,
    `sha256${'5e'.repeat(32)}`,
    `sha256=${'5e'.repeat(32)}`,
    `sha256:${'5e'.repeat(31)}`,
    `sha256:${'5e'.repeat(33)}`,
    `sha256:${'5g'.repeat(32)}`,
    `sha256: ${'5e'.repeat(32)}`,
    '================',
    '=begins-with-equals',
    'equals=in-the-middle',
    '"a-key-in-double-quotes"',
    "'a-key-in-single-quotes'",
    'a-key-that-ends-in-a"',
    'a-key,with-a-comma',
    'a-key;with-a-semicolon',
    'a-key:with-a-colon',
    'a-key@with-an-at',
    'a-key%20with-a-percent',
    'a-key*with-an-asterisk',
    'schlüssel-mit-umlaut',
    'a-key-with\u00a0a-hard-space',
    'a-key-with\na-line-end',
    'a-key-with-a-line-end\n',
    'a-key-with-a-nul\0',
    '\uFEFFa-key-with-a-mark',
  ])('is never %j', (text) => {
    expect(isKey(text)).toBe(false);
    const problems = parseApiKey(text) as string[];
    expect(problems.length).toBeGreaterThan(0);
    // The message says what a key is, and nothing of this one.
    expect(problems[0]).toMatch(/^must (?:have|be) /);
    if (text.length > 16) expect(problems.join()).not.toContain(text.slice(0, 16));
  });
});

describe('an entry of API keys', () => {
  it.each([KEY, hash])(
    'opens everything without attributes, and has a name all the same: %s',
    (entry) => {
      expect(parseApiKey(entry)).toEqual({
        digest,
        length: entry === KEY ? KEY.length : undefined,
        name: `key-${digest.toString('hex').slice(0, 8)}`,
        isNamed: false,
        scopes: new Set(SCOPES),
        paths: undefined,
      });
    },
  );

  it('has a name, scopes and paths, in any order and with any spaces between', () => {
    expect(
      parseApiKey(
        `${hash}  paths=/streams/t/a+/streams/t/b%20c/ \t scopes=streams:read+commands name=agents`,
      ),
    ).toEqual({
      digest,
      name: 'agents',
      isNamed: true,
      scopes: new Set(['streams:read', 'commands']),
      paths: [
        ['streams', 't', 'a'],
        ['streams', 't', 'b c'],
      ],
    });
  });

  it('has a name of 32 characters and 16 paths at most', () => {
    const paths = Array.from({ length: 16 }, (_, index) => `/streams/${index}`);
    const key = parsed(`${KEY} name=${'a'.repeat(32)} paths=${paths.join('+')}`);
    expect([key.name, key.paths]).toEqual([
      'a'.repeat(32),
      paths.map((path) => path.slice(1).split('/')),
    ]);
  });

  it('opens nothing but the scopes that it names, whichever they are', () => {
    for (let bits = 1; bits < 1 << SCOPES.length; bits++) {
      const named = SCOPES.filter((_, index) => bits & (1 << index));
      expect([...parsed(`${KEY} scopes=${named.join('+')}`).scopes]).toEqual(named);
    }
  });

  it.each([
    ['name=', 'must have a name'],
    ['name=Agents', 'must have a name'],
    ['name=-a', 'must have a name'],
    [`name=${'a'.repeat(33)}`, 'must have a name'],
    ['name=read-token', 'must have a name'],
    ['name=a name=b', 'has name= twice'],
    ['scopes=', 'has scopes= whose value 1 is none'],
    ['scopes=commands+', 'has scopes= whose value 2 is none'],
    ['scopes=streams', 'has scopes= whose value 1 is none'],
    ['scopes=Commands', 'has scopes= whose value 1 is none'],
    ['scopes=commands,streams:read', 'has scopes= whose value 1 is none'],
    ['scopes=constructor', 'has scopes= whose value 1 is none'],
    ['paths=', 'has paths= whose value 1 is no path'],
    ['paths=/', 'has paths= whose value 1 is no path'],
    ['paths=/shapes/v1', 'has paths= whose value 1 is no path'],
    ['paths=/streamsX', 'has paths= whose value 1 is no path'],
    ['paths=/streams/a+/streams/../b', 'has paths= whose value 2 is no path'],
    ['paths=/streams/%2e%2e/b', 'has paths= whose value 1 is no path'],
    ['paths=/streams//b', 'has paths= whose value 1 is no path'],
    // Each was one path with these characters in its name.
    ['paths=/streams/a,/streams/b', 'has paths= whose value 1 is no path'],
    ['paths=/streams/a;/streams/b', 'has paths= whose value 1 is no path'],
    ['paths=/streams/a"', 'has paths= whose value 1 is no path'],
    ['paths=/streams/a=b', 'has paths= whose value 1 is no path'],
    [
      `paths=${Array.from({ length: 17 }, (_, i) => `/streams/${i}`).join('+')}`,
      'has more than 16 paths',
    ],
    ['scopes=commands paths=/streams/a', 'has paths=, which narrows'],
    ['rate=5', 'has something else than'],
    ['agents', 'has something else than'],
  ])('is refused with %s', (attributes, problem) => {
    const problems = parseApiKey(`${KEY} ${attributes}`) as string[];
    expect(problems).toEqual([expect.stringContaining(problem)]);
  });

  it('says all that is wrong at once, and repeats nothing of it', () => {
    const problems = parseApiKey(
      'short secret-word name=BAD scopes=sesame paths=/elsewhere',
    ) as string[];
    expect(problems).toHaveLength(5);
    expect(problems.join(' ')).not.toMatch(/secret-word|BAD|sesame|elsewhere/);
  });
});

describe('a list of API keys', () => {
  const problemsOf = (list: string): string[] => parseApiKeys(list, 'variable').problems;

  it('has each name once', () => {
    expect(problemsOf(`${KEY} name=a,${OTHER} name=a`)).toEqual([
      'entry 2 has the name of another key',
    ]);
  });

  it('has a key twice only where it opens everything both times', () => {
    expect(problemsOf(`${KEY},${hash}`)).toEqual([]);
    expect(problemsOf(`${KEY} name=a scopes=commands,${hash} name=b`)).toEqual([
      'entry 2 is the key of another entry; give a key once, with all that it opens',
    ]);
  });

  it('is held against that of the other place', () => {
    const { entries } = parseApiKeys(`${KEY} name=a`, 'variable');
    expect(parseApiKeys(`${OTHER} name=a\n${KEY} name=b`, 'file', entries).problems).toEqual([
      'line 1 has the name of another key',
      'line 2 is the key of another entry; give a key once, with all that it opens',
    ]);
  });

  // A line that was wrapped before scopes= gave the key every scope.
  it('has a name for every entry where any has attributes, in one place of the setting', () => {
    const missing = 'must have a name=, as every entry of a list in which any has attributes';
    expect(problemsOf(`${OTHER},${KEY} name=a`)).toEqual([`entry 1 ${missing}`]);
    expect(problemsOf(`${KEY} scopes=commands`)).toEqual([`entry 1 ${missing}`]);
    expect(problemsOf(`${KEY},${OTHER}`)).toEqual([]);
    const { entries } = parseApiKeys(KEY, 'variable');
    expect(parseApiKeys(`${OTHER} name=a`, 'file', entries).problems).toEqual([]);
    expect(parseApiKeys(`${OTHER} name=a\n${KEY}0`, 'file').problems).toEqual([
      `line 2 ${missing}`,
    ]);
  });

  // Each entry was compared with every other one, which took minutes.
  it('may have as many entries as its file can hold', () => {
    const keys = Array.from({ length: 60_000 }, (_, index) => `${index}`.padStart(16, '0'));
    expect(parseApiKeys(keys.join('\n'), 'file').entries).toHaveLength(60_000);
  });
});
