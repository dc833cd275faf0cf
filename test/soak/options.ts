import { parseArgs } from 'node:util';

export interface SoakOptions {
  minutes: number;
  /** Of the random load and faults: the same seed gives the same ones. */
  seed: number;
  /** The file of the report, from the folder of the call. */
  report: string;
}

export const HELP = `Usage: npm run soak -- [options]

Runs the whole system on this machine under mixed load with random faults, and then checks that nothing was lost,
repeated or leaked. Exit code 1 if anything was.

  --minutes N    how long under faults, instead of 1; the warm-up and the checks take about one more
  --seed N       repeats the load and the faults of an earlier run; random by default
  --report FILE  where the report goes, instead of .local/soak-report.md`;

const OPTIONS = {
  minutes: { type: 'string', default: '1' },
  seed: { type: 'string' },
  report: { type: 'string', default: '.local/soak-report.md' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** The options of a soak; or, as text, the help that was asked for, or what is wrong. */
export function parseOptions(args: string[]): SoakOptions | string {
  let values;
  try {
    ({ values } = parseArgs({ args, options: OPTIONS }));
  } catch (error) {
    return `${(error as Error).message}\n\n${HELP}`;
  }
  if (values.help) return HELP;
  const minutes = Number(values.minutes);
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  if (!(minutes > 0 && Number.isFinite(minutes))) {
    return `--minutes must be a number above 0.\n\n${HELP}`;
  }
  if (values.seed === '' || !Number.isInteger(seed)) {
    return `--seed must be a whole number.\n\n${HELP}`;
  }
  return { minutes, seed, report: values.report };
}
