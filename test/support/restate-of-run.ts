import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRestate } from '../../local/stack/restate.ts';

/**
 * Starts the one real Restate of a run of Jest, and sets TEST_RESTATE_INGRESS_URL and TEST_RESTATE_ADMIN_URL. Returns what
 * stops it and removes its data.
 */
export async function startRestateOfRun(): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-restate-'));
  const removeData = () => rm(dataDir, { recursive: true, force: true });
  try {
    const restate = await startRestate({ dataDir });
    process.env.TEST_RESTATE_INGRESS_URL = restate.ingressUrl;
    process.env.TEST_RESTATE_ADMIN_URL = restate.adminUrl;
    return async () => {
      await restate.stop();
      await removeData();
    };
  } catch (error) {
    // Jest runs no teardown after a setup that failed.
    await removeData();
    throw error;
  }
}
