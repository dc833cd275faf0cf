import { postJson, RefusedError } from './post-json.js';

const RETRY_DELAYS_MS = [250, 1_000, 3_000];

export function spawn(type, id) {
  return command('/api/spawn', id === '' ? { type } : { type, id });
}

export function send({ type, id }, text) {
  const message = { kind: 'message', content: [{ type: 'text', text }] };
  return command(`/api/a/${type}/${id}/send`, message);
}

export function control({ type, id }, verb) {
  return command(`/api/a/${type}/${id}/control`, { verb });
}

/**
 * Sends a command until there is an answer to it. The key stays the same, so that one whose answer
 * was lost is not handled twice.
 */
async function command(path, body) {
  const headers = { 'idempotency-key': crypto.randomUUID() };
  for (const delayMs of [...RETRY_DELAYS_MS, undefined]) {
    try {
      return await postJson(path, body, headers);
    } catch (error) {
      const isFinal = error instanceof RefusedError && error.status < 500;
      if (isFinal || delayMs === undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }
}
