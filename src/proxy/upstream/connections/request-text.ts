import type { HeaderList } from '../../../platform/http/header-list.ts';

/**
 * The text of a request. Undefined if it would be more than one request, or is not latin1: the higher byte of other
 * characters is cut off, which can make line ends. Node has parsed all headers of the client, so neither occurs.
 */
export function requestText(
  method: string,
  target: string,
  headers: HeaderList,
): string | undefined {
  if (UNSENDABLE.test(target)) return undefined;
  let text = `${method} ${target} HTTP/1.1\r\n`;
  for (let i = 0; i < headers.length; i += 2) {
    const value = headers[i + 1] ?? '';
    if (UNSENDABLE.test(value)) return undefined;
    text += `${headers[i]}: ${value}\r\n`;
  }
  return `${text}connection: keep-alive\r\n\r\n`;
}

const UNSENDABLE = /[\r\n\0]|[^\0-\xff]/;
