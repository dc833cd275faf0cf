import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { parseApiKey, SCOPES, type ApiKey } from './api-key.ts';
import { parseApiKeys } from './secret-lists.ts';

const KEY = 'a-key-of-some-length';
const OTHER = 'another-key-of-some-length';
const digest = createHash('sha256').update(KEY).digest();
const hash = `sha256:${digest.toString('hex')}`;

const parsed = (entry: string): ApiKey => parseApiKey(entry) as ApiKey;

describe('an entry of API keys', () => {
  it.each([KEY, hash])(
    'opens everything without attributes, and has a name all the same: %s',
    (entry) => {
      expect(parseApiKey(entry)).toEqual({
        digest,
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
    expect(problemsOf(`${KEY} scopes=commands,${hash}`)).toEqual([
      'entry 2 is the key of another entry; give a key once, with all that it opens',
    ]);
  });

  it('is held against that of the other place', () => {
    const { entries } = parseApiKeys(`${KEY} name=a`, 'variable');
    expect(parseApiKeys(`${OTHER} name=a\n${KEY}`, 'file', entries).problems).toEqual([
      'line 1 has the name of another key',
      'line 2 is the key of another entry; give a key once, with all that it opens',
    ]);
  });
});
