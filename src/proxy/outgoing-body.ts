import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { hasBody, letBodyCome, readBody } from '../request/request-body.ts';

/** A request's body as it goes to an upstream. */
export interface OutgoingBody {
  stream: Readable;
  lengthBytes: number;
}

/**
 * The body of a request, undefined where it is empty. One of declared length is streamed, its length
 * checked already; one of unknown length is held, at most up to the cap, so that one beyond it never
 * reaches the upstream. Rejects with `body_too_large`, or `ClientGone`.
 */
export async function outgoingBody(
  request: IncomingMessage,
  response: ServerResponse,
  maxBodyBytes: number,
): Promise<OutgoingBody | undefined> {
  if (!hasBody(request)) return undefined;
  letBodyCome(request, response);
  const declared = request.headers['content-length'];
  if (declared !== undefined) return { stream: request, lengthBytes: Number(declared) };
  const bytes = await readBody(request, maxBodyBytes);
  if (bytes.length === 0) return undefined;
  return { stream: Readable.from([bytes], { objectMode: false }), lengthBytes: bytes.length };
}
