import { describe, expect, it } from '@jest/globals';
import { durableStreams } from './durable-streams.ts';
import { electric } from './electric.ts';
import { isFromNow } from './live-parameter.ts';

describe('liveModeOf', () => {
  it.each([
    ['', undefined],
    ['?offset=-1', undefined],
    ['?live=false', undefined],
    ['?alive=true', undefined],
    ['?live=true', 'long-poll'],
    ['?live=true&table=entities', 'long-poll'],
    ['?live=anything', 'long-poll'],
    // Electric reads the last of several: such a read lost its response at the deadline of other reads.
    ['?live=false&live=true', 'long-poll'],
    ['?live=true&live=false', 'long-poll'],
    ['?live=false&live=false', undefined],
    ['?live=falsehood', 'long-poll'],
  ])('takes %j for %s, whichever the protocol', (query, mode) => {
    expect([durableStreams.liveModeOf(query), electric.liveModeOf(query)]).toEqual([mode, mode]);
  });

  it.each([
    ['?offset=-1&live=long-poll', 'long-poll'],
    ['?live=sse', 'sse'],
    ['?live=sse&offset=now', 'sse'],
  ])('takes %j of a stream for %s', (query, mode) => {
    expect(durableStreams.liveModeOf(query)).toBe(mode);
  });

  it.each([
    ['?table=entities&live=true&live_sse=true', 'sse'],
    ['?experimental_live_sse=true&live=true', 'sse'],
    ['?live=true&live_sse=false', 'long-poll'],
    ['?live_sse=true', undefined],
  ])('takes %j of a shape for %s', (query, mode) => {
    expect(electric.liveModeOf(query)).toBe(mode);
  });
});

describe('isSurelyLive', () => {
  it.each([
    ['/v1/stream/x?live=long-poll', true, false],
    ['/v1/stream/x?offset=1&live=sse', true, false],
    ['/v1/shape?live=true&offset=0_0', false, true],
    ['/v1/shape?live=yes', false, false],
    ['/x?live=true&live=true', false, false],
    ['/x?live=sse&live=long-poll', false, false],
    ['/x?l%69ve=sse', false, false],
    ['/x?alive=sse', false, false],
    ['/x?live=', false, false],
    ['/x', false, false],
    // What looks like a parameter in the path was taken for one.
    ['/x&live=sse', false, false],
    ['/x&live=true', false, false],
  ])('of %s is %s of a stream and %s of a shape', (target, isOfStream, isOfShape) => {
    expect([durableStreams.isSurelyLive(target), electric.isSurelyLive(target)]).toEqual([
      isOfStream,
      isOfShape,
    ]);
  });
});

describe('isFromNow', () => {
  it.each([
    ['/x?offset=now', true],
    ['/x?live=sse&offset=now&x', true],
    ['/x?offset=nowhere', false],
    ['/x?offset=-1', false],
  ])('of %s is %s', (target, expected) => {
    expect(isFromNow(target)).toBe(expected);
  });
});
