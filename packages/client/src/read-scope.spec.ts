import { describe, expect, it } from '@jest/globals';
import { ReadScope } from './read-scope.ts';

const timeline = (id: string): string => `/streams/t/default/agents/chat/${id}/timeline`;

describe('what a page reads', () => {
  it('is what its tokens are asked for', () => {
    const scope = new ReadScope();
    for (const path of [timeline('a'), timeline('b'), '/shapes/v1/shape', timeline('a')]) {
      scope.see(path);
    }
    expect(scope.wasAskedFor(timeline('a'))).toBe(false);
    expect(scope.next()).toEqual({ agents: ['chat/b', 'chat/a'], catalog: true });
    expect(scope.wasAskedFor(timeline('a'))).toBe(true);
    expect(scope.wasAskedFor('/shapes/v1/shape')).toBe(true);
    expect(scope.wasAskedFor(timeline('c'))).toBe(false);
    // No token is for another stream.
    scope.see('/streams/shared/notes');
    expect(scope.wasAskedFor('/streams/shared/notes')).toBe(true);
  });

  it('drops at the seventeenth what was not read for the longest time', () => {
    const scope = new ReadScope();
    const ids = Array.from({ length: 16 }, (_, index) => `a${index}`);
    for (const id of ids) scope.see(timeline(id));
    scope.see(timeline('a0'));
    scope.see(timeline('new'));
    const kept = [...ids.slice(2), 'a0', 'new'].map((id) => `chat/${id}`);
    expect(scope.next().agents).toEqual(kept);
    scope.see('/shapes/v1/shape');
    expect(scope.next()).toEqual({ agents: kept.slice(1), catalog: true });
  });
});
