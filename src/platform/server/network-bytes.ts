import type { Socket } from 'node:net';

/** The bytes from and to clients. */
export interface NetworkBytes {
  received: number;
  sent: number;
}

/** Adds those of a connection. */
export function addBytes(total: NetworkBytes, { bytesRead, bytesWritten }: Socket): void {
  total.received += bytesRead;
  // Node reports undefined for a socket that was destroyed before it was set up.
  total.sent += bytesWritten || 0;
}
