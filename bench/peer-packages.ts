import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'rolldown';

const FOLDER = import.meta.dirname;
const INSTALLED = join(FOLDER, 'node_modules/.package-lock.json');

/** The reason why the Node peers cannot run, or undefined if they can. */
export function missingPackages(): string | undefined {
  return existsSync(INSTALLED)
    ? undefined
    : 'its packages could not be installed (npm ci in bench/)';
}

/** Makes what the Node peers need to run: the packages, and what they share with the gateway. */
export async function preparePeers(say: (line: string) => void): Promise<void> {
  await installPeerPackages(say);
  await buildGatewayParts();
}

/**
 * Installs the packages of the Node peers into `bench/node_modules`, unless it already holds those of the lock file.
 */
async function installPeerPackages(say: (line: string) => void): Promise<void> {
  if (await isUpToDate()) return;
  say('installing the Node proxies to compare with (npm ci in bench/)');
  const npm = spawn(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: FOLDER,
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  const [code] = (await once(npm, 'exit')) as [number | null];
  if (code !== 0) say('npm ci in bench/ failed: the Node proxies are left out');
}

/**
 * Compiles what the peers share with the gateway. A peer that loads TypeScript has 20 MiB more, for what removes the types.
 */
async function buildGatewayParts(): Promise<void> {
  await build({
    input: join(FOLDER, 'peers/gateway-parts.ts'),
    platform: 'node',
    output: { file: join(FOLDER, '../.local/bench/gateway-parts.js') },
  });
}

/** npm keeps a copy of the lock file that it installed, without the entry of the root package. */
async function isUpToDate(): Promise<boolean> {
  if (!existsSync(INSTALLED)) return false;
  const [wanted, installed] = await Promise.all([
    packagesOf(join(FOLDER, 'package-lock.json')),
    packagesOf(INSTALLED),
  ]);
  return [...wanted].every(([path, version]) => path === '' || installed.get(path) === version);
}

async function packagesOf(lockPath: string): Promise<Map<string, string | undefined>> {
  const lock = JSON.parse(await readFile(lockPath, 'utf8')) as {
    packages: Record<string, { version?: string }>;
  };
  return new Map(Object.entries(lock.packages).map(([path, { version }]) => [path, version]));
}
