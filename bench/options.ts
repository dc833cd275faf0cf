import { parseArgs } from 'node:util';

export const SCENARIOS = ['plain', 'same-url', 'fan-out'] as const;
export type ScenarioName = (typeof SCENARIOS)[number];

export interface BenchOptions {
  only: readonly ScenarioName[];
  /** Of one measurement under load. */
  seconds: number;
  /** How often each contender is measured, in turn with the others. */
  rounds: number;
  connections: readonly number[];
  /** Parked on one timeline. */
  readers: readonly number[];
  /** Ids of the contenders to measure; undefined for all. */
  contenders: readonly string[] | undefined;
  /** Write a CPU profile of the gateway. */
  profile: boolean;
}

export const HELP = `Usage: npm run bench -- [options]

Measures the gateway beside other proxies on this machine, each in turn, and writes docs/performance.md.
Without options it takes about 20 minutes; leave the machine alone meanwhile.

  --only NAMES        only these parts: ${SCENARIOS.join(', ')}
  --contenders IDS    only these, such as gateway,nginx
  --connections LIST  instead of 64,512
  --readers LIST      instead of 1000,5000,10000
  --seconds N         of each measurement, instead of 3
  --rounds N          how often each is measured, instead of 3
  --quick             1 second and 2 rounds: a first look
  --profile           write a CPU profile of the gateway of each part (node --cpu-prof)
  --help              this text
`;

/** Throws an Error whose message says which option is wrong. */
export function parseOptions(args: string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      contenders: { type: 'string' },
      connections: { type: 'string', default: '64,512' },
      readers: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  return {
    only: values.only === undefined ? SCENARIOS : values.only.split(',').map(scenarioName),
    seconds: wholeNumber('--seconds', values.seconds ?? (values.quick ? '1' : '3')),
    rounds: wholeNumber('--rounds', values.rounds ?? (values.quick ? '2' : '3')),
    connections: wholeNumbers('--connections', values.connections),
    readers: wholeNumbers(
      '--readers',
      values.readers ?? (values.quick ? '1000' : '1000,5000,10000'),
    ),
    contenders: values.contenders?.split(','),
    profile: values.profile,
  };
}

function scenarioName(text: string): ScenarioName {
  const name = SCENARIOS.find((known) => known === text);
  if (name === undefined)
    throw new Error(`--only: there is no "${text}"; there are ${SCENARIOS.join(', ')}`);
  return name;
}

function wholeNumber(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new Error(`${option}: "${text}" is no whole number above 0`);
  return number;
}

function wholeNumbers(option: string, text: string): number[] {
  return text.split(',').map((each) => wholeNumber(option, each));
}
