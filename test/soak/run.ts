import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { withParts } from '../support/parts.ts';
import { askHoldings, type Holdings } from './holdings.ts';
import { runLoad } from './load.ts';
import { Random } from './random.ts';
import { report } from './report.ts';
import { startStack, type Slot, type Stack } from './stack.ts';

/** The whole system under mixed load with random faults, and then checks that nothing was lost, repeated or leaked. */
const { values } = parseArgs({
  options: {
    // Under faults. The warm-up and the checks take about one more.
    minutes: { type: 'string', default: '1' },
    // Repeats the load and the faults of an earlier run.
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    // A file, from the folder of the call.
    report: { type: 'string', default: '.local/soak-report.md' },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
if (!(minutes > 0) || !Number.isInteger(seed))
  throw new Error('--minutes N above 0, --seed N whole');

const WARM_UP_MS = 15_000;
const SAMPLE_INTERVAL_MS = 5_000;
const REST_TIMEOUT_MS = 120_000;
const REST_CHECK_MS = 1_000;
/** So often in a row a gateway has to hold the same: the load balancer closes its idle connections one after the other. */
const CHECKS_AT_REST = 4;
/** The allowed growth. Compiled code and caches add a little; a leak adds far more in half an hour. */
const ALLOWED_HEAP_GROWTH_BYTES = 8 * 1_048_576;
/** The growth that the load balancer's connections may cause, idle or just being opened. */
const ALLOWED_MORE_RESOURCES = 3;

const say = (text: string): void => {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
};

const startedAt = new Date();
const commit = commitUnderTest();
say(`soak of ${minutes} minutes, seed ${seed}, commit ${commit}`);
const failures = await withParts(async (keep) => soak(await startStack(keep)));
process.exitCode = failures === 0 ? 0 : 1;
// The clients keep timers of their own.
process.exit();

/** For the report: its full hash, and a word if files differ from it. */
function commitUnderTest(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  try {
    const commit = git('rev-parse', 'HEAD');
    const isDirty = git('status', '--porcelain') !== '';
    return isDirty ? `${commit}, dirty: with changes that are not committed` : commit;
  } catch {
    return 'unknown: this is no git repository';
  }
}

async function soak(stack: Stack): Promise<number> {
  const { staying } = stack;
  const random = new Random(seed);
  say('warm-up');
  const warmUp = await runLoad(stack, random, {
    name: 'warm',
    durationMs: WARM_UP_MS,
    withFaults: false,
  });
  const before = await atRest(staying);
  say('load with faults');
  const memory = sampleMemory(staying);
  const load = await runLoad(stack, random, {
    name: 'soak',
    durationMs: minutes * 60_000,
    withFaults: true,
  });
  memory.stop();
  say('at rest again');
  const after = await atRest(staying, before);
  const all = [
    ...warmUp.failures.map((failure) => `warm-up: ${failure}`),
    ...load.failures,
    ...leaks(before, after),
  ];
  const page = report({
    startedAt,
    commit,
    minutes,
    seed,
    load,
    before,
    after,
    residentBytes: memory.samples,
    failures: all,
  });
  const file = resolve(values.report);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, page);
  say(
    `${all.length === 0 ? 'clean' : `${all.length} failures`}; commit ${commit}; the report is ${file}`,
  );
  process.stdout.write(`\n${page}`);
  return all.length;
}

/** The resources of a gateway once they no longer fall, or are back at the level of before. */
async function atRest({ probeSocket }: Slot, before?: Holdings): Promise<Holdings> {
  const giveUpAtMs = performance.now() + REST_TIMEOUT_MS;
  let holdings = await askHoldings(probeSocket);
  let still = 0;
  for (;;) {
    await sleep(REST_CHECK_MS);
    const next = await askHoldings(probeSocket);
    const isStill = JSON.stringify(next.resources) === JSON.stringify(holdings.resources);
    still = isStill ? still + 1 : 0;
    holdings = next;
    const isBack = before
      ? leaks(before, next).length === 0
      : still >= CHECKS_AT_REST && (next.resources['TCPSocketWrap'] ?? 0) < 20;
    if (isBack || performance.now() > giveUpAtMs) return holdings;
  }
}

function leaks(before: Holdings, after: Holdings): string[] {
  const grown = after.heapUsed - before.heapUsed;
  const more = Object.entries(after.resources).filter(
    ([name, count]) => count > (before.resources[name] ?? 0) + ALLOWED_MORE_RESOURCES,
  );
  return [
    ...(grown > ALLOWED_HEAP_GROWTH_BYTES ? [`the heap has grown by ${grown} bytes`] : []),
    ...more.map(
      ([name, count]) => `${name}: ${before.resources[name] ?? 0} before, ${count} after`,
    ),
  ];
}

function sampleMemory({ gateway }: Slot): { samples: number[]; stop: () => void } {
  const samples: number[] = [];
  const timer = setInterval(() => {
    gateway.residentBytes().then(
      (bytes) => samples.push(bytes),
      () => undefined,
    );
  }, SAMPLE_INTERVAL_MS);
  return { samples, stop: () => clearInterval(timer) };
}
