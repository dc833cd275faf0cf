import { join } from 'node:path';
import { choosePorts } from '../../local/stack/ports.ts';
import {
  READY_TIMEOUT_MS,
  startProcess,
  untilReady,
  type RunningProcess,
} from '../../local/stack/process.ts';

const MAIN = join(import.meta.dirname, '../../local/stack/history-main.ts');
/** The server accepts any value. */
const MOUNT_PATH = '/v1/stream';

export interface HistoryChild {
  /** As GATEWAY_HISTORY_URL wants it. */
  url: string;
  process: RunningProcess;
}

/**
 * A real Durable Streams server as a process of its own: one in this process leaves timers behind where
 * event streams are open as it stops. In memory: the file-backed store can repeat events by itself.
 */
export async function startHistoryChild(port?: number): Promise<HistoryChild> {
  const listenPort = port ?? (await choosePorts({ history: 0 })).history;
  const history = startProcess({
    name: 'history',
    command: process.execPath,
    args: [MAIN],
    env: { PATH: process.env.PATH, HISTORY_PORT: String(listenPort) },
  });
  await untilReady(history, READY_TIMEOUT_MS, () =>
    history.waitForLine((line) => line.startsWith('listening on')),
  );
  return { url: `http://127.0.0.1:${listenPort}${MOUNT_PATH}`, process: history };
}
