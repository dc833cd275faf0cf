import { createHash } from 'node:crypto';

/** The API key of every test gateway. */
export const API_KEY = 'test-api-key-0123456789';
/** The key's name in logs and metrics, derived because it has none. */
export const API_KEY_NAME = `key-${createHash('sha256').update(API_KEY).digest('hex').slice(0, 8)}`;
export const AUTHORIZED = { authorization: `Bearer ${API_KEY}` };
/** Signs read tokens for test gateways. */
export const READ_TOKEN_SECRET = 'test-read-token-secret-0123456789abcdef';
