import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Both packages have the same version: the runner asks for exactly that core. */
const PACKAGES = { '@stryker-mutator/core': '10.0.0', '@stryker-mutator/jest-runner': '10.0.0' };

/**
 * Installs Stryker into a folder of its own, unless it is there. With it come 177 packages, which nobody who installs the
 * project should wait for.
 */
export function installStryker(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const manifest = join(folder, 'package.json');
  const wanted = JSON.stringify({ private: true, dependencies: PACKAGES });
  const main = join(folder, 'node_modules/@stryker-mutator/core/bin/stryker.js');
  if (!existsSync(main) || readFileSync(manifest, 'utf8') !== wanted) {
    writeFileSync(manifest, wanted);
    const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', install, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    writeFileSync(manifest, wanted);
  }
  return main;
}
