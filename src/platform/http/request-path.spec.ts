import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeLeniently, pathProblem } from './request-path.ts';

describe('pathProblem', () => {
  it.each([
    '/streams/t/x/../y',
    '/streams/..',
    '/streams/./x',
    '/streams/t/x/%2e%2e/y',
    '/streams/t/x/%2E./y',
    '/streams/t/x/.%2e/y',
    '/streams/%2e',
    '/streams/a%2fb',
    '/streams/a%2Fb',
    '/streams/a%5cb',
    '/streams/a\\b',
    '/streams//a',
    '/streams/a//',
    '/streams/a%00',
    '/streams/a%0d%0aX',
    '/streams/a%1f',
    '/streams/a%7f',
    '/streams/a%C2%80b',
    '/streams/a\u0085b',
    '/streams/a\u00e9',
    '/streams/a#b',
    '/streams/%252e%252e/b',
    '/streams/%252e./b',
    '/streams/%2e%252e/b',
    '/streams/%25%32%65%25%32%65/b',
    '/streams/a%252fb',
    '/streams/a%255Cb',
    '/streams/a%2500b',
    '/streams/a%25C2%2580b',
    '/streams/%25ff%252e%252e/b/%252e%252e/x',
    '/streams/a%zz',
    '/streams/a%',
    '/streams/a%2',
    '/streams/a%ff',
    '/streams/a%c0%ae',
  ])('refuses %j', (path) => {
    expect(pathProblem(path)).toEqual(expect.any(String));
  });

  it.each([
    '/streams/t/default/agents/chat/a1/timeline',
    '/streams/',
    '/streams/t/x/',
    '/streams/...',
    '/streams/a..b',
    '/streams/..a',
    '/streams/a%2eb',
    '/streams/a%20b',
    '/streams/a%2520b',
    '/streams/a%23b',
    '/streams/a%25',
    '/streams/.hidden',
    '/streams/%E2%9C%93',
    "/streams/a:@!$&'()*+,;=~-_b",
  ])('lets %j pass', (path) => {
    expect(pathProblem(path)).toBeUndefined();
  });

  it('lets nothing pass that another reader takes for another path', () => {
    const pieces =
      '/ . .. %2e %2E %25 2e 2f 5C %2f %5c \\ a %61 % %00 00 %c2 %85 %C2%A0 %7f # ~ ...'.split(' ');
    const paths = fc
      .array(fc.constantFrom(...pieces), { maxLength: 8 })
      .map((path) => `/streams/${path.join('')}`);
    const segmentsOf = (path: string): string[] => path.split(/[/\\]/);
    let passed = 0;
    fc.assert(
      fc.property(paths, (path) => {
        if (pathProblem(path) !== undefined) return;
        passed++;
        expect(segmentsOf(new URL(`http://upstream${path}`).pathname)).toEqual(segmentsOf(path));
        const once = decodeLeniently(path);
        for (const reading of [once, decodeLeniently(once)]) {
          const segments = segmentsOf(reading);
          expect(segments).toHaveLength(segmentsOf(path).length);
          expect(segments.slice(1, -1)).not.toContain('');
          expect(segments).not.toContain('.');
          expect(segments).not.toContain('..');
          expect(reading).not.toMatch(/\p{Cc}/u);
        }
      }),
      { numRuns: 5_000 },
    );
    expect(passed).toBeGreaterThan(100);
  });
});
