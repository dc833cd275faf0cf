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
  /** The error of its last attempt, with the lines of its stack. */
  lastFailure: string | undefined;
  /** When the next attempt is, as ISO 8601. */
  nextTryAt: string | undefined;
  /** The target of the invocation that called this one: for the turn of an agent, a handler of the agent. */
  invokedBy: string | undefined;
  /** The deployment of its last attempt. */
  deploymentId: string | undefined;
}

/** Which invocations to list. */
export interface ListInvocationsOptions extends RequestOptions {
  /** Only those of this entity, and those that it called. */
  agent?: EntityAddress;
  /** Only those whose last attempt failed, and those that Restate has paused. Default false. */
  isFailing?: boolean;
  /** The most invocations to list, oldest first. Default 100. */
  limit?: number;
}

const COLUMNS =
  'id, target, status, created_at, retry_count, last_failure, next_retry_at, invoked_by_target, last_attempt_deployment_id';

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
  async list({
    agent,
    isFailing = false,
    limit = 100,
    ...options
  }: ListInvocationsOptions = {}): Promise<Invocation[]> {
    if (!Number.isSafeInteger(limit) || limit < 1) throw new TypeError('limit must be 1 or more.');
    const conditions = ["status <> 'completed'"];
    if (agent !== undefined) {
      // Neither contains a quote, or it would not be an entity.
      const { type, id } = entityOf(agent);
      const own = `target_service_name = '${type}' AND target_service_key = '${id}'`;
      conditions.push(`(${own} OR starts_with(invoked_by_target, '${type}/${id}/'))`);
    }
    if (isFailing) conditions.push("(last_failure IS NOT NULL OR status = 'paused')");
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
      lastFailure: textOf(row.last_failure),
      nextTryAt: textOf(row.next_retry_at),
      invokedBy: textOf(row.invoked_by_target),
      deploymentId: textOf(row.last_attempt_deployment_id),
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

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
