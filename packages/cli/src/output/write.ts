import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Resolves when the reader keeps up again, so that unread output does not fill the memory. */
export async function write(stream: Writable, data: string | Uint8Array): Promise<void> {
  if (!stream.write(data)) await once(stream, 'drain');
}
