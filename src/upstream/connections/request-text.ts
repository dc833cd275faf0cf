import type { HeaderList } from '../../http/header-list.ts';

/**
 * Undefined where it would be more than one request, or does not consist of latin1, of which the higher byte is
 * cut off and some become line ends. Node has parsed all that a client sent, so it never is.
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
