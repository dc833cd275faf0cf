import { ConnectionClosed, ConnectTimeout } from './connection-errors.ts';
import type { Connector } from './connector.ts';

/** An attempt reads no data. */
const UNREAD = { buffer: Buffer.alloc(1), callback: () => true };

/**
 * Opens a connection, with its TLS handshake, and closes it. Resolves with the reason if it does not open within
 * `timeoutMs`, and never rejects. It does not keep the process running. When `signal` aborts, it ends at once.
 */
export function tryConnect(
  connect: Connector,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const settle = (failure?: Error): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      socket.destroy();
      resolve(failure);
    };
    const abort = (): void => settle(new ConnectionClosed());
    const timer = setTimeout(() => settle(new ConnectTimeout(timeoutMs)), timeoutMs).unref();
    const socket = connect(UNREAD, () => settle());
    socket.unref();
    socket.on('error', settle);
    // A TLS server may close the connection during the handshake without an error.
    socket.once('close', abort);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
