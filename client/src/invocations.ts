import { entityOf, type EntityAddress } from './address.ts';
import { APIError } from './api-error.ts';
import { parseAnswer, type RequestOptions, type Transport } from './transport.ts';

/** An invocation that has not ended, as Restate knows it. */
export interface Invocation {
  id: string;
  /** `type/id/handler`. */
  target: string;
  /** Such as `pending`, `scheduled`, `running`, `backing-off`, `suspended`, `paused`. */
  status: string;
  createdAt: string;
  /** How often it was tried. */
  tries: number;
  /** Why its last try failed. */
  lastFailure: string | undefined;
}

export interface ListInvocationsOptions extends RequestOptions {
  /** Of this entity only. */
  agent?: EntityAddress;
  /** At most so many, the oldest first. Default 100. */
  limit?: number;
}

const COLUMNS = 'id, target, status, created_at, retry_count, last_failure';

/**
 * The invocations in Restate that have not ended, to see what hangs and to end it. Needs an API key with the scope
 * `registry:write`: Restate's admin API takes its queries by POST.
 */
export class Invocations {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists them. Rejects with an `APIError`, and with a TypeError for what is no entity. */
  async list({ agent, limit = 100, ...options }: ListInvocationsOptions = {}): Promise<
    Invocation[]
  > {
    if (!Number.isSafeInteger(limit) || limit < 1) throw new TypeError('limit must be 1 or more.');
    const conditions = ["status <> 'completed'"];
    if (agent !== undefined) {
      // Neither has a quote in it: it would be no entity.
      const { type, id } = entityOf(agent);
      conditions.push(`target_service_name = '${type}'`, `target_service_key = '${id}'`);
    }
    const query = `SELECT ${COLUMNS} FROM sys_invocation WHERE ${conditions.join(' AND ')} ORDER BY created_at LIMIT ${limit}`;
    const { text } = await this.#transport.request({
      ...options,
      method: 'POST',
      path: '/registry/query',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ query }),
      isIdempotent: true,
    });
    const { rows } = parseAnswer(text);
    if (!Array.isArray(rows)) {
      throw new APIError("The answer is not that of Restate's admin API.", {
        code: 'invalid_response',
      });
    }
    return (rows as Record<string, unknown>[]).map((row) => ({
      id: String(row.id),
      target: String(row.target),
      status: String(row.status),
      createdAt: String(row.created_at),
      tries: Number(row.retry_count ?? 0),
      lastFailure: typeof row.last_failure === 'string' ? row.last_failure : undefined,
    }));
  }

  /** Cancels one: the agent's code gets an error, and can clean up. Rejects with an `APIError`. */
  cancel(id: string, options: RequestOptions = {}): Promise<void> {
    return this.#end(id, 'cancel', options);
  }

  /** Ends one at once, without the agent's code; what it did stays half done. Rejects with an `APIError`. */
  kill(id: string, options: RequestOptions = {}): Promise<void> {
    return this.#end(id, 'kill', options);
  }

  async #end(id: string, how: 'cancel' | 'kill', options: RequestOptions): Promise<void> {
    const path = `/registry/invocations/${encodeURIComponent(id)}/${how}`;
    // Done twice, it is done once.
    await this.#transport.request({ ...options, method: 'PATCH', path, isIdempotent: true });
  }
}
