import type { Block } from './markdown.ts';

/** How a test treats a block. */
export type Treatment =
  | { kind: 'shell' | 'console' | 'http' | 'json' | 'file' | 'text' }
  | { kind: 'not run'; check: Check; reason: string };

/** How a test checks a block that is not run; see `not-run.ts`. */
export const CHECKS = ['ci', 'cli', 'cluster', 'machine', 'printed', 'python', 'script'] as const;
export type Check = (typeof CHECKS)[number];

const BY_LANGUAGE: Readonly<Record<string, Treatment['kind']>> = {
  sh: 'shell',
  console: 'console',
  http: 'http',
  json: 'json',
  text: 'text',
};

/** Commands that would change the project under test or use its default ports. */
const NOT_HERE = /\bnpm (?:ci|i|install|test|t|run (?:--silent )?(?!--silent |token\b))/;

/**
 * A block is run, compared or parsed by its language. One that cannot be has to say so in front, in a
 * comment that a reader does not see: `<!-- snippet: CHECK; why it is not run -->`. Throws for
 * any other.
 */
export function treatmentOf(block: Block): Treatment {
  if (block.marker !== undefined) return notRun(block.marker);
  if (block.name !== undefined) return { kind: 'file' };
  if (NOT_HERE.test(block.text)) {
    throw new Error('This is not for the project that is tested: mark it, and let CI run it.');
  }
  const kind = BY_LANGUAGE[block.language];
  if (kind === undefined || kind === 'not run') {
    throw new Error(
      `Nothing runs a block of "${block.language}": name the file that it is, or mark it with ` +
        '<!-- snippet: CHECK; why it is not run -->, see test/docs/treatment.ts.',
    );
  }
  return { kind };
}

function notRun(marker: string): Treatment {
  const [, check, reason = ''] = /^(\w+); (.{10,})$/.exec(marker) ?? [];
  const known = CHECKS.find((name) => name === check);
  if (known === undefined) {
    throw new Error(`"${marker}" is not "${CHECKS.join('|')}; why it is not run".`);
  }
  return { kind: 'not run', check: known, reason };
}
