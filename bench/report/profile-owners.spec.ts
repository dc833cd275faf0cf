import { describe, expect, it } from '@jest/globals';
import { ownersOf, ownersTable, type CpuProfile } from './profile-owners.ts';

type Frame = [name: string, url: string, micros: number];

/** A profile with one sample for each entry. */
const sampled = (frames: Frame[]): CpuProfile => ({
  nodes: frames.map(([functionName, url], i) => ({
    id: i + 1,
    callFrame: { functionName, url, lineNumber: 0, columnNumber: 0 },
  })),
  samples: frames.map((_, i) => i + 1),
  timeDeltas: frames.map(([, , micros]) => micros),
});

/** The same behind a start. */
const profileOf = (frames: Frame[]): CpuProfile =>
  sampled([['compile', 'node:internal/modules/esm', 500_000], ['(idle)', '', 20_000], ...frames]);

describe('ownersOf', () => {
  it.each([
    ['(program)', '', 'kernel, and Node’s native code'],
    ['writev', '', 'kernel, and Node’s native code'],
    ['(garbage collector)', '', 'V8’s garbage collector'],
    ['parserOnHeadersComplete', 'node:_http_common', 'Node: HTTP'],
    ['writeGeneric', 'node:internal/stream_base_commons', 'Node: sockets and streams'],
    ['processTimers', 'node:internal/timers', 'Node: the rest'],
    ['handle', 'file:///gateway/node_modules/router/lib/layer.js', 'Nest and Express'],
    ['create', 'file:///gateway/node_modules/@nestjs/core/router.js', 'Nest and Express'],
    ['dispatch', 'file:///gateway/node_modules/undici/lib/pool.js', 'package undici'],
    ['answer', 'file:///gateway/src/proxy/reads/reader.ts', 'ours: proxy/reads'],
    ['forward', 'file:///gateway/src/proxy/proxy.service.ts', 'ours: proxy'],
    ['take', 'file:///gateway/src/platform/server/request-way.ts', 'ours: platform/server'],
    ['spawn', 'file:///gateway/src/commands/commands.service.ts', 'ours: commands'],
    ['run', 'file:///gateway/src/bootstrap.ts', 'ours: the start'],
  ])('gives %s of "%s" to %s', (name, url, owner) => {
    expect(ownersOf(profileOf([[name, url, 5]]))).toEqual([{ owner, share: 1 }]);
  });

  it('adds up the times of an owner, leaves out idle time, and puts the largest first', () => {
    const profile = profileOf([
      ['a', 'file:///gateway/src/auth/bearer.ts', 10],
      ['(idle)', '', 1_000],
      ['b', 'node:net', 60],
      ['c', 'file:///gateway/src/auth/api-keys.ts', 30],
    ]);
    expect(ownersOf(profile)).toEqual([
      { owner: 'Node: sockets and streams', share: 0.6 },
      { owner: 'ours: auth', share: 0.4 },
    ]);
  });
});

it('shows profiles side by side, without owners that hardly count', () => {
  const table = ownersTable({
    plain: profileOf([
      ['a', 'node:net', 996],
      ['b', 'node:timers', 4],
    ]),
    commands: profileOf([['a', 'file:///gateway/src/commands/x.ts', 1]]),
  });
  expect(table.split('\n')).toEqual([
    '|  | plain | commands |',
    '| --- | ---: | ---: |',
    '| ours: commands | 0.0 % | 100.0 % |',
    '| Node: sockets and streams | 99.6 % | 0.0 % |',
  ]);
});
