/**
 * Mutation testing of a part of `src/`: `npm run test:mutation -- src/shapes`. Stryker changes the code in small ways, one at a
 * time. A change that no test sees shows what is not tested, or code that nothing needs.
 */
import { describeMutant, isUnseen, rangeOf, sameChange, type Mutant } from './mutants.ts';
import { parseOptions, USAGE, type Options } from './options.ts';
import { runStryker } from './stryker.ts';

/** The tests over HTTP of `npm test` that a folder of `src/` matters to. The longest name that fits counts. */
const HTTP_TESTS: Record<string, string[]> = {
  'src/auth': ['tokens'],
  'src/commands': ['commands'],
  'src/registry': ['commands'],
  'src/health': ['server', 'telemetry'],
  'src/contract': ['tokens', 'telemetry'],
  'src/platform/cors': ['cors'],
  'src/platform/metrics': ['telemetry'],
  'src/platform/server': ['server', 'streams'],
  'src/platform/telemetry': ['telemetry'],
  'src/platform/tracing': ['telemetry'],
  'src/proxy': ['streams'],
  'src/shapes': ['shapes'],
  'src/streams': ['streams'],
};

/**
 * The specs of units come first, because they take a second. Only what they do not see is tried with the tests over
 * HTTP, which take ten times as long.
 */
function main({ paths, concurrency, unitsOnly }: Options): Mutant[] {
  const files = paths.map((path) => (path.endsWith('.ts') ? path : `${path}/**/*.ts`));
  const mutate = [...files, '!**/*.spec.ts'];
  const units = runStryker({
    name: 'units',
    mutate,
    testMatch: ['src/**/*.spec.ts'],
    concurrency,
    withRestate: false,
  });
  const unseen = units?.filter(isUnseen);
  const suites = [...new Set(paths.flatMap(httpTestsOf))];
  if (unitsOnly || unseen?.length === 0 || suites.length === 0) return units ?? [];
  const overHttp = runStryker({
    name: 'http',
    mutate: unseen ? [...new Set(unseen.map(rangeOf))] : mutate,
    testMatch: suites.map((suite) => `test/${suite}/*.e2e-spec.ts`),
    concurrency,
    withRestate: true,
  });
  if (!units || !overHttp) return units ?? overHttp ?? [];
  return units.map((unit) =>
    isUnseen(unit) ? (overHttp.find((other) => sameChange(unit, other)) ?? unit) : unit,
  );
}

function httpTestsOf(path: string): string[] {
  const names = Object.keys(HTTP_TESTS).filter((name) => `${path}/`.startsWith(`${name}/`));
  const longest = names.sort((one, other) => other.length - one.length)[0];
  return longest ? (HTTP_TESTS[longest] ?? []) : [];
}

function report(mutants: Mutant[]): void {
  const unseen = mutants.filter(isUnseen);
  // A test that hangs finds a mutant too, but says nothing about it.
  const hangs = mutants.filter(({ status }) => status === 'Timeout');
  const tried = mutants.filter(({ status }) => status !== 'Ignored');
  for (const mutant of [...hangs, ...unseen]) process.stdout.write(`${describeMutant(mutant)}\n`);
  process.stdout.write(
    `${tried.length} mutants: no test sees ${unseen.length}, and ${hangs.length} make a test hang\n`,
  );
}

let options: Options | undefined;
try {
  options = parseOptions(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
  process.exitCode = 2;
}
if (options) report(main(options));
