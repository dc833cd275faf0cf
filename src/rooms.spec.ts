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
  'auth',
  'proxy',
  'proxy/reads',
  'proxy/limits',
  'proxy/headers',
  'proxy/upstream',
  'contract',
  'platform/cors',
  'platform/server',
  'platform/tracing',
  'platform/telemetry',
  'platform/log',
  'platform/config',
  'platform/names',
  'platform/memory',
  'platform/metrics',
  'platform/errors',
  'platform/private-parts',
  'platform/http',
  'platform/collections',
  'platform/clock',
  'platform/process',
];

/** Rooms that know nothing of each other, although one stands above the other. */
const STRANGERS = [['auth', 'proxy']];

/** Below these Nest and Express are not known: whoever reads them needs to know Node alone. */
const WITHOUT_NEST = FLOORS.slice(FLOORS.indexOf('platform/memory'));

/** The rooms of `src/` itself, besides what passes requests on, what the contract fixes, and what any service has. */
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
    expect(top.map(({ name }) => name).sort()).toEqual(
      [...MODULES, 'contract', 'platform', 'proxy'].sort(),
    );
  });

  it('import only from below', () => {
    const upward = inside.filter(({ file, from }) => floorOf(from) < floorOf(file));
    expect(upward).toEqual([]);
    expect(inside.length).toBeGreaterThan(files.length);
  });

  // A reader of one file of a circle needs all of them.
  it('have no circle of files, types included', () => {
    expect(circles()).toEqual([]);
  });

  it.each(STRANGERS)('keep %s and %s apart', (one, other) => {
    const met = inside.filter(({ file, from }) =>
      [file, from].every(
        (each, at, pair) =>
          [one, other].includes(topOf(each)) && topOf(each) !== topOf(pair[1 - at] ?? ''),
      ),
    );
    expect(met).toEqual([]);
  });

  // A folder between two halves of another has to be read in the middle of it.
  it('stand together with the other folders of their room', () => {
    const tops = FLOORS.map((floor) => floor.split('/')[0] ?? '');
    const begun = tops.filter((top, at) => top !== tops[at - 1]);
    expect(begun).toEqual([...new Set(tops)]);
  });

  it('know nothing of Nest on the lower floors', () => {
    const found = imports.filter(
      ({ file, from }) =>
        WITHOUT_NEST.includes(roomOf(file)) && /^@nestjs\/|^express$|^rxjs/.test(from),
    );
    expect(found).toEqual([]);
  });

  it('know nothing of agents, upstreams, verbs and routes where they are what any service has', () => {
    const found = files
      .filter((file) => file.startsWith('platform/') && file !== TABLE_OF_CODES)
      .flatMap((file) => [...codeOf(file).matchAll(PRODUCT)].map(([word]) => `${file}: ${word}`));
    expect(found).toEqual([]);
  });
});

/** The imports of files of this tree, each by its path in it. */
const inside: Import[] = imports
  .filter(({ from }) => from.startsWith('.'))
  .map(({ file, from }) => ({ file, from: relative(SRC, join(SRC, dirname(file), from)) }));

function topOf(file: string): string {
  return file.split('/')[0] ?? '';
}

/** The files that can be reached from themselves. */
function circles(): string[] {
  const next = new Map<string, string[]>();
  for (const { file, from } of inside) next.set(file, [...(next.get(file) ?? []), from]);
  return files.filter((start) => {
    const seen = new Set<string>();
    const waiting = [...(next.get(start) ?? [])];
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      if (file === start) return true;
      if (seen.has(file)) continue;
      seen.add(file);
      waiting.push(...(next.get(file) ?? []));
    }
    return false;
  });
}

/** The words of the product in code, besides its name: what is behind it, what it takes, where it is asked. */
const PRODUCT =
  /\b(?:agents?(?!-gateway)|entit(?:y|ies)|__ds|restate|electric|verbs?|interrupt|runtime-\w+)\b|'\/(?:streams|shapes|registry|api|health)|'(?:history|sync)'/gi;

/** The one table of error codes, to which every room adds. */
const TABLE_OF_CODES = 'platform/errors/error-codes.ts';

/** The text of a file without its comments. */
function codeOf(file: string): string {
  return readFileSync(join(SRC, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}
