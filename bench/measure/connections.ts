import { readFile } from 'node:fs/promises';
import { untilCounted } from './until-counted.ts';

const ESTABLISHED = '01';

/**
 * Waits until a server of this machine has accepted so many connections. What does not fit into its
 * queue is tried again by the kernel after one, two, four seconds, and the client may believe itself
 * connected meanwhile.
 */
export function untilConnected(url: string, connections: number): Promise<void> {
  const port = Number(new URL(url).port);
  return untilCounted(connections, () => establishedAt(port), `readers are connected to ${url}`);
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
