import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeMachine } from './machine.ts';
import { HELP, PARTS, parseOptions, type BenchOptions } from './options.ts';
import { preparePeers } from './peer-packages.ts';
import { missingProgram } from './programs.ts';
import { goalsTable, partBlocks } from './report/blocks.ts';
import { goals } from './report/goals.ts';
import { mappedProfile } from './report/mapped-profile.ts';
import { ownersTable, type CpuProfile } from './report/profile-owners.ts';
import { writePage } from './report/write-page.ts';
import type { Results } from './results.ts';
import { readResults, withParts, withRunBefore, writeResults } from './results-file.ts';
import type { BenchContext } from './scenarios/context.ts';
import { measureParts } from './scenarios/measure-parts.ts';

const ROOT = join(import.meta.dirname, '..');
const LATEST = join(import.meta.dirname, 'results/latest.json');
const IN_PART = join(ROOT, '.local/bench/results.json');
const PROFILES = join(ROOT, '.local/bench/profiles');
const OWNERS = join(import.meta.dirname, 'results/profile.md');

async function main(args: string[]): Promise<void> {
  const options = parseOptions(args);
  if (options === 'help') {
    say(HELP);
    return;
  }
  if (options.add)
    await writeResults(LATEST, withParts(await readResults(LATEST), await readResults(IN_PART)));
  if (options.add || options.render) {
    await writePage(await readResults(LATEST));
    return;
  }
  const missing = missingProgram('wrk') ?? missingProgram('nginx');
  if (missing !== undefined) throw new Error(`nothing can be measured: ${missing}`);
  await preparePeers(say);
  const isWhole = args.length === 0;
  // Before all else: after forty minutes it is too late to find that they cannot be read.
  const before = isWhole && existsSync(LATEST) ? await readResults(LATEST) : undefined;
  const results = await measure(options);
  await writeResults(isWhole ? LATEST : IN_PART, withRunBefore(results, before));
  // From the file, which has fewer digits: `--render` is to make the same page.
  if (isWhole) await writePage(await readResults(LATEST));
  tell(results, isWhole);
  if (options.profile) await tellOwners();
}

async function measure(options: BenchOptions): Promise<Results> {
  const startedAt = new Date();
  const machine = await describeMachine();
  const context = await contextOf(options);
  const measured = await measureParts(context, (part, measurements) => {
    for (const [name, block] of partBlocks(part, measurements)) say(`\n${name}\n\n${block}\n`);
  });
  const { seconds, rounds, events } = options;
  const tookSeconds = (Date.now() - startedAt.getTime()) / 1000;
  const takenAt = startedAt.toISOString();
  return {
    takenAt,
    tookSeconds,
    commit: await commit(),
    machine,
    seconds,
    rounds,
    events,
    ...measured,
  };
}

async function contextOf(options: BenchOptions): Promise<BenchContext> {
  if (options.profile) {
    await rm(PROFILES, { recursive: true, force: true });
    await mkdir(PROFILES, { recursive: true });
  }
  const profileArgs = (part: string): string[] => [
    '--cpu-prof',
    `--cpu-prof-dir=${PROFILES}`,
    `--cpu-prof-name=${part}-${Date.now()}.cpuprofile`,
  ];
  return {
    options,
    say,
    gatewayNodeArgs: (part) => (options.profile ? profileArgs(part) : []),
    chosen: (contenders) => contenders.filter(({ id }) => options.contenders?.includes(id) ?? true),
  };
}

async function commit(): Promise<string> {
  const git = promisify(execFile)('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT });
  return git.then(
    ({ stdout }) => stdout.trim(),
    () => 'unknown',
  );
}

function tell({ measurements, failures, tookSeconds }: Results, isWhole: boolean): void {
  if (goals(measurements).length > 0) say(`\n${goalsTable({ measurements })}\n`);
  for (const [part, reason] of Object.entries(failures)) {
    say(`${part} failed: ${reason}`);
    process.exitCode = 1;
  }
  const written = isWhole ? `docs/performance.md and ${LATEST}` : IN_PART;
  say(
    `${PARTS.length} parts there are, ${Object.keys(measurements).length} were measured in ${Math.round(tookSeconds)} s; see ${written}`,
  );
}

/** Writes who used the processor in each part, as far as the profiles tell. */
async function tellOwners(): Promise<void> {
  const profiles: Record<string, CpuProfile> = {};
  for (const file of (await readdir(PROFILES)).sort()) {
    const part = file.replace(/-\d+\.cpuprofile$/, '');
    const profile = JSON.parse(await readFile(join(PROFILES, file), 'utf8')) as CpuProfile;
    profiles[part] = mappedProfile(profile);
  }
  const table = ownersTable(profiles);
  const head = `Shares of the gateway's processor time by part of the bench, at ${await commit()}. \`npm run bench -- --profile\` writes this.`;
  await writeFile(OWNERS, `${head}\n\n${table}\n`);
  say(`\n${table}\n\nin ${OWNERS}; the profiles, for Chrome's DevTools: ${PROFILES}`);
}

function say(line: string): void {
  console.log(line);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
