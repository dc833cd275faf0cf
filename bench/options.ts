import { parseArgs } from 'node:util';

export const PARTS = [
  'plain',
  'tokens',
  'same-url',
  'copies',
  'fan-out',
  'memory',
  'large-body',
  'commands',
  'start',
  'outage',
] as const;
export type PartName = (typeof PARTS)[number];

export interface BenchOptions {
  only: readonly PartName[];
  /** Of one measurement under load. */
  seconds: number;
  /** Before the first measurement: enough for Node to compile what is hot. */
  warmUpRequests: number;
  /** How often each contender is measured, in turn with the others. */
  rounds: number;
  connections: readonly number[];
  /** Parked on one timeline. */
  readers: readonly number[];
  /** The same by event stream. */
  eventStreams: number;
  /** That each of them gets. */
  events: number;
  largeBytes: number;
  /** Sent to see whether memory grows with them. */
  shortRequests: number;
  /** Ids of the contenders to measure; undefined for all. */
  contenders: readonly string[] | undefined;
  /** Write CPU profiles of the gateway. */
  profile: boolean;
  /** Measure nothing: put the parts of the last run in part beside those of the last whole run. */
  add: boolean;
  /** Measure nothing: write the page from the last whole run again. */
  render: boolean;
}

export const HELP = `Usage: npm run bench -- [options]

Measures the gateway beside other proxies on this machine, each in turn, and writes docs/performance.md
with its plots, and bench/results/latest.json, which they are made of. That takes about 40 minutes;
leave the machine alone meanwhile. With any of the options above --add a run is one in part: it prints
its tables and writes .local/bench/results.json instead.

  --only PARTS        some of ${PARTS.join(', ')}
  --contenders IDS    some of those of a part, such as gateway,nginx
  --connections LIST  instead of 64,512
  --readers LIST      instead of 1000,5000,10000
  --seconds N         of each measurement, instead of 3
  --rounds N          how often each is measured, instead of 3
  --quick             little of everything: a first look in two or three minutes
  --smoke             next to nothing of everything: does the bench itself work? (as npm run test:bench)
  --profile           write CPU profiles of the gateway (node --cpu-prof), one for each part, and
                      whose code used the processor, in bench/results/profile.md
  --add               measure nothing: put the last run in part into bench/results/latest.json, and write the page
  --render            measure nothing: write the page from bench/results/latest.json again
  --help              this text
`;

type Amounts = Omit<BenchOptions, 'only' | 'contenders' | 'profile' | 'add' | 'render'>;

const WHOLE: Amounts = {
  seconds: 3,
  warmUpRequests: 20_000,
  rounds: 3,
  connections: [64, 512],
  readers: [1_000, 5_000, 10_000],
  eventStreams: 5_000,
  events: 20,
  largeBytes: 1_073_741_824,
  shortRequests: 1_000_000,
};
const QUICK: Amounts = {
  ...WHOLE,
  seconds: 1,
  rounds: 2,
  connections: [64],
  readers: [1_000],
  eventStreams: 1_000,
  events: 5,
  shortRequests: 40_000,
};
export const SMOKE: Amounts = {
  seconds: 1,
  warmUpRequests: 0,
  rounds: 1,
  connections: [8],
  readers: [50],
  eventStreams: 50,
  events: 3,
  largeBytes: 16_777_216,
  shortRequests: 4_000,
};

/** Throws an Error whose message says which option is wrong. */
export function parseOptions(args: string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      contenders: { type: 'string' },
      connections: { type: 'string' },
      readers: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      add: { type: 'boolean', default: false },
      render: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const amounts = values.smoke ? SMOKE : values.quick ? QUICK : WHOLE;
  const { connections, readers, seconds, rounds } = values;
  return {
    ...amounts,
    only: values.only === undefined ? PARTS : values.only.split(',').map(partName),
    contenders: values.contenders?.split(','),
    profile: values.profile,
    add: values.add,
    render: values.render,
    ...(connections !== undefined && { connections: wholeNumbers('--connections', connections) }),
    ...(readers !== undefined && { readers: wholeNumbers('--readers', readers) }),
    ...(seconds !== undefined && { seconds: wholeNumber('--seconds', seconds) }),
    ...(rounds !== undefined && { rounds: wholeNumber('--rounds', rounds) }),
  };
}

function partName(text: string): PartName {
  const name = PARTS.find((known) => known === text);
  if (name === undefined) {
    throw new Error(`--only: there is no part "${text}"; there are ${PARTS.join(', ')}`);
  }
  return name;
}

function wholeNumbers(option: string, text: string): number[] {
  return text.split(',').map((each) => wholeNumber(option, each));
}

function wholeNumber(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) {
    throw new Error(`${option}: "${text}" is no whole number above 0`);
  }
  return number;
}
