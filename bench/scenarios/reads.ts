import { checkContender, type ExpectedRead } from '../contenders/check.ts';
import type { Contender } from '../contenders/contender.ts';
import { startLineUp, type StartedContender } from '../contenders/line-up.ts';
import { loadReads, type LoadResult } from '../load/wrk.ts';
import { groupCpuMs } from '../measure/cpu-time.ts';
import { interleave, type Series } from '../measure/interleave.ts';
import type { Spread } from '../measure/statistics.ts';
import { summaryOf } from '../measure/summary.ts';
import { withStarted } from '../started.ts';
import type { BenchContext } from './context.ts';

export interface ReadsPlan {
  streamsUrl: string;
  contenders: readonly Contender[];
  expected: ExpectedRead;
  distinctUrls: number;
  /** More points for the plot: connections at which only some are measured. */
  curve?: { connections: readonly number[]; ids: readonly string[] };
}

/** The result of one contender at one number of connections. */
export interface ReadsRow {
  id: string;
  label: string;
  connections: number;
  requestsPerSecond: Spread;
  p50Ms: Spread;
  p99Ms: Spread;
  /** Processor time of the contender alone, in microseconds a request; null where it has none. */
  cpuUsPerRequest: Spread | null;
  errors: number;
  failure?: string;
}

export interface ReadsTable {
  rows: ReadsRow[];
  missing: string[];
}

/** The load of the warm-up. `runs` limits it on slow machines. */
const WARM_UP = { connections: 64, seconds: 2, runs: 3 };

/** Measures how fast each contender reads, at each number of connections. */
export function measureReads(context: BenchContext, plan: ReadsPlan): Promise<ReadsTable> {
  return withStarted(async (started) => {
    const { options, say } = context;
    const chosen = context.chosen(plan.contenders);
    const { contenders, missing } = await startLineUp(
      started,
      chosen,
      plan.streamsUrl,
      async (contender) => {
        await checkContender(contender, plan.expected);
        await warmUp(plan, contender, options.warmUpRequests);
      },
    );
    for (const line of missing) say(`left out: ${line}`);
    const rows: ReadsRow[] = [];
    for (const connections of levels(context, plan)) {
      const isForAll = options.connections.includes(connections);
      const measured = contenders.filter(({ id }) => isForAll || plan.curve?.ids.includes(id));
      const series = await interleave(measured, options.rounds, async (contender, round) => {
        const result = await load(plan, contender, connections, options.seconds);
        const rate = Math.round(result.requestsPerSecond);
        say(`${connections} connections, round ${round + 1}: ${contender.label} ${rate}/s`);
        return result;
      });
      for (const { id, label } of measured) {
        rows.push({ id, label, connections, ...summary(series.get(id)) });
      }
    }
    return { rows, missing };
  });
}

async function warmUp(plan: ReadsPlan, contender: StartedContender, wanted: number): Promise<void> {
  const { connections, seconds, runs } = WARM_UP;
  let requests = 0;
  for (let run = 0; run < runs && requests < wanted; run++) {
    requests += (await load(plan, contender, connections, seconds)).requests;
  }
}

function levels({ options }: BenchContext, { curve }: ReadsPlan): number[] {
  const all = new Set([...options.connections, ...(curve?.connections ?? [])]);
  return [...all].sort((a, b) => a - b);
}

type Measured = LoadResult & { cpuUsPerRequest: number };

async function load(
  plan: ReadsPlan,
  { running }: StartedContender,
  connections: number,
  seconds: number,
): Promise<Measured> {
  const cpuMsBefore = await groupCpuMs(running.pid);
  const result = await loadReads({
    url: running.url,
    connections,
    seconds,
    distinctUrls: plan.distinctUrls,
    path: plan.expected.path,
  });
  if (result.requests === 0) throw new Error('no request was answered');
  const usedMs = (await groupCpuMs(running.pid)) - cpuMsBefore;
  return { ...result, cpuUsPerRequest: (usedMs * 1000) / result.requests };
}

function summary(
  series: Series<Measured> = { values: [] },
): Omit<ReadsRow, 'id' | 'label' | 'connections'> {
  const { values } = series;
  const { cpuUsPerRequest, ...others } = summaryOf(series, [
    'requestsPerSecond',
    'p50Ms',
    'p99Ms',
    'cpuUsPerRequest',
  ]);
  return {
    ...others,
    cpuUsPerRequest: cpuUsPerRequest.max > 0 ? cpuUsPerRequest : null,
    errors: values.reduce((sum, { errors }) => sum + errors, 0),
  };
}
