import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HistoryKind } from '../../local/cluster/cluster.ts';
import type { Status } from '../../local/stack/run-notes.ts';
import { until } from '../support/until.ts';

/** Something that happens to processes of the cluster. */
export interface Scene {
  name: string;
  parts: readonly string[];
  how: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP';
  /** For how long a process is frozen. */
  forMs?: number;
}

const FROZEN_MS = 10_000;
/** Long enough for the gateways to know that nothing is accepted. */
const QUORUM_LOST_MS = 25_000;
/** What a scene shows may be late. */
const AFTERMATH_MS = 4_000;

export function scenesOf(history: HistoryKind): Scene[] {
  const each = (part: string, what: string): Scene[] => [
    { name: `kill -9 of ${what}`, parts: [part], how: 'SIGKILL' },
    { name: `SIGTERM to ${what}`, parts: [part], how: 'SIGTERM' },
    {
      name: `freeze of ${what}, ${FROZEN_MS / 1_000} s`,
      parts: [part],
      how: 'SIGSTOP',
      forMs: FROZEN_MS,
    },
  ];
  const two = ['restate-2', 'restate-3'];
  return [
    ...each('restate-1', 'a node of Restate (1)'),
    ...each('restate-2', 'a node of Restate (2)'),
    ...each('restate-3', 'a node of Restate (3)'),
    ...each('gateway-1', 'a gateway'),
    ...(history === 'rivet'
      ? [...each('history-1', "a process of the store's"), ...each('history', "the store's engine")]
      : each('history', 'the history store')),
    { name: 'kill -9 of two nodes of three', parts: two, how: 'SIGKILL' },
    {
      name: `freeze of two nodes of three, ${QUORUM_LOST_MS / 1_000} s`,
      parts: two,
      how: 'SIGSTOP',
      forMs: QUORUM_LOST_MS,
    },
  ];
}

/** Plays a scene, and resolves when its processes are back. */
export async function play({ parts, how, forMs = 0 }: Scene, folder: string): Promise<void> {
  const pids = parts.map((part) => pidOf(folder, part));
  for (const pid of pids) process.kill(-pid!, how);
  if (how === 'SIGSTOP') {
    await sleep(forMs);
    for (const pid of pids) process.kill(-pid!, 'SIGCONT');
  } else {
    await until(`${parts.join(' and ')} to be back`, () =>
      parts.every((part, index) => {
        const pid = pidOf(folder, part);
        return pid !== undefined && pid !== pids[index];
      }),
    );
  }
  await sleep(AFTERMATH_MS);
}

function pidOf(folder: string, part: string): number | undefined {
  try {
    const { parts } = JSON.parse(readFileSync(join(folder, 'status.json'), 'utf8')) as Status;
    return parts.find(({ name }) => name === part)?.pid;
  } catch {
    // It is being written.
    return undefined;
  }
}
