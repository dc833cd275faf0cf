import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRestate } from '../local/stack/restate.ts';

declare global {
  var stopTestRestate: (() => Promise<void>) | undefined;
}

/**
 * Builds the sources and starts one real Restate for the whole run: TEST_RESTATE_INGRESS_URL, TEST_RESTATE_ADMIN_URL.
 */
export default async function globalSetup(): Promise<void> {
  const build = join(import.meta.dirname, '../local/build-when-changed.ts');
  execFileSync(process.execPath, [build], { stdio: 'inherit' });
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-restate-'));
  const removeData = () => rm(dataDir, { recursive: true, force: true });
  try {
    const restate = await startRestate({ dataDir });
    process.env.TEST_RESTATE_INGRESS_URL = restate.ingressUrl;
    process.env.TEST_RESTATE_ADMIN_URL = restate.adminUrl;
    globalThis.stopTestRestate = async () => {
      await restate.stop();
      await removeData();
    };
  } catch (error) {
    // Jest runs no teardown after a setup that failed.
    await removeData();
    throw error;
  }
}
