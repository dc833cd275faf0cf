import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * Only the end of the connection marks the end of the body, and with TLS anybody on the network path can end a
 * connection.
 */
export class UnprovenEnd extends Error {
  constructor() {
    super(
      "the end of the upstream's answer cannot be told from a cut: it has no length of its own, over TLS",
    );
  }
}

/** The reason why the end of a body that lasts until its connection ends proves nothing, or undefined. */
export function unprovenEnd(socket: Socket): UnprovenEnd | undefined {
  return socket instanceof TLSSocket ? new UnprovenEnd() : undefined;
}
