import assert from 'node:assert/strict';
import { AUTHORIZED } from '../contenders/contender.ts';
import { startGateway } from '../contenders/gateway.ts';
import { bareNest, bareUndici, dutifulNest } from '../contenders/node-peer.ts';
import { runWrk, type LoadResult } from '../load/wrk.ts';
import { groupCpuMs } from '../measure/cpu-time.ts';
import { interleave, type Series } from '../measure/interleave.ts';
import type { Spread } from '../measure/statistics.ts';
import { summaryOf } from '../measure/summary.ts';
import { withStarted, type Started } from '../started.ts';
import { startInstantRuntime } from '../upstreams/instant-runtime.ts';
import { startRuntime, type Runtime } from '../upstreams/runtime.ts';
import type { BenchContext } from './context.ts';

/** One command at a time shows the delay that the gateway adds; many at once show the rate. */
const CONNECTIONS = [1, 32] as const;
const WARM_UP_SECONDS = 2;

export interface CommandsRow {
  id: WayName;
  label: string;
  connections: number;
  commandsPerSecond: Spread;
  p50Ms: Spread;
  p99Ms: Spread;
  /** Processor time of the way alone, in microseconds; null where it is no process. */
  cpuUsPerCommand: Spread | null;
  failure?: string;
}

export interface CommandsTable {
  /** With a real Restate. */
  rows: CommandsRow[];
  /** With an upstream that accepts every command at once. */
  instant: CommandsRow[];
}

type WayName = 'gateway' | 'bare-undici' | 'nest' | 'dutiful-nest' | 'direct';

interface Way {
  id: WayName;
  label: string;
  pid: number | undefined;
  origin: string;
  /** Of a message to an entity: what comes before its id in the path, and behind. */
  before: string;
  behind: string;
}

/** Messages to agents: directly, through the gateway, and through bare Node servers. */
export async function measureCommands(context: BenchContext): Promise<CommandsTable> {
  return {
    rows: await measureWays(context, startRuntime, CONNECTIONS),
    instant: await measureWays(context, startInstantRuntime, [32]),
  };
}

function measureWays(
  context: BenchContext,
  startUpstream: (started: Started) => Promise<Runtime>,
  levels: readonly number[],
): Promise<CommandsRow[]> {
  return withStarted(async (started) => {
    const { options, say } = context;
    const runtime = await startUpstream(started);
    const gateway = started.add(
      await startGateway({
        env: {
          GATEWAY_RUNTIME_INGRESS_URL: runtime.ingressUrl,
          GATEWAY_RUNTIME_ADMIN_URL: runtime.adminUrl,
        },
        nodeArgs: context.gatewayNodeArgs('commands'),
      }),
    );
    const ways: Way[] = [
      {
        id: 'gateway',
        label: 'agent gateway',
        pid: gateway.pid,
        origin: new URL(gateway.url).origin,
        before: '/api/a/bench/',
        behind: '/send',
      },
      {
        id: 'direct',
        label: 'upstream, direct',
        pid: undefined,
        origin: runtime.ingressUrl,
        before: '/bench/',
        behind: '/wake/send',
      },
    ];
    for (const peer of [bareUndici, bareNest, dutifulNest]) {
      if (peer.missing() !== undefined) continue;
      const { pid, url } = started.add(await peer.start(runtime.ingressUrl));
      ways.push({
        id: peer.id as WayName,
        label: peer.label,
        pid,
        origin: new URL(url).origin,
        before: `${new URL(url).pathname}/bench/`,
        behind: '/wake/send',
      });
    }
    for (const way of ways) {
      await check(way);
      if (options.warmUpRequests > 0) await send(runtime, way, 32, WARM_UP_SECONDS);
    }
    const rows: CommandsRow[] = [];
    for (const connections of levels) {
      const series = await interleave(ways, options.rounds, async (way, round) => {
        const result = await send(runtime, way, connections, options.seconds);
        const rate = Math.round(result.requestsPerSecond);
        say(
          `${connections} at once, round ${round + 1}: ${way.label} ${rate}/s, p50 ${result.p50Ms.toFixed(2)} ms`,
        );
        return result;
      });
      for (const { id, label } of ways)
        rows.push({ id, label, connections, ...summary(series.get(id)) });
    }
    return rows;
  });
}

async function check({ origin, before, behind, label }: Way): Promise<void> {
  const response = await fetch(`${origin}${before}check${behind}`, {
    method: 'POST',
    headers: { ...AUTHORIZED, 'content-type': 'application/json' },
    body: '{}',
  });
  const body = (await response.json()) as {
    invocationId?: string;
    restate?: { invocationId?: string };
  };
  const invocationId = body.invocationId ?? body.restate?.invocationId ?? '';
  assert.equal(response.status, 202, label);
  assert.match(invocationId, /^inv_/, label);
}

/** Waits until the agent has handled all accepted commands, so that they do not slow down the next contender. */
async function send(
  runtime: Runtime,
  { origin, before, behind, pid }: Way,
  connections: number,
  seconds: number,
): Promise<Sent> {
  const handledBefore = await runtime.handled();
  const args = [before, behind];
  const cpuMsBefore = await groupCpuMs(pid);
  const result = await runWrk({ script: 'commands.lua', args, origin, connections, seconds });
  const usedMs = (await groupCpuMs(pid)) - cpuMsBefore;
  if (result.errors > 0)
    throw new Error(`${result.errors} of ${result.requests} commands went wrong`);
  await runtime.untilHandled(handledBefore + result.requests);
  return { ...result, cpuUsPerCommand: (usedMs * 1000) / result.requests };
}

type Sent = LoadResult & { cpuUsPerCommand: number };

function summary(
  series: Series<Sent> | undefined,
): Omit<CommandsRow, 'id' | 'label' | 'connections'> {
  const { requestsPerSecond, cpuUsPerCommand, ...others } = summaryOf(series, [
    'requestsPerSecond',
    'p50Ms',
    'p99Ms',
    'cpuUsPerCommand',
  ]);
  return {
    ...others,
    commandsPerSecond: requestsPerSecond,
    cpuUsPerCommand: cpuUsPerCommand.max > 0 ? cpuUsPerCommand : null,
  };
}
