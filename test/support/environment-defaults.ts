import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = join(import.meta.dirname, '../../src/contract/environment.ts');

/** The variables in the gateway's source, each with its default, for suites that cannot load a class with decorators. */
export function environmentDefaults(): Map<string, unknown> {
  const declared = readFileSync(SOURCE, 'utf8').matchAll(
    /^ {2}(GATEWAY_\w+)(\?)?(?:: [^=;]+)?(?: = ([^;]+))?;$/gm,
  );
  return new Map([...declared].map(([, name = '', , literal]) => [name, valueOf(literal)]));
}

function valueOf(literal: string | undefined): unknown {
  if (literal === undefined) return undefined;
  if (literal === 'true' || literal === 'false') return literal === 'true';
  if (literal.startsWith("'")) return literal.slice(1, -1);
  if (literal.startsWith('['))
    return literal.slice(1, -1).replaceAll("'", '').replaceAll(', ', ',');
  return Number(literal.replaceAll('_', ''));
}
