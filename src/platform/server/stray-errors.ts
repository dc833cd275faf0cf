import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { breakOff } from '../http/break-off.ts';

/** Node tells a request with an expectation to other listeners, and to none of `request`. */
export const REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation'] as const;

/**
 * Adds a listener for `error` to every connection and every response of a server. An `error` without a listener
 * ends the process, and with it the requests of all other clients. A single write after the end of a response once
 * did so.
 */
export function catchStrayErrors(server: Server, logger: Logger): void {
  const onRequest = (_request: IncomingMessage, response: ServerResponse): void => {
    response.on('error', (error) => {
      logger.error({ err: error }, 'an answer failed by a fault of the gateway, and is broken off');
      breakOff(response);
    });
  };
  server.prependListener('connection', (socket: Socket) => socket.on('error', ignore));
  for (const event of REQUEST_EVENTS) {
    server.prependListener(event, onRequest);
  }
}

/** `close` follows, and other code listens to that. */
function ignore(): void {
  // Nothing to do.
}
