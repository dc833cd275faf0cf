import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './commands.ts';

interface LockedPackage {
  name?: string;
  version: string;
  link?: boolean;
  os?: string[];
}

const AT_ONCE = 16;
/** A registry may fail to answer once. */
const RETRY_MS = 2_000;

/**
 * The packages of the lock file that are not installed here and that the registry does not have, as `name@version`.
 * `npm ci` fails with such a lock file only on the platform that needs the package, because other platforms never
 * request it.
 */
export async function missingPackages(root: string): Promise<string[]> {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const registry = run('npm', ['config', 'get', 'registry', '--loglevel', 'error'], { cwd: root });
  const wanted = new Set<string>();
  for (const [path, { name, version, link }] of Object.entries(packages)) {
    const [, installedAs] = /node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? [];
    if (installedAs === undefined || link || existsSync(join(root, path))) continue;
    wanted.add(`${name ?? installedAs}@${version}`);
  }
  const missing: string[] = [];
  const queue = [...wanted];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = queue.pop(); next; next = queue.pop()) {
        if (!(await isThere(registry.trim(), next))) missing.push(next);
      }
    }),
  );
  return missing.sort();
}

async function isThere(registry: string, nameAndVersion: string): Promise<boolean> {
  const at = nameAndVersion.lastIndexOf('@');
  const [name, version] = [nameAndVersion.slice(0, at), nameAndVersion.slice(at + 1)];
  const file = `${name}/-/${name.split('/').at(-1)}-${version}.tgz`;
  const url = new URL(file, registry.replace(/\/?$/, '/'));
  for (let tries = 1; ; tries++) {
    const answer = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(30_000) }).catch(
      (error: unknown) => ({ status: String(error) }),
    );
    if (answer.status === 200 || answer.status === 404) return answer.status === 200;
    if (tries === 3) throw new Error(`HEAD ${url.pathname}: ${answer.status}`);
    await sleep(RETRY_MS);
  }
}
