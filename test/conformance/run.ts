import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { choosePorts } from '../../local/stack/ports.ts';
import { giveUp } from '../support/checks.ts';
import { API_KEY } from '../support/credentials.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { compare } from './compare.ts';
import type { ExpectedDifference } from './differences.ts';
import { SERVERS, type Server } from './servers.ts';
import { runSuite, type Outcomes } from './suite-run.ts';

const HELP = `npm run test:conformance [-- --server NAME]

The official suite of the Durable Streams protocol, at once against a server and against another one behind the gateway.
Every test has to pass in both runs, or to end as test/conformance/differences.ts says of that server.

  --server NAME  The server: ${Object.keys(SERVERS).join(' or ')} (default node). It says how to install one that is missing.
  --help         Show this.

CONFORMANCE_SEED in the environment repeats the random inputs of an earlier run.
`;

async function main(): Promise<void> {
  const { values: options } = parseArgs({
    options: {
      server: { type: 'string', default: 'node' },
      help: { type: 'boolean', default: false },
    },
  });
  if (options.help) {
    process.stdout.write(HELP);
    return;
  }
  const server = new Map<string, Server>(Object.entries(SERVERS)).get(options.server);
  if (!server) {
    giveUp(`--server is ${Object.keys(SERVERS).join(' or ')}, and not "${options.server}".`);
    return;
  }
  const missing = server.missing?.();
  if (missing !== undefined) {
    giveUp(missing);
    return;
  }
  if (!(await test(options.server, server))) process.exitCode = 1;
}

async function test(name: string, server: Server): Promise<boolean> {
  const seed = Number(process.env.CONFORMANCE_SEED ?? Date.now() % 2 ** 31);
  console.log(
    `Durable Streams conformance, server ${name}, seed ${seed} (CONFORMANCE_SEED repeats it)`,
  );
  const workDir = await mkdtemp(join(tmpdir(), 'gateway-conformance-'));
  try {
    const [without, through] = await Promise.all([
      run(server, 'without', seed, workDir),
      run(server, 'through', seed, workDir),
    ]);
    return report(without, through, server.differences);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

async function run(
  server: Server,
  name: 'without' | 'through',
  seed: number,
  folder: string,
): Promise<Outcomes> {
  const workDir = join(folder, name);
  await mkdir(workDir);
  const running = await server.start(join(workDir, 'data'));
  let gateway: GatewayChild | undefined;
  try {
    if (name === 'without') return await runSuite({ name, url: running.url, seed, workDir });
    gateway = await startGateway(running.url);
    const url = `${gateway.url}/streams`;
    return await runSuite({ name, url, apiKey: API_KEY, seed, workDir });
  } finally {
    await gateway?.stop();
    await running.stop();
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

function report(
  without: Outcomes,
  through: Outcomes,
  expected: readonly ExpectedDifference[],
): boolean {
  console.log(`without the gateway: ${counts(without)}`);
  console.log(`through the gateway: ${counts(through)}`);
  for (const { test, without: before, through: after, because } of expected) {
    console.log(`expected: ${String(test)}\n    ${before} without, ${after} through. ${because}`);
  }
  const { passed, failures } = compare(without, through, expected);
  for (const failure of failures) console.log(`FAILED ${failure}`);
  console.log(`${passed} passed, ${failures.length} failed`);
  return failures.length === 0;
}

function counts(outcomes: Outcomes): string {
  const byStatus = new Map<string, number>();
  for (const { status } of outcomes.values()) byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  return [...byStatus].map(([status, count]) => `${count} ${status}`).join(', ');
}

await main();
