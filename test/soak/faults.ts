import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from './random.ts';
import type { Stack } from './stack.ts';

const MIN_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 6_000;
/** A drained gateway must have exited by then: its drain time of 5 s, and what a busy machine adds. */
const DRAIN_ENDS_WITHIN_MS = 20_000;

/** With an end where it lasts for a while. */
type Fault = [name: string, begin: () => unknown, end?: () => unknown];

export class FaultRecord {
  readonly times = new Map<string, number>();
  /** What a fault brought to light by itself, such as a drain that did not end. */
  readonly failures: string[] = [];
  readonly drainTimesMs: number[] = [];
}

/** Breaks one part of the system after the other, until the signal. Each is repaired before the next one. */
export async function inflictFaults(
  stack: Stack,
  random: Random,
  signal: AbortSignal,
): Promise<FaultRecord> {
  const record = new FaultRecord();
  const { restate, historyLink } = stack;
  const drain = () => drainAndReplace(stack, record);
  const faults: [Fault, ...Fault[]] = [
    // Twice: drains are more frequent than other faults.
    ['gateway drained and replaced', drain],
    ['gateway drained and replaced', drain],
    ['gateway killed and replaced', () => stack.replaceGateway('SIGKILL')],
    ['runtime killed and restarted', () => restate.kill(), () => restate.restart()],
    ['sync engine killed and restarted', () => stack.restartCatalog()],
    ['history store: connections cut', () => historyLink.cut()],
    ['history store: stalled', () => historyLink.stall(), () => historyLink.resume()],
    ['history store: down', () => historyLink.goDown(), () => historyLink.resume()],
  ];
  for (;;) {
    const pauseMs = random.between(MIN_PAUSE_MS, MAX_PAUSE_MS);
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return record;
    const [name, begin, end] = random.pick(faults);
    const lastsMs = random.between(500, 3_000);
    await begin();
    if (end) await sleep(lastsMs).then(end);
    record.times.set(name, (record.times.get(name) ?? 0) + 1);
  }
}

async function drainAndReplace(stack: Stack, record: FaultRecord): Promise<void> {
  const startedAtMs = performance.now();
  void stack.replaced.gateway.exited.then(() => {
    const tookMs = performance.now() - startedAtMs;
    record.drainTimesMs.push(tookMs);
    if (tookMs > DRAIN_ENDS_WITHIN_MS)
      record.failures.push(`a drain took ${Math.round(tookMs)} ms`);
  });
  const exitCode = await stack.replaceGateway('SIGTERM');
  if (exitCode !== 0) record.failures.push(`a drained gateway ended with exit code ${exitCode}`);
}
