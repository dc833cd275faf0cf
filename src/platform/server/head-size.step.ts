import { GatewayError } from '../errors/gateway-error.ts';
import type { ClientRequest } from '../http/client-request.ts';

/** The longest request head, counted as Node's parser does: without method, version and separators. */
const MAX_HEAD_BYTES = 32_768;

/**
 * Refuses a request with a longer head. Node's parser has room for more, so that this response has a body and, on reads,
 * CORS headers: a page retries forever after one that it cannot read.
 */
export function headSizeStep(request: ClientRequest): true {
  const bytes = request.rawHeaders.reduce((sum, { length }) => sum + length, request.url.length);
  if (bytes > MAX_HEAD_BYTES) {
    throw new GatewayError(
      'head_too_large',
      `The request target and headers must not be over ${MAX_HEAD_BYTES} bytes together, and have ${bytes}; ` +
        'send a shorter query, or fewer or shorter headers.',
    );
  }
  return true;
}
