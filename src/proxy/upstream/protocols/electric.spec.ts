import { describe, expect, it } from '@jest/globals';
import { durableStreams } from './durable-streams.ts';
import { electric } from './electric.ts';

describe('the key of a shape read', () => {
  it.each([
    ['/v1/shape?table=t&cursor=5', '/v1/shape?table=t'],
    ['/v1/shape?cursor=5&table=t', '/v1/shape?table=t'],
    ['/v1/shape?a=1&cursor=12345678901&b=2', '/v1/shape?a=1&b=2'],
    ['/v1/shape?a=1&cursor=1&cursor=2', '/v1/shape?a=1'],
  ])('of %s is that of %s', (target, expected) => {
    expect(electric.targetForKey(target)).toBe(expected);
  });

  it.each([
    '/v1/shape?table=t',
    '/v1/shape',
    '/v1/shape?cursor=abc',
    '/v1/shape?cursor=',
    '/v1/shape?cursor=-1',
    '/v1/shape?cursor=1;live=true',
    '/v1/shape?%63ursor=1',
    '/v1/shape?xcursor=1',
    '/v1/shape?cursor[]=1',
    '/v1/shape?where=a=%27cursor=1%27',
    '/v1/shape?where=x?cursor=1',
    '/v1/shape&cursor=1',
    '/v1/shape&cursor=1/x?table=t',
  ])('of %s is the whole of it', (target) => {
    expect(electric.targetForKey(target)).toBe(target);
  });

  it('is another thing to the history store, whose cursor is its own', () => {
    const target = '/v1/stream/x?offset=1_1&live=long-poll&cursor=5';
    expect(durableStreams.targetForKey(target)).toBe(target);
  });
});
