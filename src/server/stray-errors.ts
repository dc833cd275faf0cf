import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { breakOff } from '../http/break-off.ts';

/**
 * Gives every connection and every response of a server a listener for `error`. An `error` without a listener ends the
 * process, and with it every other client's request: a single write after the end of one answer did so.
 */
export function catchStrayErrors(server: Server, logger: Logger): void {
  const onRequest = (_request: IncomingMessage, response: ServerResponse): void => {
    response.on('error', (error) => {
      logger.error({ err: error }, 'an answer failed by a fault of the gateway, and is broken off');
      breakOff(response);
    });
  };
  server.prependListener('connection', (socket: Socket) => socket.on('error', ignore));
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.prependListener(event, onRequest);
  }
}

/** `close` follows, and is what others listen to. */
function ignore(): void {
  // Nothing to do.
}
