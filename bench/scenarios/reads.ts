import { checkContender, type ExpectedRead } from '../contenders/check.ts';
import type { Contender } from '../contenders/contender.ts';
import { startLineUp, type StartedContender } from '../contenders/line-up.ts';
import { loadReads, type ReadsResult } from '../load/wrk.ts';
import { groupCpuMs } from '../measure/cpu-time.ts';
import { interleave } from '../measure/interleave.ts';
import { spread, type Spread } from '../measure/statistics.ts';
import type { BenchContext } from './context.ts';

export interface ReadsPlan {
  streamsUrl: string;
  contenders: readonly Contender[];
  expected: ExpectedRead;
  distinctUrls: number;
}

/** One contender at one number of connections. */
export interface ReadsRow {
  id: string;
  label: string;
  connections: number;
  requestsPerSecond: Spread;
  p50Ms: Spread;
  p99Ms: Spread;
  /** Processor time of the contender alone, in microseconds a request. */
  cpuUsPerRequest: Spread | undefined;
  errors: number;
}

export interface ReadsTable {
  rows: ReadsRow[];
  missing: string[];
}

/** Long enough for Node to compile what is hot. */
const WARM_UP_SECONDS = 2;

/** Has each contender read as fast as it can, at each number of connections. */
export async function measureReads(context: BenchContext, plan: ReadsPlan): Promise<ReadsTable> {
  const { options, say } = context;
  const lineUp = await startLineUp(context.chosen(plan.contenders), plan.streamsUrl);
  try {
    for (const line of lineUp.missing) say(`left out: ${line}`);
    for (const contender of lineUp.contenders) {
      await checkContender(contender, plan.expected);
      await load(
        plan,
        contender,
        options.connections[0] ?? 64,
        Math.min(WARM_UP_SECONDS, options.seconds),
      );
    }
    const rows: ReadsRow[] = [];
    for (const connections of options.connections) {
      const measured = await interleave(
        lineUp.contenders,
        options.rounds,
        async (contender, round) => {
          const result = await load(plan, contender, connections, options.seconds);
          const rate = Math.round(result.requestsPerSecond);
          say(`${connections} connections, round ${round + 1}: ${contender.label} ${rate}/s`);
          return result;
        },
      );
      rows.push(
        ...lineUp.contenders.map(({ id, label }) =>
          row(id, label, connections, measured.get(id) ?? []),
        ),
      );
    }
    return { rows, missing: lineUp.missing };
  } finally {
    await lineUp.stop();
  }
}

type Measured = ReadsResult & { cpuUsPerRequest: number | undefined };

async function load(
  plan: ReadsPlan,
  { running }: StartedContender,
  connections: number,
  seconds: number,
): Promise<Measured> {
  const cpuMs = async (): Promise<number> =>
    running.pid === undefined ? 0 : groupCpuMs(running.pid);
  const before = await cpuMs();
  const result = await loadReads({
    url: running.url,
    connections,
    seconds,
    distinctUrls: plan.distinctUrls,
    path: plan.expected.path,
  });
  const usedMs = (await cpuMs()) - before;
  const hasProcess = running.pid !== undefined && result.requests > 0;
  return { ...result, cpuUsPerRequest: hasProcess ? (usedMs * 1000) / result.requests : undefined };
}

function row(id: string, label: string, connections: number, all: readonly Measured[]): ReadsRow {
  const of = (pick: (each: Measured) => number): Spread => spread(all.map(pick));
  const hasCpu = all.every(({ cpuUsPerRequest }) => cpuUsPerRequest !== undefined);
  return {
    id,
    label,
    connections,
    requestsPerSecond: of((each) => each.requestsPerSecond),
    p50Ms: of((each) => each.p50Ms),
    p99Ms: of((each) => each.p99Ms),
    cpuUsPerRequest: hasCpu ? of((each) => each.cpuUsPerRequest ?? 0) : undefined,
    errors: all.reduce((sum, { errors }) => sum + errors, 0),
  };
}
