import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError, overloaded, type ErrorReason } from '../errors/gateway-error.ts';
import { PIECE_OVERHEAD_BYTES, type HeldBytes } from '../memory/held-bytes.ts';
import { ClientGone } from '../http/client-gone.ts';

/**
 * Refuses a body by its headers, before a byte of it is read. It refuses a length over the cap (`readBody` counts a
 * body without a length), and a transfer coding other than `chunked`, which Node accepts and does not decode (RFC
 * 9112 §6.1: the connection must close).
 */
export function checkDeclaredBody(request: IncomingMessage, maxBodyBytes: number): void {
  const { 'content-length': declared, 'transfer-encoding': coding } = request.headers;
  if (declared !== undefined && Number(declared) > maxBodyBytes) {
    throw bodyTooLarge('declared_length', maxBodyBytes);
  }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new GatewayError(
      'invalid_body',
      'The only Transfer-Encoding that is understood is "chunked".',
      { reason: 'transfer_coding', headers: { Connection: 'close' } },
    );
  }
}

/**
 * Whether servers disagree about where a body ends: a transfer coding that is not just `chunked`, or one in a
 * version that knows none. The bytes after it on the connection must not be read as a request (RFC 9112 §6.1).
 */
export function endsInDoubt({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion !== '1.1');
}

/**
 * Whether a request asks to change the protocol (RFC 9110 §7.8). The gateway offers no other one and answers it as an
 * ordinary request. Node 22 to 26 drop what was read together with it, and parse what comes later as a request.
 */
export function asksForUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined;
}

/**
 * Checks what a request says of its body, and tells a client that waits for it (`Expect: 100-continue`, RFC 9110 §10.1.1)
 * to send it. It is called only after the request was admitted, so a refused client never sends its body.
 */
export function letBodyCome(
  request: IncomingMessage,
  response: ServerResponse,
  maxBodyBytes: number,
): void {
  checkDeclaredBody(request, maxBodyBytes);
  if (!awaitsContinue(request)) return;
  delete request.headers.expect;
  if (response.socket) response.writeContinue();
  // For a response that waits behind others, Node would keep the line and put the head of the response in front of
  // it.
  else response.once('socket', () => !response.headersSent && response.writeContinue());
}

/** Whether the client still waits for permission to send its body. */
export function awaitsContinue(request: IncomingMessage): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue';
}

/** Whether a request announces a body (RFC 9112 §6). */
export function hasBody(request: IncomingMessage): boolean {
  return (
    request.headers['transfer-encoding'] !== undefined ||
    Number(request.headers['content-length'] ?? 0) > 0
  );
}

/** The room of one body in the budget, from its arrival until nobody needs it any more. */
export class BodyRoom {
  private readonly held: HeldBytes;
  private takenBytes = 0;

  constructor(held: HeldBytes) {
    this.held = held;
  }

  /** Throws `overloaded` if the budget has no room for this many bytes. */
  take(bytes: number): void {
    if (!this.held.tryTake('bodies', bytes)) {
      throw overloaded('memory', 'The gateway holds too many request bodies');
    }
    this.takenBytes += bytes;
  }

  release(): void {
    this.held.release('bodies', this.takenBytes);
    this.takenBytes = 0;
  }
}

/**
 * Reads the whole body, at most `maxBodyBytes`, into its room, which the caller releases. Rejects with
 * `body_too_large`, `overloaded`, or `ClientGone` if the client disconnects.
 */
export function readBody(
  request: IncomingMessage,
  maxBodyBytes: number,
  room: BodyRoom,
): Promise<Buffer> {
  // A request without a body has ended from the start and emits no event (`optimizeEmptyRequests`).
  if (request.readableEnded) return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (finish: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      finish();
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      try {
        if (length > maxBodyBytes) throw bodyTooLarge('counted_length', maxBodyBytes);
        room.take(chunk.length + PIECE_OVERHEAD_BYTES);
        chunks.push(chunk);
      } catch (error) {
        settle(() => reject(error as GatewayError));
      }
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, length)));
    const onGone = (): void => settle(() => reject(new ClientGone()));
    if (request.destroyed) {
      reject(new ClientGone());
      return;
    }
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

function bodyTooLarge(reason: ErrorReason, maxBodyBytes: number): GatewayError {
  return new GatewayError(
    'body_too_large',
    `The request body must not be over ${maxBodyBytes} bytes.`,
    { reason },
  );
}
