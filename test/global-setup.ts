import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { startRestateOfRun } from './support/restate-of-run.ts';

declare global {
  var stopTestRestate: (() => Promise<void>) | undefined;
}

/** Builds the sources and starts one real Restate for the whole run. */
export default async function globalSetup(): Promise<void> {
  const build = join(import.meta.dirname, '../local/build-when-changed.ts');
  execFileSync(process.execPath, [build], { stdio: 'inherit' });
  globalThis.stopTestRestate = await startRestateOfRun();
}
