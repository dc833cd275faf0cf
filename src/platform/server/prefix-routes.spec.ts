import { describe, expect, it } from '@jest/globals';
import { prefixRoutes } from './prefix-routes.ts';

const routes = (...patterns: string[]) =>
  prefixRoutes(new Map(patterns.map((pattern) => [pattern, () => pattern])));

describe('prefixRoutes', () => {
  it('are those that take everything below a prefix', () => {
    expect(
      routes('/health', '/streams/{*path}', '/api/:id', '/shapes/{*path}').map(
        ({ prefix }) => prefix,
      ),
    ).toEqual(['/streams/', '/shapes/']);
  });

  it.each([
    '/streams/special',
    '/streams/:id',
    '/:any',
    '/{*all}',
    '/stream{*rest}',
    '/streams',
    '/streams/',
  ])('refuse %s beside one that takes all of it', (pattern) => {
    const message = `the route GET ${pattern} meets GET /streams/{*path}, which takes everything below its prefix`;
    expect(() => routes('/streams/{*path}', pattern)).toThrow(message);
    expect(() => routes(pattern, '/streams/{*path}')).toThrow(message);
  });

  it.each(['/', '/stream', '/streams2/{*path}', '/health/:id'])(
    'let %s be beside it',
    (pattern) => {
      expect(routes('/streams/{*path}', pattern)[0]?.prefix).toBe('/streams/');
    },
  );
});
