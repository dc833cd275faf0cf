import assert from 'node:assert/strict';
import { API_KEY, READ_TOKEN_SECRET } from '../support/credentials.ts';
import { mintReadToken } from '../support/read-tokens.ts';

export interface Answer {
  status: number;
  headers: Headers;
  body: string;
}

/** A GET with no cache in the client. */
export async function get(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(url, { headers });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

export function bearer(credential: string): Record<string, string> {
  return { authorization: `Bearer ${credential}` };
}

export async function tokenFor(prefix: string, ttlSeconds = 60): Promise<Record<string, string>> {
  return bearer(await mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds }));
}

export const SERVER = bearer(API_KEY);

/** Request headers with which a caller may try to get a cached response. */
const CONDITIONS: Record<string, string>[] = [
  {},
  { 'if-none-match': '*' },
  { 'cache-control': 'max-stale' },
];

/**
 * Asks as everyone who may not read this; each has to get the gateway's own refusal, and nothing of
 * `secret`.
 */
export async function assertClosedToOthers(url: string, secret: string): Promise<void> {
  const { pathname } = new URL(url);
  const others: [string, Record<string, string>, number, string][] = [
    ['nobody', {}, 401, 'missing_credentials'],
    ['an unknown caller', bearer('nonsense'), 401, 'invalid_credentials'],
    ['an expired token', await tokenFor(pathname, -5), 401, 'token_expired'],
    ['another token', await tokenFor('/streams/somebody/else'), 403, 'prefix_not_covered'],
  ];
  for (const [who, headers, status, code] of others) {
    for (const extra of CONDITIONS) {
      const answer = await get(url, { ...headers, ...extra });
      assert.equal(answer.status, status, who);
      assert.equal((JSON.parse(answer.body) as { code: string }).code, code, who);
      assert.ok(!answer.body.includes(secret), who);
      assert.notEqual(answer.headers.get('x-cache'), 'HIT', who);
    }
  }
}
