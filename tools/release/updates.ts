import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { missingPackages } from './lock-file.ts';

const ROOT = join(import.meta.dirname, '../..');

const HELP = `npm run updates

Says which packages have a newer version and why each held-back one is held (docs/dependencies.md), which have a known
vulnerability where the registry can tell, and whether the registry has every package of the lock file, for every platform.
Changes nothing. Ends with 1 where a vulnerability is known or a package is missing.
`;

interface Outdated {
  current?: string;
  wanted: string;
  latest: string;
}

/** The packages in the table "Held back" of docs/dependencies.md, each with its reason. */
export function heldBack(page: string): Map<string, string> {
  const [, section = ''] = /^## Held back$([^]*?)(?=^## |(?![^]))/m.exec(page) ?? [];
  const reasons = new Map<string, string>();
  for (const [, names = '', reason = ''] of section.matchAll(/^\| (`.+?) +\| (.+?) +\|$/gm)) {
    for (const [, name = ''] of names.matchAll(/`([^`]+)`/g)) reasons.set(name, reason);
  }
  return reasons;
}

/**
 * The outdated packages: whether each can be updated, or why not. A dist-tag older than the installed version is
 * ignored.
 */
export function describeOutdated(
  outdated: Readonly<Record<string, Outdated>>,
  held: ReadonlyMap<string, string>,
): string[] {
  return Object.entries(outdated).flatMap(([key, { current = 'nothing', latest }]) => {
    // npm writes an alias as "ai-6:ai@^6.0.326".
    const name = key.split(':')[0] ?? key;
    const reason = held.get(name);
    if (reason !== undefined) return [`held    ${name} ${current} (latest ${latest}): ${reason}`];
    return isNewer(latest, current) ? [`update  ${name} ${current} -> ${latest}`] : [];
  });
}

function isNewer(one: string, other: string): boolean {
  const [a, b] = [one, other].map((version) => version.split(/[.-]/).slice(0, 3).map(Number));
  for (const [index, number] of (a ?? []).entries()) {
    const difference = number - (b?.[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

function npm(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync('npm', [...args, '--loglevel', 'error'], { cwd: ROOT, encoding: 'utf8' });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(): Promise<number> {
  const held = heldBack(readFileSync(join(ROOT, 'docs/dependencies.md'), 'utf8'));
  // npm exits with 1 if a package is outdated. A package of several workspaces is a list.
  const found = JSON.parse(npm('outdated', '--json').stdout || '{}') as Record<
    string,
    Outdated | Outdated[]
  >;
  const outdated = Object.entries(found).map(([name, one]) => [name, [one].flat()[0]] as const);
  const lines = describeOutdated(Object.fromEntries(outdated) as Record<string, Outdated>, held);
  say(lines.length > 0 ? lines.join('\n') : 'Every package is at its newest version.');

  const audit = npm('audit', '--json');
  const { metadata } = JSON.parse(audit.stdout || '{}') as {
    metadata?: { vulnerabilities: { total: number } };
  };
  const vulnerabilities = metadata?.vulnerabilities.total;
  if (vulnerabilities === undefined) say('audit   this registry cannot tell.');
  else
    say(`audit   ${vulnerabilities} known vulnerabilities${vulnerabilities ? ': npm audit' : ''}`);

  const missing = await missingPackages(ROOT);
  for (const name of missing) say(`missing ${name} is in the lock file and not in the registry`);
  if (missing.length === 0) say('lock    the registry has every package, for every platform.');
  return (vulnerabilities ?? 0) > 0 || missing.length > 0 ? 1 : 0;
}

if (import.meta.main) {
  if (process.argv.length > 2) {
    const wantsHelp = process.argv[2] === '--help';
    process[wantsHelp ? 'stdout' : 'stderr'].write(HELP);
    process.exitCode = wantsHelp ? 0 : 2;
  } else process.exitCode = await main();
}
