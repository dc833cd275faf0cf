import type { Holdings } from './holdings.ts';
import type { LoadResult } from './load.ts';
import type { Answers, SentCommand } from './requests.ts';

const BYTES_PER_MIB = 1_048_576;

export interface SoakResult {
  startedAt: Date;
  /** What was under test. */
  commit: string;
  minutes: number;
  seed: number;
  load: LoadResult;
  /** Of the gateway that stays: after a warm-up and at rest, and after the soak and at rest. */
  before: Holdings;
  after: Holdings;
  /** Its resident memory while under load, in bytes, a sample every few seconds. */
  residentBytes: number[];
  /** All that must not be, of the load and of what is held. */
  failures: string[];
}

/** One page of Markdown. */
export function report(result: SoakResult): string {
  const { startedAt, commit, minutes, seed, load, before, after, residentBytes, failures } = result;
  const { commands } = load;
  const events = load.readers.map((reader) => reader.events.length);
  const { drainTimesMs } = load.faults;
  return `# Soak of ${startedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC

${minutes} minutes under load with faults, seed ${seed}: **${failures.length === 0 ? 'clean' : `${failures.length} failures`}**.
Commit ${commit}.
${failures
  .slice(0, 50)
  .map((failure) => `\n- ${failure}`)
  .join('')}

## Load

| What | How much | Answers |
|---|---|---|
| keyed commands, sent again until accepted | ${describeCommands(commands.filter(({ isKeyed }) => isKeyed))} | ${describeStatuses(load.commandAnswers)} (all commands) |
| commands without a key, sent once | ${describeCommands(commands.filter(({ isKeyed }) => !isKeyed))} | |
| appends with producer headers, sent again until written | ${sum(load.appended)} | ${describeStatuses(load.appendAnswers)} |
| timeline readers, half long-poll, half event stream | ${load.readers.length} reading ${sum(events)} events | ${sum(load.readers.map(({ restarts }) => restarts))} reads begun again |
| catalog | ${load.rowChanges} row changes, one live reader | |
| clients that vanished | ${load.vanished} | |

## Faults

| Fault | Times |
|---|---|
${[...load.faults.times].map(([name, times]) => `| ${name} | ${times} |`).join('\n')}

Drains took ${drainTimesMs.length === 0 ? 'no time: there were none' : `${milliseconds(Math.min(...drainTimesMs))} to ${milliseconds(Math.max(...drainTimesMs))}`}.

## What the gateway that stayed holds, at rest

| | before | after |
|---|---|---|
| heap in use | ${mib(before.heapUsed)} | ${mib(after.heapUsed)} |
| outside the heap | ${mib(before.external)} | ${mib(after.external)} |
| resident | ${mib(before.rss)} | ${mib(after.rss)} |
| resident under load, from its beginning to its end | ${trend(residentBytes)} | |
${[...new Set([...Object.keys(before.resources), ...Object.keys(after.resources)])]
  .sort()
  .map((name) => `| ${name} | ${before.resources[name] ?? 0} | ${after.resources[name] ?? 0} |`)
  .join('\n')}
`;
}

function describeCommands(commands: SentCommand[]): string {
  const accepted = commands.filter(({ isAccepted }) => isAccepted).length;
  const repeated = commands.filter(({ attempts }) => attempts > 1).length;
  return `${commands.length} sent, ${accepted} accepted, ${repeated} sent more than once`;
}

function describeStatuses({ statuses }: Answers): string {
  return [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, times]) => `${status === 0 ? 'none' : status}: ${times}`)
    .join(', ');
}

/** The means of eight parts of the run. */
function trend(samples: number[]): string {
  const size = Math.max(1, Math.ceil(samples.length / 8));
  const parts: string[] = [];
  for (let at = 0; at < samples.length; at += size) {
    const part = samples.slice(at, at + size);
    parts.push(mib(sum(part) / part.length));
  }
  return parts.join(', ');
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function mib(bytes: number): string {
  return `${(bytes / BYTES_PER_MIB).toFixed(1)} MiB`;
}

function milliseconds(ms: number): string {
  return `${Math.round(ms)} ms`;
}
