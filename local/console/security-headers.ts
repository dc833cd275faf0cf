import type { ServerResponse } from 'node:http';
import { pageNamesSource } from './page-names.ts';

/** Only our own files may run, and they may connect only to us and to the server of the reads, by all its names. */
export function setSecurityHeaders(
  readUrl: string,
  isElsewhere: boolean,
  response: ServerResponse,
): void {
  const reads = [isElsewhere ? new URL(readUrl).origin : undefined, pageNamesSource(readUrl)];
  const policy = [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    `img-src 'self'`,
    [`connect-src 'self'`, ...reads.filter((source) => source !== undefined)].join(' '),
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
    // Text never becomes markup: innerHTML and similar setters throw.
    `require-trusted-types-for 'script'`,
    `trusted-types 'none'`,
  ];
  response.setHeader('content-security-policy', policy.join('; '));
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('cross-origin-opener-policy', 'same-origin');
  response.setHeader('cross-origin-resource-policy', 'same-origin');
}
