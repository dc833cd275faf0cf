import { headerValue } from '../../platform/http/header-list.ts';

/** Headers that concern one connection only (RFC 9110 §7.6.1), and older ones of that kind. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'proxy-authenticate',
  'proxy-authorization',
]);

/**
 * Calls `keep` with each header that a proxy may forward: its name in lower case, its name as received, its value.
 */
export function eachEndToEndHeader(
  rawHeaders: readonly string[],
  keep: (lowerName: string, name: string, value: string) => void,
): void {
  const nominated = nominatedByConnection(rawHeaders);
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    const lowerName = name.toLowerCase();
    if (HOP_BY_HOP.has(lowerName) || nominated?.has(lowerName)) continue;
    keep(lowerName, name, rawHeaders[i + 1] ?? '');
  }
}

/** The header names that `Connection` lists, or undefined if there are none. */
function nominatedByConnection(rawHeaders: readonly string[]): Set<string> | undefined {
  let nominated: Set<string> | undefined;
  const options = headerValue(rawHeaders, 'connection')?.split(',') ?? [];
  for (const option of options) {
    const nominee = option.trim().toLowerCase();
    if (nominee !== '' && nominee !== 'keep-alive' && nominee !== 'close') {
      nominated ??= new Set();
      nominated.add(nominee);
    }
  }
  return nominated;
}
