import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../errors/gateway-error.ts';

/**
 * Refuses a body whose declared length is over the cap, before a byte of it is read. A body that
 * declares none is counted while it is read, by `readBody`.
 */
export function checkDeclaredLength(request: IncomingMessage, maxBodyBytes: number): void {
  const declared = request.headers['content-length'];
  if (declared !== undefined && Number(declared) > maxBodyBytes) throw bodyTooLarge(maxBodyBytes);
}

/**
 * Asks a client that waits for it (`Expect: 100-continue`, RFC 9110 §10.1.1) to send its body. Only
 * called once the request has been let in: a refused one never sends its body at all.
 */
export function letBodyCome(request: IncomingMessage, response: ServerResponse): void {
  if (awaitsContinue(request)) {
    delete request.headers.expect;
    response.writeContinue();
  }
}

/** Whether the client still waits for leave to send its body. */
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

/**
 * Reads the whole body, at most `maxBodyBytes` of it. Rejects with `body_too_large`, or with a plain
 * Error when the client breaks off.
 */
export function readBody(request: IncomingMessage, maxBodyBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (finish: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      finish();
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > maxBodyBytes) settle(() => reject(bodyTooLarge(maxBodyBytes)));
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, length)));
    const onError = (error: Error): void => settle(() => reject(error));
    const onClose = (): void => settle(() => reject(new Error('the client broke off its body')));
    request.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  });
}

function bodyTooLarge(maxBodyBytes: number): GatewayError {
  return new GatewayError(
    'body_too_large',
    `The request body must not be over ${maxBodyBytes} bytes.`,
  );
}
