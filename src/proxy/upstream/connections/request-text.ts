import type { WireRequest } from './wire-exchange.ts';

/**
 * The text of a request's head. Undefined if it would be more than one request, or is not latin1: the higher byte of other
 * characters is cut off, which can make line ends. Node has parsed all headers of the client, so neither occurs.
 */
export function requestText(
  { method, target, headers, body }: WireRequest,
  isKept: boolean,
): string | undefined {
  if (UNSENDABLE.test(target) || UNSENDABLE.test(method)) return undefined;
  let text = `${method} ${target} HTTP/1.1\r\n`;
  for (let i = 0; i < headers.length; i += 2) {
    const value = headers[i + 1] ?? '';
    if (UNSENDABLE.test(value)) return undefined;
    text += `${headers[i]}: ${value}\r\n`;
  }
  if (body) text += `content-length: ${'bytes' in body ? body.bytes.length : body.lengthBytes}\r\n`;
  // Where a body may be expected, it says that there is none (RFC 9110 §8.6).
  else if (HAS_BODY.has(method)) text += 'content-length: 0\r\n';
  return `${text}connection: ${isKept ? 'keep-alive' : 'close'}\r\n\r\n`;
}

const UNSENDABLE = /[\r\n\0]|[^\0-\xff]/;
const HAS_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
