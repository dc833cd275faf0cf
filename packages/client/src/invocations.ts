import { entityOf, type EntityAddress } from './address.ts';
import { APIError } from './api-error.ts';
import { parseAnswer, type RequestOptions, type Transport } from './transport.ts';

/** An unfinished invocation, as Restate describes it. */
export interface Invocation {
  id: string;
  /** `type/id/handler`. */
  target: string;
  /** Such as `pending`, `scheduled`, `running`, `backing-off`, `suspended`, `paused`. */
  status: string;
  createdAt: string;
  /** The number of attempts. */
  tries: number;
  /** The error of its last attempt. */
  lastFailure: string | undefined;
}

export interface ListInvocationsOptions extends RequestOptions {
  /** Only those of this entity. */
  agent?: EntityAddress;
  /** The most invocations to list, oldest first. Default 100. */
  limit?: number;
}

const COLUMNS = 'id, target, status, created_at, retry_count, last_failure';

/**
 * The unfinished invocations in Restate, to find those that hang and to end them. Needs an API key with the scope
 * `registry:write`, because Restate's admin API takes queries by POST.
 */
export class Invocations {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists unfinished invocations. Rejects with an `APIError`, or a TypeError for an invalid entity. */
  async list({ agent, limit = 100, ...options }: ListInvocationsOptions = {}): Promise<
    Invocation[]
  > {
    if (!Number.isSafeInteger(limit) || limit < 1) throw new TypeError('limit must be 1 or more.');
    const conditions = ["status <> 'completed'"];
    if (agent !== undefined) {
      // Neither contains a quote, or it would not be an entity.
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

  /** Cancels an invocation: the agent's code gets an error and can clean up. Rejects with an `APIError`. */
  cancel(id: string, options: RequestOptions = {}): Promise<void> {
    return this.#end(id, 'cancel', options);
  }

  /**
   * Kills an invocation at once, without the agent's code. Its work stays half done. Rejects with an `APIError`.
   */
  kill(id: string, options: RequestOptions = {}): Promise<void> {
    return this.#end(id, 'kill', options);
  }

  async #end(id: string, how: 'cancel' | 'kill', options: RequestOptions): Promise<void> {
    const path = `/registry/invocations/${encodeURIComponent(id)}/${how}`;
    // Repeating it has no further effect.
    await this.#transport.request({ ...options, method: 'PATCH', path, isIdempotent: true });
  }
}
