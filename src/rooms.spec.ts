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
  'health',
  'commands',
  'streams',
  'shapes',
  'registry',
  'proxy',
  'proxy/forward',
  'proxy/reads',
  'proxy/headers',
  'auth',
  'proxy/upstream',
  'platform/limits',
  'platform/cors',
  'platform/server',
  'platform/tracing',
  'platform/telemetry',
  'platform/log',
  'platform/config',
  'platform/names',
  'platform/memory',
  'platform/errors',
  'platform/private-parts',
  'platform/http',
  'platform/collections',
  'platform/clock',
  'platform/process',
];

/** Below these Nest and Express are not known: whoever reads them needs to know Node alone. */
const WITHOUT_NEST = FLOORS.slice(FLOORS.indexOf('platform/memory'));

/** The rooms of `src/` itself: the modules of the design, what passes requests on, and what any service has. */
const MODULES = ['commands', 'streams', 'shapes', 'registry', 'auth', 'health'];

interface Import {
  file: string;
  from: string;
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'),
);

/** The deepest room that holds the file. */
const roomOf = (file: string): string => {
  const folders = dirname(file).split('/');
  const two = folders.slice(0, 2).join('/');
  return FLOORS.includes(two) ? two : (folders[0] ?? '').replace('.', '');
};

const floorOf = (file: string): number => FLOORS.indexOf(roomOf(file));

const imports: Import[] = files.flatMap((file) =>
  [
    ...readFileSync(join(SRC, file), 'utf8').matchAll(/\bfrom '([^']+)'|\bimport\('([^']+)'\)/g),
  ].map(([, early = '', late = early]) => ({ file, from: late })),
);

describe('the rooms', () => {
  it('are those that there are', () => {
    expect([...new Set(files.map(roomOf))].sort()).toEqual([...FLOORS].sort());
  });

  it('show the six modules', () => {
    const top = readdirSync(SRC, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(top.map(({ name }) => name).sort()).toEqual([...MODULES, 'platform', 'proxy'].sort());
  });

  it('import only from below', () => {
    const upward = imports
      .filter(({ from }) => from.startsWith('.'))
      .map(({ file, from }) => ({ file, from: relative(SRC, join(SRC, dirname(file), from)) }))
      .filter(({ file, from }) => floorOf(from) < floorOf(file));
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
