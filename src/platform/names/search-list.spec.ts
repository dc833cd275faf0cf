import { describe, expect, it } from '@jest/globals';
import { searchedNames } from './search-list.ts';

const KUBERNETES = `search agents.svc.cluster.local svc.cluster.local cluster.local
nameserver 10.96.0.10
options ndots:5
`;

describe('searchedNames', () => {
  it.each([
    ['nothing', '', 'history', ['history.']],
    ['nothing', '', 'history.example.com', ['history.example.com.']],
    [
      'the file of a pod',
      KUBERNETES,
      'history.store',
      [
        'history.store.agents.svc.cluster.local.',
        'history.store.svc.cluster.local.',
        'history.store.cluster.local.',
        'history.store.',
      ],
    ],
    [
      'the file of a pod',
      KUBERNETES,
      'a.b.c.d.e.f',
      [
        'a.b.c.d.e.f.',
        'a.b.c.d.e.f.agents.svc.cluster.local.',
        'a.b.c.d.e.f.svc.cluster.local.',
        'a.b.c.d.e.f.cluster.local.',
      ],
    ],
    ['the file of a pod', KUBERNETES, 'history.store.', ['history.store.']],
    ['the default of ndots', 'search x.example', 'a.b', ['a.b.', 'a.b.x.example.']],
    ['the default of ndots', 'search x.example', 'a', ['a.x.example.', 'a.']],
    ['several lists', 'search one\nsearch two. three\n', 'a', ['a.two.', 'a.three.', 'a.']],
    ['a domain', 'domain one', 'a', ['a.one.', 'a.']],
    [
      'odd lines',
      '# search no\noptions timeout:1 ndots:2\n  search  x\t y\n',
      'a.b',
      ['a.b.x.', 'a.b.y.', 'a.b.'],
    ],
  ])('with %s: %j of %s', (_, file, name, names) => {
    expect(searchedNames(file, name)).toEqual(names);
  });
});
