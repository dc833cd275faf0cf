import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { BodyRoom, hasBody, letBodyCome, readBody } from '../../platform/server/request-body.ts';

/** The most bytes that are held of a body in transit: the buffers of two streams. */
const STREAMED_BODY_BYTES = 131_072;

/** A request's body for an upstream. */
export interface OutgoingBody {
  stream: Readable;
  lengthBytes: number;
}

/**
 * The body of a request, or undefined if it is empty. A body with a declared length is streamed; its length has
 * been checked. A body without one is buffered up to the cap, so that a larger one never reaches the upstream. Rejects
 * with `body_too_large`, `overloaded` or `ClientGone`.
 */
export async function outgoingBody(
  request: IncomingMessage,
  response: ServerResponse,
  maxBodyBytes: number,
  held: HeldBytes,
): Promise<OutgoingBody | undefined> {
  if (!hasBody(request)) return undefined;
  const room = new BodyRoom(held);
  response.once('close', () => room.release());
  const declared = request.headers['content-length'];
  if (declared === undefined) {
    letBodyCome(request, response);
    const bytes = await readBody(request, maxBodyBytes, room);
    if (bytes.length === 0) return undefined;
    return { stream: Readable.from([bytes], { objectMode: false }), lengthBytes: bytes.length };
  }
  const lengthBytes = Number(declared);
  room.take(Math.min(lengthBytes, STREAMED_BODY_BYTES));
  letBodyCome(request, response);
  return { stream: request, lengthBytes };
}
