import { entityOf, type EntityAddress } from './address.ts';
import { APIError } from './api-error.ts';
import type { AgentFailure, FailingRow } from './failures.ts';
import { INVOCATION_COLUMNS, invocationOf, quoted, textOf } from './invocation-row.ts';
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
  /** Those that have ended, as long as Restate keeps them, in place of those under way. Default false. */
  isEnded?: boolean;
  /** Only those whose last attempt failed, and those that Restate has paused. Default false. */
  isFailing?: boolean;
  /** The most invocations to list, oldest first. Default 100. */
  limit?: number;
}

/** Which failures to find. */
export interface FailuresOptions extends RequestOptions {
  /** Only that of this agent. */
  agent?: EntityAddress;
  /** Rows of the catalog: an agent without the kit may say in its row that it fails, and nowhere else. */
  rows?: readonly FailingRow[];
  /** The most of each source. Default 1,000. */
  limit?: number;
}

/** What an agent made with `defineAgent` starts to see that an answer is gone. It ends with the answer. */
const IS_NO_WATCH = "NOT (invoked_by_target IS NOT NULL AND target LIKE '%Turn/watch')";
/** An attempt that has lasted for ten seconds works again: Restate keeps the failure before it. */
const FAILS =
  "(status IN ('backing-off', 'paused') OR (status = 'running' AND last_failure IS NOT NULL AND last_start_at > now() - INTERVAL '10 seconds'))";
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
    isEnded = false,
    isFailing = false,
    limit = 100,
    ...options
  }: ListInvocationsOptions = {}): Promise<Invocation[]> {
    if (!Number.isSafeInteger(limit) || limit < 1) throw new TypeError('limit must be 1 or more.');
    const conditions = isEnded ? ["status = 'completed'"] : ["status <> 'completed'", IS_NO_WATCH];
    if (agent !== undefined) {
      // Neither contains a quote, or it would not be an entity.
      const { type, id } = entityOf(agent);
      const own = `target_service_name = '${type}' AND target_service_key = '${id}'`;
      conditions.push(`(${own} OR starts_with(invoked_by_target, '${type}/${id}/'))`);
    }
    if (isFailing) conditions.push(FAILS);
    const query = `SELECT ${INVOCATION_COLUMNS} FROM sys_invocation WHERE ${conditions.join(' AND ')} ORDER BY created_at LIMIT ${limit}`;
    const found = (await this.#rows(query, options)).map(invocationOf);
    return this.#withCauses(found, options);
  }

  /**
   * The agents that fail, or whose last message failed for good: what Restate tries again or has paused, what agents made with `defineAgent`
   * keep of it, the last commands, as long as Restate keeps them, and what rows say. Rejects with an `APIError`.
   */
  async failures(options: FailuresOptions = {}): Promise<AgentFailure[]> {
    // A page has no key for it, and does not load how.
    const { listFailures } = await import('./failure-listing.ts');
    const list = (which: ListInvocationsOptions): Promise<Invocation[]> => this.list(which);
    return listFailures({ rows: (query, call) => this.#rows(query, call), list }, options);
  }

  /** Restate forgets the last failure of an invocation that it pauses, and keeps it as an event. */
  async #withCauses(found: Invocation[], options: RequestOptions): Promise<Invocation[]> {
    const ids = found
      .filter(({ status, lastFailure }) => status === 'paused' && lastFailure === undefined)
      .map(({ id }) => quoted(id));
    if (ids.length === 0) return found;
    const events = await this.#rows(
      `SELECT id, event_json FROM sys_journal_events WHERE event_type = 'Paused' AND id IN (${ids.join(', ')}) ORDER BY appended_at`,
      options,
    );
    const causes = new Map(events.map(({ id, event_json }) => [id, causeOf(event_json)]));
    return found.map((one) => ({ ...one, lastFailure: one.lastFailure ?? causes.get(one.id) }));
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

  /** Deletes what Restate keeps of an invocation that has ended. Rejects with an `APIError`. */
  purge(id: string, options: RequestOptions = {}): Promise<void> {
    return this.#end(id, 'purge', options);
  }

  /** A value of an entity's state, as text. Undefined if there is none. Rejects with an `APIError`. */
  async stateOf(
    agent: EntityAddress,
    name: string,
    options: RequestOptions = {},
  ): Promise<string | undefined> {
    const { type, id } = entityOf(agent);
    if (!/^[\w .-]+$/.test(name)) throw new TypeError(`"${name}" is no name of a state.`);
    const query = `SELECT value_utf8 FROM state WHERE service_name = '${type}' AND service_key = '${id}' AND key = '${name}'`;
    const [row] = await this.#rows(query, options);
    return textOf(row?.value_utf8);
  }

  async #rows(query: string, options: RequestOptions): Promise<Record<string, unknown>[]> {
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
    return rows as Record<string, unknown>[];
  }

  async #end(id: string, how: 'cancel' | 'kill' | 'purge', options: RequestOptions): Promise<void> {
    const path = `/registry/invocations/${encodeURIComponent(id)}/${how}`;
    // Repeating it has no further effect.
    await this.#transport.request({ ...options, method: 'PATCH', path, isIdempotent: true });
  }
}

/** The error of an event, with its stack. */
function causeOf(event: unknown): string | undefined {
  try {
    const { last_failure: failure } = JSON.parse(String(event)) as {
      last_failure?: { error_message?: unknown; error_stacktrace?: unknown };
    };
    const [message, stack] = [textOf(failure?.error_message), textOf(failure?.error_stacktrace)];
    return stack?.includes(message ?? '') ? stack : message;
  } catch {
    return undefined;
  }
}
