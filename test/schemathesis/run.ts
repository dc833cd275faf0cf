import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { giveUp } from '../support/checks.ts';
import { API_KEY, READ_TOKEN_SECRET } from '../support/credentials.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { fuzz, type Outcome } from './fuzz.ts';
import { startFuzzedSystem } from './system.ts';

const HOW_TO_GET_IT =
  'schemathesis is missing: it comes by `pip install schemathesis==4.32.5`, best into a venv of its\n' +
  'own, whose bin folder has to be on the PATH.';
const TOKEN_TTL_SECONDS = 3_600;

/** The operations that must succeed at least once with the API key, or the run proves nothing. */
const TAKEN_WITH_API_KEY = [
  'POST /api/spawn',
  'POST /api/a/{type}/{id}/send',
  'POST /api/t/{tenant}/a/{type}/{id}/control',
  'PUT /streams/{path}',
  'POST /streams/{path}',
  'GET /streams/{path}',
  'GET /shapes/v1/shape',
  'POST /registry/deployments',
  'GET /registry/{path}',
  'GET /health',
];
const TAKEN_WITH_READ_TOKEN = ['GET /streams/{path}', 'GET /shapes/v1/shape'];

/** Another seed than that of the configuration: `npm run test:openapi -- 42`. */
const [seed] = process.argv.slice(2);
const SEED = seed === undefined ? [] : ['--seed', seed];

/** Sends requests that the document allows, and many that it does not, to a gateway with real upstreams. */
async function main(): Promise<void> {
  const workFolder = await mkdtemp(join(tmpdir(), 'gateway-schemathesis-'));
  const system = await startFuzzedSystem();
  try {
    const run = { url: system.url, agentsUri: system.agentsUri, workFolder };
    const readToken = await mintReadToken(READ_TOKEN_SECRET, {
      prefix: ['/streams/fuzz', '/shapes'],
      ttlSeconds: TOKEN_TTL_SECONDS,
    });
    const withReadToken = await fuzz({
      ...run,
      credential: readToken,
      taken: TAKEN_WITH_READ_TOKEN,
      args: [
        '--include-tag',
        'Streams',
        '--include-tag',
        'Shapes',
        '--phases',
        'coverage,fuzzing',
        '--max-examples',
        '8',
      ],
    });
    // Deletes what the reads above are for.
    const withApiKey = await fuzz({
      ...run,
      credential: API_KEY,
      taken: TAKEN_WITH_API_KEY,
      args: SEED,
    });
    report([withReadToken, withApiKey]);
  } finally {
    await system.stop();
    await rm(workFolder, { recursive: true });
  }
}

/** An operation counts once with each credential. */
function report(outcomes: Outcome[]): void {
  const sum = (count: (outcome: Outcome) => number): number =>
    outcomes.reduce((total, outcome) => total + count(outcome), 0);
  for (const { faults } of outcomes) for (const fault of faults) process.stdout.write(`${fault}\n`);
  const failed = sum(({ faults }) => faults.length);
  process.stdout.write(`\n${sum(({ passed }) => passed)} passed, ${failed} failed\n`);
  if (failed > 0) process.exitCode = 1;
}

if (spawnSync('schemathesis', ['--version']).status === 0) await main();
else giveUp(HOW_TO_GET_IT);
