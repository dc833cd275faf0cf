import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { HeaderList } from '../../platform/http/header-list.ts';
import { unusableAnswer } from '../upstream/upstream-error.ts';
import { holdsSecret } from './held-secret.ts';
import { eachEndToEndHeader } from './hop-by-hop.ts';
import { extendVary, privateCacheControl } from './read-caching.ts';
import { publicLocation, type AnswerPlace } from './location.ts';

/** Headers of an upstream's response that are not for the client. */
const DROPPED = new Set([
  'server',
  'electric-server',
  'x-powered-by',
  'set-cookie',
  'set-cookie2',
  'surrogate-control',
  'x-sendfile',
  'x-request-id',
]);
/**
 * CORS headers come only from the gateway. The others tell a server in front of the gateway to send another of its own
 * files or addresses in place of the response, or how to cache it.
 */
const DROPPED_PREFIXES = ['access-control-', 'x-accel-', 'x-litespeed-'];

/**
 * Everything besides the upstream's headers that the response headers depend on. It is the same for all readers
 * that share a response.
 */
export interface AnswerRules extends AnswerPlace {
  /** The request headers on which a read's response depends, for `Vary`. */
  varyNames: readonly string[];
  /** The sync engine's secret, as `asHeaderBytes` returns it. No header that contains it is sent to a client. */
  secretBytes: string | undefined;
}

/** The headers of an upstream's response for the client. Throws `upstream_invalid_response` if one cannot be sent. */
export function clientResponseHeaders(
  rawHeaders: readonly string[],
  status: number,
  rules: AnswerRules,
): HeaderList {
  const headers: HeaderList = [];
  let cacheControl: string | undefined;
  let vary: string | undefined;
  let contentLength: string | undefined;
  eachEndToEndHeader(rawHeaders, (lowerName, name, value) => {
    if (isDropped(lowerName, rules)) return;
    const passed = lowerName === 'location' ? publicLocation(value, status, rules) : value;
    if (passed === undefined || isSecret(passed, rules)) return;
    if (lowerName === 'cache-control') cacheControl = joined(cacheControl, passed);
    else if (lowerName === 'vary') vary = joined(vary, passed);
    else if (lowerName === 'content-length') contentLength = passed;
    else headers.push(name, passed);
  });
  if (rules.upstream.isRead) {
    headers.push('Cache-Control', privateCacheControl(cacheControl));
    headers.push('Vary', extendVary(vary, rules.varyNames));
  } else {
    // The admin API sends no caching headers, so a cache could choose a lifetime itself.
    headers.push('Cache-Control', cacheControl ?? 'no-store');
    if (vary !== undefined) headers.push('Vary', vary);
  }
  // After that header Node treats a `Content-Disposition` as UTF-8 and refuses one that is not (seen on Node 24).
  if (contentLength !== undefined && mayHaveContent(status)) {
    headers.push('Content-Length', contentLength);
  }
  return checked(headers);
}

function checked(headers: HeaderList): HeaderList {
  try {
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i] ?? '';
      validateHeaderName(name);
      validateHeaderValue(name, headers[i + 1] ?? '');
    }
  } catch (error) {
    throw unusableAnswer(error);
  }
  return headers;
}

/** The value of a header, which may have several lines (RFC 9110 §5.3). */
function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}

/** A 204 must have no `Content-Length` (RFC 9110 §8.6). With a 304 some clients wait for as many bytes. */
function mayHaveContent(status: number): boolean {
  return status !== 204 && status !== 304;
}

function isDropped(lowerName: string, { upstream }: AnswerRules): boolean {
  if (DROPPED.has(lowerName)) return true;
  if (DROPPED_PREFIXES.some((prefix) => lowerName.startsWith(prefix))) return true;
  return upstream.isRead && isSharedCacheHeader(lowerName);
}

/** RFC 9213: these headers address only shared caches, and override `Cache-Control` there. */
function isSharedCacheHeader(lowerName: string): boolean {
  return lowerName.endsWith('cdn-cache-control');
}

/** For example a redirect or a link to the URL that the gateway has requested. */
function isSecret(value: string, { secretBytes }: AnswerRules): boolean {
  return secretBytes !== undefined && holdsSecret(value, secretBytes);
}
