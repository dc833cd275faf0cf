import { ConnectionClosed, ConnectTimeout } from './connection-errors.ts';
import type { Connector } from './connector.ts';

/** An attempt reads no data. */
const UNREAD = { buffer: Buffer.alloc(1), callback: () => true };

/**
 * Opens a connection, with its TLS handshake, and closes it. Resolves with the reason if it does not open within
 * `timeoutMs`, and never rejects. It does not keep the process running.
 */
export function tryConnect(connect: Connector, timeoutMs: number): Promise<Error | undefined> {
  const { promise, resolve } = Promise.withResolvers<Error | undefined>();
  const socket = connect(UNREAD, () => resolve(undefined)).unref();
  const timer = setTimeout(() => socket.destroy(new ConnectTimeout(timeoutMs)), timeoutMs).unref();
  socket.on('error', resolve);
  // A TLS server may close the connection during the handshake without an error.
  socket.once('close', () => resolve(new ConnectionClosed()));
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}
