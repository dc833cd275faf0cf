import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Fulfils when the reader keeps up again, so that what is unread does not pile up in memory. */
export async function write(stream: Writable, data: string | Uint8Array): Promise<void> {
  if (!stream.write(data)) await once(stream, 'drain');
}
