import type { Writable } from 'node:stream';

/**
 * Resolves when the reader keeps up again, so that unread output does not fill the memory. It also resolves when the output can no longer
 * be written: the `error` event of the stream decides what then happens.
 */
export async function write(stream: Writable, data: string | Uint8Array): Promise<void> {
  if (stream.destroyed || stream.write(data)) return;
  await flushed(stream);
}

/** Resolves when everything so far is written, or cannot be. It waits for no event, because `drain` comes only after a full buffer. */
export function flushed(stream: Writable): Promise<void> {
  return new Promise((resolve) => void stream.write('', () => resolve()));
}
