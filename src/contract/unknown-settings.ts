import { Environment } from './environment.ts';
import type { Variables } from './variables.ts';
import { isServiceVariable } from './service-links.ts';

/** A variable that looks like a setting and is not one. The message contains its name, never its value. */
export interface UnknownSetting {
  name: string;
  message: string;
}

/** Other variables of the project that begin with `GATEWAY_`: of the command line, agents and the Compose file. */
const NOT_OF_THE_GATEWAY = new Set(['GATEWAY_URL', 'GATEWAY_API_KEY', 'GATEWAY_LISTEN']);

/**
 * The `GATEWAY_…` variables that are not settings. They do not stop the start, because after a rollback there may
 * be settings of the next version.
 */
export function unknownSettings(variables: Variables): UnknownSetting[] {
  const settings = Object.keys(new Environment());
  return Object.entries(variables)
    .filter(([name, value]) => name.startsWith('GATEWAY_') && value !== undefined && value !== '')
    .filter(([name]) => !settings.includes(name) && !NOT_OF_THE_GATEWAY.has(name))
    .filter(([name, value]) => !isServiceVariable(name, value))
    .map(([name]) => ({
      name,
      message: `${name} is no setting and has no effect; the nearest one is ${nearest(name, settings)}`,
    }));
}

/** The setting that shares the most words with a name. Of several, the one with the smallest edit distance. */
function nearest(name: string, settings: readonly string[]): string {
  const words = name.split('_');
  const ranked = settings.map((setting) => ({
    setting,
    shared: setting.split('_').filter((word) => words.includes(word)).length,
    edits: editDistance(name, setting),
  }));
  ranked.sort((one, other) => other.shared - one.shared || one.edits - other.edits);
  return ranked[0]?.setting ?? '';
}

/** The edit distance of two words (Levenshtein). */
function editDistance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 0; row < from.length; row++) {
    const line = [row + 1];
    for (let column = 0; column < to.length; column++) {
      const changed = (above[column] ?? 0) + (from[row] === to[column] ? 0 : 1);
      line.push(Math.min(changed, (above[column + 1] ?? 0) + 1, (line[column] ?? 0) + 1));
    }
    above = line;
  }
  return above[to.length] ?? 0;
}
