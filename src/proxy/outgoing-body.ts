import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HeldBytes } from '../platform/memory/held-bytes.ts';
import { BodyRoom, hasBody, letBodyCome, readBody } from '../platform/server/request-body.ts';
import type { RequestBody } from './upstream/connections/wire-exchange.ts';

/** The most bytes that are held of a body in transit: the buffers of two streams. */
const STREAMED_BODY_BYTES = 131_072;

/**
 * The body of a request, or undefined if it is empty. A body with a declared length is streamed. A body without one is buffered
 * up to the cap, so that a larger one never reaches the upstream. Rejects with `body_too_large`, `overloaded` or `ClientGone`.
 */
export async function outgoingBody(
  request: IncomingMessage,
  response: ServerResponse,
  maxBodyBytes: number,
  held: HeldBytes,
): Promise<RequestBody | undefined> {
  if (!hasBody(request)) return undefined;
  const room = new BodyRoom(held);
  response.once('close', () => room.release());
  const declared = request.headers['content-length'];
  if (declared === undefined) {
    letBodyCome(request, response, maxBodyBytes);
    const bytes = await readBody(request, maxBodyBytes, room);
    return bytes.length === 0 ? undefined : { bytes };
  }
  const lengthBytes = Number(declared);
  room.take(Math.min(lengthBytes, STREAMED_BODY_BYTES));
  letBodyCome(request, response, maxBodyBytes);
  return { stream: request, lengthBytes };
}
