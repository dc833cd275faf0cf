import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const ESTABLISHED = '01';
const POLL_MS = 200;
const CONNECT_TIMEOUT_MS = 60_000;

/**
 * Waits until a server of this machine has accepted so many connections. What does not fit into its
 * queue is tried again by the kernel after one, two, four seconds, and the client may believe itself
 * connected meanwhile.
 */
export async function untilConnected(url: string, connections: number): Promise<void> {
  const port = Number(new URL(url).port);
  const giveUpAtMs = performance.now() + CONNECT_TIMEOUT_MS;
  for (;;) {
    const there = await establishedAt(port);
    if (there >= connections) return;
    if (performance.now() > giveUpAtMs) {
      throw new Error(`only ${there} of ${connections} readers are connected to ${url}`);
    }
    await sleep(POLL_MS);
  }
}

async function establishedAt(port: number): Promise<number> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const table = await readFile('/proc/net/tcp', 'latin1');
  // The kernel tells some twice while the table changes.
  const peers = new Set<string>();
  for (const line of table.split('\n')) {
    const [, local, peer, state] = line.trimStart().split(/\s+/, 4);
    if (state === ESTABLISHED && local?.endsWith(suffix) && peer) peers.add(peer);
  }
  return peers.size;
}
