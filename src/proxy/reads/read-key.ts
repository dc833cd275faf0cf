import type { ReadCall } from './upstream-read.ts';

/**
 * What tells nothing about the answer that a history store or a sync engine gives: who asks, from
 * where, and by which id. Every other header counts.
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
 * Whether an answer depends, by its `Vary` (RFC 9110 §12.5.5), on a header that the key leaves out. On
 * `Origin` only CORS depends, which is the gateway's own.
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

/** The same for two reads exactly if one answer of the upstream does for both. */
export function readKey({ upstream, method, target, headers }: ReadCall): string {
  let key = `${upstream.name} ${method} ${upstream.protocol.targetForKey(target)}`;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? '';
    // A header's value holds no line end.
    if (!isIrrelevant(name)) key += `\n${name}:${headers[i + 1] ?? ''}`;
  }
  return key;
}
