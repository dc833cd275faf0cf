import type { AgentAddress } from './agent-address.ts';
import { post, RefusedError, type Answer } from './console-api.ts';

export type Verb = 'interrupt' | 'pause' | 'resume' | 'archive';

const RETRY_DELAYS_MS = [250, 1_000, 3_000];

export function spawn(type: string, id: string): Promise<Answer<{ url: string }>> {
  return command('/api/spawn', id === '' ? { type } : { type, id });
}

export function send({ type, id }: AgentAddress, text: string): Promise<Answer<unknown>> {
  const message = { kind: 'message', content: [{ type: 'text', text }] };
  return command(`/api/a/${type}/${id}/send`, message);
}

export function control({ type, id }: AgentAddress, verb: Verb): Promise<Answer<unknown>> {
  return command(`/api/a/${type}/${id}/control`, { verb });
}

/**
 * Sends a command until there is a response. All attempts have the same key and request id: a command whose
 * response was lost is not handled twice, and the id identifies its events.
 */
async function command<T>(path: string, body: unknown): Promise<Answer<T>> {
  const headers = { 'idempotency-key': crypto.randomUUID(), 'x-request-id': crypto.randomUUID() };
  for (const delayMs of [...RETRY_DELAYS_MS, undefined]) {
    try {
      return await post<T>(path, body, headers);
    } catch (error) {
      const isFinal = error instanceof RefusedError && error.status < 500;
      if (isFinal || delayMs === undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }
  throw new Error('unreachable');
}
