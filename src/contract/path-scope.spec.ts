import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pathProblem } from '../platform/http/request-path.ts';
import { isControlPlanePath, parsePathScope, scopeCovers } from './path-scope.ts';

function covers(prefix: string, path: string): boolean {
  const scope = parsePathScope([prefix]);
  if (!scope) throw new Error(`${prefix} is no prefix`);
  return scopeCovers(scope, path);
}

describe('a path scope', () => {
  it.each([
    ['/streams', '/streams/t/acme/x'],
    ['/streams/', '/streams/t/acme/x'],
    ['/streams/t/acme/agents/chat/a1', '/streams/t/acme/agents/chat/a1/timeline'],
    ['/streams/t/acme/agents/chat/a1/', '/streams/t/acme/agents/chat/a1/timeline'],
    ['/streams/t/acme/agents/chat/a1', '/streams/t/acme/agents/chat/a1'],
    ['/streams/t/acme/agents/chat/a1/', '/streams/t/acme/agents/chat/a1'],
    ['/streams/t/acme/agents/chat/a1', '/streams/t/acme/agents/chat/a1/'],
    ['/streams/t/a%6Dce', '/streams/t/%61mce/x'],
    ['/streams/t/a%2520b', '/streams/t/a%2520b/x'],
    ['/shapes/v1/shape', '/shapes/v1/shape'],
    ['/streams/...', '/streams/.../x'],
  ])('of %s covers %s', (prefix, path) => {
    expect(covers(prefix, path)).toBe(true);
  });

  it.each([
    ['/streams/t/acme/agents/chat/a1', '/streams/t/acme/agents/chat/a10/timeline'],
    ['/streams/t/acme/agents/chat/a10', '/streams/t/acme/agents/chat/a1/timeline'],
    ['/streams/t/acme/agents/chat/a1/', '/streams/t/acme/agents/chat/a1.b'],
    ['/streams/t/acme', '/streams/t/acm'],
    ['/streams/t/acme', '/streams/t'],
    ['/streams/t/acme', '/streams/T/acme/x'],
    ['/streams/t/acme', '/streams/x/t/acme'],
    ['/streams/t/acme', '/shapes/t/acme'],
    ['/streams/t/a%2520b', '/streams/t/a%20b'],
    ['/streams/t/a%20b', '/streams/t/a%2520b'],
    ['/streams/t/caf%C3%A9', '/streams/t/cafe%CC%81'],
    ['/shapes/v1', '/streams/v1'],
  ])('of %s does not cover %s', (prefix, path) => {
    expect(covers(prefix, path)).toBe(false);
  });

  it.each([
    '',
    '/',
    '//',
    'streams',
    'streams/t',
    '/streamsx',
    '/Streams/t',
    '/%73treams/t',
    '/streams%2ft',
    '/api',
    '/registry',
    '/health',
    '/streams/../api',
    '/streams/%2e%2e/api',
    '/streams/t/../..',
    '/streams//t',
    '/streams/t\\x',
    '/streams/%00',
    '/streams/a%zz',
    '/streams/a#b',
    '/streams/a b',
    'http://gateway.example/streams',
    '*',
  ])('is not made of the prefix %j', (prefix) => {
    expect(parsePathScope([prefix])).toBeUndefined();
    expect(parsePathScope(['/streams/ok', prefix])).toBeUndefined();
  });

  it('covers what any of its prefixes covers', () => {
    const scope = parsePathScope(['/streams/a', '/streams/b/c']) ?? [];
    expect(
      ['/streams/a/x', '/streams/b/c/x', '/streams/b/x', '/streams/c'].map((path) =>
        scopeCovers(scope, path),
      ),
    ).toEqual([true, true, false, false]);
  });

  it('covers nothing without a prefix', () => {
    expect(scopeCovers([], '/streams')).toBe(false);
  });

  const segment = fc.oneof(
    fc.constantFrom(
      'streams',
      'shapes',
      't',
      'acme',
      'acme2',
      'a',
      'a1',
      'a10',
      '__ds',
      '%61',
      'a%31',
    ),
    fc.constantFrom(
      '..',
      '.',
      '%2e',
      '%2E%2e',
      '%252e%252e',
      '',
      '%2f',
      'a%2Fb',
      '%',
      '%c0%ae',
      '...',
    ),
    fc.string({ maxLength: 4 }),
    fc.string({ maxLength: 3 }).map((text) => encodeURIComponent(text.toWellFormed())),
  );
  const path = fc
    .tuple(fc.constantFrom('/streams', '/shapes', '/api', ''), fc.array(segment, { maxLength: 5 }))
    .map(([root, segments]) => [root, ...segments].join('/'));

  it('never covers a path that comparing whole decoded segments would not', () => {
    fc.assert(
      fc.property(path, path, fc.boolean(), (prefix, other, continuesPrefix) => {
        const asked = continuesPrefix ? prefix + other : other;
        const scope = parsePathScope([prefix]);
        // The gateway refuses a malformed path before it looks at any credential; "?" ends one.
        if (
          !scope ||
          asked.includes('?') ||
          pathProblem(asked) !== undefined ||
          !scopeCovers(scope, asked)
        )
          return;
        const segmentsOf = (text: string): string[] =>
          decodeURIComponent(text.replace(/\/$/, '')).split('/');
        const wanted = segmentsOf(prefix);
        expect(segmentsOf(asked).slice(0, wanted.length)).toEqual(wanted);
        expect(['streams', 'shapes']).toContain(wanted[1]);
        // Nor does a server that resolves the path once more see it elsewhere.
        const resolved = segmentsOf(new URL(`http://upstream.test${asked}`).pathname);
        expect(resolved.slice(0, wanted.length)).toEqual(wanted);
      }),
      { numRuns: 5_000 },
    );
  });

  it('covers every path that continues a prefix by whole segments', () => {
    const plain = fc.stringMatching(/^[A-Za-z0-9_~:@-]{1,6}$/);
    const segments = fc.array(plain, { maxLength: 4 });
    fc.assert(
      fc.property(segments, segments, fc.boolean(), (first, rest, slash) => {
        const prefix = ['/streams', ...first].join('/');
        expect(covers(slash ? `${prefix}/` : prefix, [prefix, ...rest].join('/'))).toBe(true);
      }),
    );
  });
});

describe('isControlPlanePath', () => {
  it.each([
    '/streams/__ds',
    '/streams/__ds/',
    '/streams/__ds/subscriptions/x',
    '/streams/t/__ds/x',
    '/streams/%5f%5fds/x',
    '/streams/_%5Fds/x',
    '/streams/__d%73/x',
    '/streams/%5F%5F%64%73',
    // A second reader may decode once more.
    '/streams/%255f_ds/x',
    '/streams/__%2564s/x',
  ])('is true of %s', (path) => {
    expect(isControlPlanePath(path)).toBe(true);
  });

  it.each([
    '/streams/__dsx',
    '/streams/x__ds',
    '/streams/_ds',
    '/streams/t/__d/s',
    '/streams/a%25',
  ])('is false of %s', (path) => {
    expect(isControlPlanePath(path)).toBe(false);
  });
});
