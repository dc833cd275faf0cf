import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { installStryker } from './install-stryker.ts';
import { mutantsOf, type Mutant, type Report } from './mutants.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Nothing else looks in here: neither Git nor Jest nor the linter. */
const FOLDER = join(ROOT, '.local/mutation');

export interface Round {
  name: string;
  /** Files, or places in files. */
  mutate: string[];
  /** Jest's patterns of the files with tests. */
  testMatch: string[];
  concurrency: number;
  /** Whether the tests need a Restate. */
  withRestate: boolean;
}

/** Runs the tests once for each mutant. Returns undefined if there are none. Throws if Stryker could not. */
export function runStryker(round: Round): Mutant[] | undefined {
  const main = installStryker(FOLDER);
  const reportFile = join(FOLDER, `${round.name}.json`);
  const configFile = join(FOLDER, `${round.name}.config.json`);
  rmSync(reportFile, { force: true });
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(configFile, JSON.stringify(configOf(round, reportFile), undefined, 2));
  const { status } = spawnSync(process.execPath, [main, 'run', configFile], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`Stryker ended with exit code ${status}.`);
  // Without any test Stryker writes no report.
  if (!existsSync(reportFile)) return undefined;
  return mutantsOf(JSON.parse(readFileSync(reportFile, 'utf8')) as Report);
}

function configOf(
  { mutate, testMatch, concurrency, withRestate }: Round,
  reportFile: string,
): object {
  return {
    plugins: [join(FOLDER, 'node_modules/@stryker-mutator/jest-runner/dist/src/index.js')],
    testRunner: 'jest',
    // The project's own Node, with modules as Jest needs them.
    testRunnerNodeArgs: ['--experimental-vm-modules', '--no-warnings'],
    jest: {
      configFile: 'test/mutation/jest.config.js',
      config: {
        testMatch: testMatch.map((pattern) => `<rootDir>/${pattern}`),
        ...(withRestate && {
          globalSetup: '<rootDir>/test/mutation/restate-setup.ts',
          globalTeardown: '<rootDir>/test/global-teardown.ts',
        }),
      },
      enableFindRelatedTests: true,
    },
    coverageAnalysis: 'perTest',
    mutate,
    concurrency,
    // A module's constants are the same for every test of a process. Each of their mutants would run all tests.
    ignoreStatic: true,
    timeoutMS: 15_000,
    // Jest's modules stay in memory after a run.
    maxTestRunnerReuse: 40,
    tempDirName: relative(ROOT, join(FOLDER, 'sandbox')),
    ignorePatterns: ['.local', 'dist', 'packages/*/dist', 'docs/images'],
    // The tests run the sources as they are: nothing compiles them with types.
    disableTypeChecks: false,
    reporters: ['progress-append-only', 'json'],
    jsonReporter: { fileName: reportFile },
    allowEmpty: true,
    packageManager: 'npm',
  };
}
