import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** An empty variable is none: everybody could sign with an empty secret. */
const SESSION_SECRET = process.env.SESSION_SECRET || randomBytes(32).toString('hex');
const LIFETIME_MS = 7 * 24 * 3_600_000;

/** `user.end.signature`: whoever has the secret made it. */
export function signed(user: string): string {
  const claim = `${user}.${Date.now() + LIFETIME_MS}`;
  return `${claim}.${signatureOf(claim)}`;
}

/** The user whom the request's cookie names, or undefined. */
export function userOf(cookies: string | null | undefined): string | undefined {
  const [, claim = '', user = '', end, signature = ''] =
    /(?:^|; )session=(([a-z0-9]+)\.(\d+))\.([\w-]+)/.exec(cookies ?? '') ?? [];
  const [given, right] = [Buffer.from(signature), Buffer.from(signatureOf(claim))];
  const isOurs = given.length === right.length && timingSafeEqual(given, right);
  return isOurs && Number(end) > Date.now() ? user : undefined;
}

function signatureOf(claim: string): string {
  return createHmac('sha256', SESSION_SECRET).update(claim).digest('base64url');
}
