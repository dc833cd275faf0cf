import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pathProblem } from '../../platform/http/request-path.ts';
import { upstreamTarget, type MappedPaths } from './upstream-target.ts';

const ORIGIN = 'http://upstream.test:4437';

/** Pieces that some reader of a URL takes for something else than a name. */
const piece = fc.oneof(
  fc.constantFrom('/', '//', '\\', '.', '..', '...', '%2e', '%2E', '%2f', '%5C', '%25', '%252e'),
  fc.constantFrom(
    '%00',
    '%0d%0a',
    '%c0%ae',
    '%',
    '%zz',
    '@',
    ':',
    '?',
    '#',
    ';',
    '&',
    '=',
    ' ',
    '\t',
  ),
  fc.constantFrom(
    'http://evil.test',
    '//evil.test',
    '@evil.test',
    '\r\nHost: evil',
    '\u00e9',
    '\u2025',
  ),
  fc.constantFrom('%E2%80%A5', '%EF%BC%8E', '%ef%bc%8f', '%u002e', '%2%65', '%%32e', '%25%32%65'),
  fc.string({ unit: 'binary', maxLength: 3 }),
  fc.constantFrom('t', 'default', 'agents', 'timeline'),
);
const tail = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(''));
const base = fc.constantFrom('', '/v1/stream', '/a/b/c');

function upstreamAt(basePath: string): MappedPaths {
  return { prefix: '/streams', basePath };
}

/** How a server may read a path: as it is, or decoded, once or twice. */
function readings(path: string): string[] {
  const all = [path];
  for (let i = 0; i < 2; i++) {
    try {
      all.push(decodeURIComponent(all.at(-1) ?? ''));
    } catch {
      break;
    }
  }
  return all;
}

describe('upstreamTarget', () => {
  it('never leaves the origin or the base path of the upstream, whatever the bytes, however they are read', () => {
    fc.assert(
      fc.property(base, tail, tail, (basePath, name, query) => {
        const path = `/streams/${name.split('?')[0]}`;
        fc.pre(pathProblem(path) === undefined);
        const target = upstreamTarget(upstreamAt(basePath), path, `?${query}`);
        for (const reading of readings(target.split('?')[0] ?? '')) {
          const url = new URL(ORIGIN + reading);
          expect(url.origin).toBe(ORIGIN);
          expect(`${url.pathname}/`.startsWith(`${basePath}/`)).toBe(true);
          // Nothing was resolved away: as many segments as were judged.
          expect(url.pathname.split('/')).toHaveLength(
            basePath.split('/').length + path.split('/').length - 2,
          );
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('sends the very bytes that were judged', () => {
    fc.assert(
      fc.property(base, tail, tail, (basePath, name, query) => {
        const path = `/streams/${name}`;
        expect(upstreamTarget(upstreamAt(basePath), path, query)).toBe(
          `${basePath}/${name}${query}`,
        );
      }),
    );
  });
});
