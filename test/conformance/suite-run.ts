import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { startProcess } from '../../local/stack/process.ts';

export interface TestOutcome {
  status: string;
  /** Why it failed, its first line; empty otherwise. */
  reason: string;
}

/** The outcome of every test of the suite, by the test's full name. */
export type Outcomes = ReadonlyMap<string, TestOutcome>;

export interface SuiteOptions {
  name: string;
  /** The server's base URL, to which the suite adds `/v1/stream/…`. */
  url: string;
  /** Sent as a bearer credential with every request to the URL's origin. */
  apiKey?: string;
  /** Of the suite's random inputs. */
  seed: number;
  /** An empty folder for Vitest's report and cache. */
  workDir: string;
}

/** The fields of Vitest's JSON report that are used. */
interface Report {
  testResults: {
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
}

/** Runs the official suite once in a process of its own. Rejects if the suite ended early. */
export async function runSuite(options: SuiteOptions): Promise<Outcomes> {
  const reportFile = join(options.workDir, 'report.json');
  const vitest = startProcess({
    name: `the suite ${options.name}`,
    command: process.execPath,
    args: [
      vitestPath(),
      'run',
      `--config=${join(import.meta.dirname, 'vitest.config.ts')}`,
      '--reporter=json',
      `--outputFile=${reportFile}`,
    ],
    env: {
      ...process.env,
      CONFORMANCE_URL: options.url,
      CONFORMANCE_API_KEY: options.apiKey,
      CONFORMANCE_SEED: String(options.seed),
      CONFORMANCE_WORK_DIR: options.workDir,
    },
  });
  await vitest.exited;
  const report = await readFile(reportFile, 'utf8').catch((cause: unknown) => {
    const lastLines = vitest.lastLines().join('\n');
    throw new Error(`the suite ${options.name} left no report:\n${lastLines}`, { cause });
  });
  return outcomesOf(JSON.parse(report) as Report);
}

function outcomesOf({ testResults }: Report): Outcomes {
  const outcomes = new Map<string, TestOutcome>();
  for (const { message, assertionResults } of testResults) {
    if (assertionResults.length === 0) throw new Error(`the suite holds no test: ${message}`);
    for (const { fullName, status, failureMessages } of assertionResults) {
      if (outcomes.has(fullName)) throw new Error(`two tests are named "${fullName}"`);
      outcomes.set(fullName, { status, reason: failureMessages[0]?.split('\n', 1)[0] ?? '' });
    }
  }
  return outcomes;
}

/** The Vitest with which the suite registers its tests. The project may have another version. */
function vitestPath(): string {
  const suite = createRequire(import.meta.url).resolve(
    '@durable-streams/server-conformance-tests/package.json',
  );
  return join(dirname(createRequire(suite).resolve('vitest/package.json')), 'vitest.mjs');
}
