import { describe, expect, it } from '@jest/globals';
import { liveModeOf } from './live-read.ts';

describe('liveModeOf', () => {
  it.each([
    ['', undefined],
    ['?offset=-1', undefined],
    ['?live=false', undefined],
    ['?alive=true', undefined],
    ['?offset=-1&live=long-poll', 'long-poll'],
    ['?live=true', 'long-poll'],
    ['?live=true&table=entities', 'long-poll'],
    ['?live=sse', 'sse'],
    ['?live=sse&offset=now', 'sse'],
    ['?table=entities&live=true&live_sse=true', 'sse'],
    ['?experimental_live_sse=true&live=true', 'sse'],
    ['?live=true&live_sse=false', 'long-poll'],
  ])('takes %j for %s', (query, mode) => {
    expect(liveModeOf(query)).toBe(mode);
  });
});
