import type { ServerResponse } from 'node:http';
import type { ClientRequest } from '../http/client-request.ts';

/** A client that sends its whole body before it reads gets the response to a body of this size. */
const MAX_BYTES = 67_108_864;
/** An OPTIONS needs no credential, and no body of it has a meaning here. */
const MAX_OPTIONS_BYTES = 65_536;

/**
 * Reads and drops the body of a request that is answered without it, so that the client receives the response: closing
 * with unread bytes in the socket would reset the connection (RFC 9112 §9.6). If the body is longer than that, reading
 * stops and the connection ends after the response. Call it before the response ends.
 */
export function dropBody(request: ClientRequest, response: ServerResponse): void {
  const maxBytes = request.method === 'OPTIONS' ? MAX_OPTIONS_BYTES : MAX_BYTES;
  let bytes = 0;
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes <= maxBytes) return;
    request.off('data', onData).pause();
    endUnread(request, response);
  };
  request.on('data', onData);
}

function endUnread({ socket }: ClientRequest, response: ServerResponse): void {
  const isItsTurn = response.socket !== null || response.writableFinished;
  // Earlier responses may take long, and Node does not notice a disconnect on a connection that it does not read.
  if (!isItsTurn) {
    socket.destroy();
    return;
  }
  socket.pause();
  if (!response.writableEnded) response.end();
  // A client that keeps its side open is disconnected by `StalledClients`.
  socket.end();
}
