import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const SRC = import.meta.dirname;

/**
 * The rooms of the house from the top floor down. A file imports from its own room and from those below it, never from
 * one above: so each can be read, and changed, with nothing in mind but what is under it. CONTRIBUTING.md says what each
 * of them holds.
 */
const FLOORS = [
  // The files beside the rooms: start, compose, end.
  '',
  'management',
  'commands',
  'streams',
  'shapes',
  'registry',
  'health',
  'proxy',
  'limits',
  'auth',
  'cors',
  'upstream',
  'server',
  'tracing',
  'telemetry',
  'log',
  'config',
  'names',
  'memory',
  'errors',
  'private-parts',
  'http',
  'collections',
  'clock',
];

/** Below these Nest and Express are not known: whoever reads them needs to know Node alone. */
const WITHOUT_NEST = ['errors', 'private-parts', 'http', 'memory', 'collections', 'clock'];

interface Import {
  file: string;
  from: string;
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'),
);

const roomOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : '');

const imports: Import[] = files.flatMap((file) =>
  [
    ...readFileSync(join(SRC, file), 'utf8').matchAll(/\bfrom '([^']+)'|\bimport\('([^']+)'\)/g),
  ].map(([, early = '', late = early]) => ({ file, from: late })),
);

describe('the rooms', () => {
  it('are those that there are', () => {
    expect([...new Set(files.map(roomOf))].sort()).toEqual([...FLOORS].sort());
  });

  it('import only from below', () => {
    const upward = imports
      .filter(({ from }) => from.startsWith('.'))
      .map(({ file, from }) => ({ file, from: relative(SRC, join(SRC, dirname(file), from)) }))
      .filter(({ file, from }) => FLOORS.indexOf(roomOf(from)) < FLOORS.indexOf(roomOf(file)));
    expect(upward).toEqual([]);
    expect(imports.length).toBeGreaterThan(files.length);
  });

  it('know nothing of Nest on the lower floors', () => {
    const found = imports.filter(
      ({ file, from }) =>
        WITHOUT_NEST.includes(roomOf(file)) && /^@nestjs\/|^express$|^rxjs/.test(from),
    );
    expect(found).toEqual([]);
  });
});
