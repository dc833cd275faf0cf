import { Environment } from './environment.ts';
import type { Variables } from '../platform/config/setting.decorator.ts';
import { isServiceVariable } from './service-links.ts';

/** Other variables of the project that begin with `GATEWAY_`: of the command line, agents and the Compose file. */
const NOT_OF_THE_GATEWAY = new Set(['GATEWAY_URL', 'GATEWAY_API_KEY', 'GATEWAY_LISTEN']);

/**
 * The `GATEWAY_…` variables that are not settings, each with a message, which never contains a value. They do not stop the start, because after a rollback there may
 * be settings of the next version.
 */
export function unknownSettings(variables: Variables): { name: string; message: string }[] {
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

/** The setting that is most alike: that shares the most pairs of letters, for the pairs that both have (Dice). */
function nearest(name: string, settings: readonly string[]): string {
  const pairs = pairsOf(name);
  const likeness = (setting: string): number => {
    const others = pairsOf(setting);
    const shared = [...pairs].filter((pair) => others.has(pair)).length;
    return shared / (pairs.size + others.size);
  };
  return settings.reduce((best, next) => (likeness(next) > likeness(best) ? next : best));
}

function pairsOf(name: string): Set<string> {
  return new Set(Array.from(name, (letter, i) => letter + (name[i + 1] ?? '')));
}
