/** The API key of every test gateway. */
export const API_KEY = 'test-api-key-0123456789';
export const AUTHORIZED = { authorization: `Bearer ${API_KEY}` };
/** Signs read tokens for test gateways. */
export const READ_TOKEN_SECRET = 'test-read-token-secret-0123456789abcdef';
