import type { PartName } from '../options.ts';
import type { Measurements, Results } from '../results.ts';
import { measureCommands } from './commands.ts';
import { measureCopies } from './copies.ts';
import type { BenchContext } from './context.ts';
import { measureFanOut } from './fan-out.ts';
import { measureLargeBody } from './large-body.ts';
import { measureMemory } from './memory.ts';
import { measureOutage } from './outage.ts';
import { measurePlain } from './plain.ts';
import { measureSameUrl } from './same-url.ts';
import { measureStart } from './start.ts';
import { measureTokens } from './tokens.ts';

type Measure<Part extends PartName> = (context: BenchContext) => Promise<Measurements[Part]>;

const MEASURES: { [Part in PartName]: Measure<Part> } = {
  plain: measurePlain,
  tokens: measureTokens,
  'same-url': measureSameUrl,
  copies: measureCopies,
  'fan-out': measureFanOut,
  memory: measureMemory,
  'large-body': measureLargeBody,
  commands: measureCommands,
  start: measureStart,
  outage: measureOutage,
};

/** Measures the chosen parts one after the other. A part that fails does not stop the others. */
export async function measureParts(
  context: BenchContext,
  onPart: (part: PartName, measured: Partial<Measurements>) => void,
): Promise<Pick<Results, 'measurements' | 'failures'>> {
  const measurements: Partial<Measurements> = {};
  const failures: Results['failures'] = {};
  const measure = async <Part extends PartName>(part: Part): Promise<void> => {
    context.say(`\n== ${part}`);
    try {
      measurements[part] = await MEASURES[part](context);
      onPart(part, measurements);
    } catch (error) {
      failures[part] = error instanceof Error ? error.message : String(error);
      context.say(`${part} failed: ${failures[part]}`);
    }
  };
  for (const part of context.options.only) await measure(part);
  return { measurements, failures };
}
