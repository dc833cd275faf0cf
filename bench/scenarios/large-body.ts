import { direct } from '../contenders/direct.ts';
import { gateway } from '../contenders/gateway.ts';
import { haproxy } from '../contenders/haproxy.ts';
import { startLineUp } from '../contenders/line-up.ts';
import { nginx } from '../contenders/nginx.ts';
import { bareUndici } from '../contenders/node-peer.ts';
import { download } from '../load/download.ts';
import { groupCpuMs } from '../measure/cpu-time.ts';
import { interleave } from '../measure/interleave.ts';
import { spread, type Spread } from '../measure/statistics.ts';
import { withStarted } from '../started.ts';
import { LARGE_STREAM, startNginxUpstream } from '../upstreams/nginx-upstream.ts';
import type { BenchContext } from './context.ts';

const BYTES_PER_MIB = 1_048_576;

export interface LargeBodyRow {
  id: string;
  label: string;
  mibPerSecond: Spread;
  /** Processor time of the contender, in milliseconds, for the whole body; null where it has none. */
  cpuMs: Spread | null;
  failure?: string;
}

export interface LargeBodyTable {
  bodyBytes: number;
  rows: LargeBodyRow[];
  missing: string[];
}

/** One client reads one body of 1 GiB. */
export function measureLargeBody(context: BenchContext): Promise<LargeBodyTable> {
  return withStarted(async (started) => {
    const { options, say } = context;
    const upstream = started.add(await startNginxUpstream(options.largeBytes));
    const line = context.chosen([
      gateway({ nodeArgs: context.gatewayNodeArgs('large-body') }),
      nginx(),
      nginx({ bodies: 'large' }),
      haproxy,
      bareUndici,
      direct,
    ]);
    const { contenders, missing } = await startLineUp(started, line, upstream.streamsUrl);
    const series = await interleave(contenders, options.rounds + 1, async (contender, round) => {
      const { running, label } = contender;
      const cpuMsBefore = await groupCpuMs(running.pid);
      const tookMs = await download(running.url + LARGE_STREAM, upstream.largeBytes);
      const cpuMs = (await groupCpuMs(running.pid)) - cpuMsBefore;
      const mibPerSecond = upstream.largeBytes / BYTES_PER_MIB / (tookMs / 1000);
      say(`round ${round}: ${label} ${Math.round(mibPerSecond)} MiB/s`);
      return { mibPerSecond, cpuMs };
    });
    const rows = contenders.map(({ id, label, running }): LargeBodyRow => {
      const { values, failure } = series.get(id) ?? { values: [] };
      // The first only warms up.
      const counted = values.slice(1);
      return {
        id,
        label,
        mibPerSecond: spread(counted.map(({ mibPerSecond }) => mibPerSecond)),
        cpuMs: running.pid === undefined ? null : spread(counted.map(({ cpuMs }) => cpuMs)),
        ...(failure !== undefined && { failure }),
      };
    });
    return { bodyBytes: upstream.largeBytes, rows, missing };
  });
}
