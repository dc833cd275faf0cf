import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHistory } from '../../local/stack/history.ts';
import { choosePorts } from '../../local/stack/ports.ts';
import { API_KEY } from '../support/credentials.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { compare } from './compare.ts';
import { EXPECTED_DIFFERENCES } from './differences.ts';
import { runSuite, type Outcomes } from './suite-run.ts';

/** The least share of tests that the server alone must pass. More failures could hide those of the gateway. */
const MIN_PASSED_SHARE = 0.9;

/**
 * The protocol's official suite, at once against a Durable Streams server and against another one
 * behind the gateway. What it finds is a difference between the two.
 */
async function main(): Promise<boolean> {
  const seed = Number(process.env.CONFORMANCE_SEED ?? Date.now() % 2 ** 31);
  console.log(`Durable Streams conformance, seed ${seed} (CONFORMANCE_SEED repeats it)`);
  const workDir = await mkdtemp(join(tmpdir(), 'gateway-conformance-'));
  try {
    const [without, through] = await Promise.all([
      run('without', seed, workDir),
      run('through', seed, workDir),
    ]);
    return report(without, through);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

async function run(name: 'without' | 'through', seed: number, folder: string): Promise<Outcomes> {
  const workDir = join(folder, name);
  await mkdir(workDir);
  const history = await startHistory();
  let gateway: GatewayChild | undefined;
  try {
    // No mount path: the suite names its own, `/v1/stream`, also in Stream-Forked-From.
    const { origin } = new URL(history.url);
    if (name === 'without') return await runSuite({ name, url: origin, seed, workDir });
    gateway = await startGateway(origin);
    const url = `${gateway.url}/streams`;
    return await runSuite({ name, url, apiKey: API_KEY, seed, workDir });
  } finally {
    await gateway?.stop();
    await history.stop();
  }
}

/** The built gateway with the history store as its only upstream. */
async function startGateway(historyUrl: string): Promise<GatewayChild> {
  const { port } = await choosePorts({ port: 0 });
  return startGatewayChild({
    env: {
      GATEWAY_PORT: String(port),
      GATEWAY_HISTORY_URL: historyUrl,
      // The suite wants an absolute Location; without this one it is relative.
      GATEWAY_PUBLIC_URL: `http://127.0.0.1:${port}`,
    },
  });
}

function report(without: Outcomes, through: Outcomes): boolean {
  console.log(`without the gateway: ${counts(without)}`);
  console.log(`through the gateway: ${counts(through)}`);
  for (const { test, without: before, through: after, because } of EXPECTED_DIFFERENCES) {
    console.log(`expected: ${test}\n    ${before} without, ${after} through. ${because}`);
  }
  const { passed, failures } = compare(without, through, EXPECTED_DIFFERENCES);
  const statuses = [...without.values()].map(({ status }) => status);
  const ran = statuses.filter((status) => status !== 'skipped').length;
  const share = statuses.filter((status) => status === 'passed').length / ran;
  if (!(share >= MIN_PASSED_SHARE))
    failures.push('The server fails too much by itself to compare.');
  for (const failure of failures) console.log(`FAILED ${failure}`);
  console.log(`${passed} passed, ${failures.length} failed`);
  return failures.length === 0;
}

function counts(outcomes: Outcomes): string {
  const byStatus = new Map<string, number>();
  for (const { status } of outcomes.values()) byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  return [...byStatus].map(([status, count]) => `${count} ${status}`).join(', ');
}

if (!(await main())) process.exitCode = 1;
