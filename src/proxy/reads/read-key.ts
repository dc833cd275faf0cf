import type { ReadCall } from './read-call.ts';

/**
 * Headers that do not affect the response of a history store or a sync engine: who asks, from where, and with which
 * id. All other headers count.
 */
const IRRELEVANT = new Set([
  'accept-language',
  'dnt',
  'host',
  'origin',
  'priority',
  'referer',
  'save-data',
  'traceparent',
  'tracestate',
  'upgrade-insecure-requests',
  'user-agent',
  'x-request-id',
]);

/**
 * Whether a response depends, by its `Vary` (RFC 9110 §12.5.5), on a header that the key leaves out. `Origin` is an
 * exception, because only the gateway's own CORS headers depend on it.
 */
export function dependsOnReader(vary: string | undefined): boolean {
  if (vary === undefined) return false;
  const names = vary
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  return names.some((name) => name === '*' || (name !== 'origin' && isIrrelevant(name)));
}

function isIrrelevant(name: string): boolean {
  return IRRELEVANT.has(name) || name.startsWith('sec-');
}

type KeyParts = Pick<ReadCall, 'upstream' | 'method' | 'target' | 'headers'>;

/** The key of a read. Two reads have the same key exactly if one upstream response suits both. */
export function readKey({ upstream, method, target, headers }: KeyParts): string {
  let key = `${upstream.name} ${method} ${upstream.protocol.targetForKey(target)}`;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? '';
    // Values of headers contain no line end.
    if (!isIrrelevant(name)) key += `\n${name}:${headers[i + 1] ?? ''}`;
  }
  return key;
}
