import { commandPath, timelinePath, type EntityAddress } from './address.ts';
import { Answer, type AnswerReads, type AskOptions } from './answer.ts';
import { APIError } from './api-error.ts';
import type { AgentEvent, ControlVerb, TimelineEvent } from './events.ts';
import { forgetAgent, type ForgetOptions, type ForgetReceipt } from './forget.ts';
import { bodyOf, messageOf } from './message-body.ts';
import { newId } from './new-id.ts';
import { Stream } from './stream.ts';
import type { Answer as Response, RequestOptions, Transport } from './transport.ts';

/** A command is worth waiting for: it outlasts an outage of the runtime. */
export const RETRY_FOR_MS = 90_000;

/** What every command takes. */
export interface CommandOptions extends RequestOptions {
  /**
   * The idempotency key, 1 to 1,024 visible ASCII characters and inner spaces. The runtime handles one key only once for an entity,
   * for 24 hours by default. Each call gets a random key. Set one so that another process can repeat the call.
   */
  idempotencyKey?: string;
  /**
   * The `X-Request-Id`, 1 to 128 characters of `[A-Za-z0-9._-]`. Random by default. All attempts of a call have the
   * same one, so that the agent's events name it whichever attempt arrived.
   */
  requestId?: string;
}

/** The agent that `agents.spawn` makes. */
export interface SpawnRequest {
  /** The registered entity type. */
  type: string;
  /** The id of the entity. The gateway creates one by default. */
  id?: string;
  /** Arguments for the agent. They are sent as JSON. */
  args?: unknown;
  /** The URL of the entity that spawns this one. */
  parent?: string;
  /** `<tenant>/<name>` of a workspace to share. */
  workspaceRef?: string;
}

/** Options of `agents.send`. */
export interface MessageOptions extends CommandOptions {
  /**
   * The media type of a message of text or bytes. Default `text/plain; charset=utf-8` or
   * `application/octet-stream`.
   */
  contentType?: string;
}

/** Options of a control command. */
export interface ControlOptions extends CommandOptions {
  /** A reason for the readers of the timeline. */
  reason?: string;
}

/** A decision of `agents.decide`. */
export interface NewDecision {
  /** The id of the call. */
  call: string;
  approved: boolean;
  /** Who decided. A back end says that of its own knowledge, never from what a page sends. */
  by?: string;
  /** A note for the readers of the timeline, and for the model if the call is denied. */
  note?: string;
  /** The input that the call gets in place of the model's. Any JSON. */
  input?: unknown;
}

/** An accepted command. Commands of an entity are handled in the order of acceptance. */
export interface AcceptedCommand {
  /** The URL of the entity, `/t/<tenant>/a/<type>/<id>`. */
  url: string;
  /** The path of the timeline in the history store. */
  streamPath: string;
  /** The URL of the timeline on the gateway. */
  streamUrl: string;
  /** The id of the invocation in Restate. */
  invocationId: string;
  /** Whether the same command had already been accepted. */
  isReplay: boolean;
  idempotencyKey: string;
  /** The request's id. Agents put it into the events that the command causes. */
  requestId: string;
}

/** Commands to agents. Each call has an idempotency key, so it is retried after failures and handled once. */
export class Agents {
  readonly #transport: Transport;
  readonly #tenant: string | undefined;
  readonly #reads: AnswerReads;
  readonly #isJsonOnly: boolean;

  /** `isJsonOnly`: text is sent in the canonical shape of a message, because a back end takes no other type. */
  constructor(
    transport: Transport,
    tenant: string | undefined,
    reads: AnswerReads,
    isJsonOnly = false,
  ) {
    this.#transport = transport;
    this.#tenant = tenant;
    this.#reads = reads;
    this.#isJsonOnly = isJsonOnly;
  }

  /** Creates an entity. An existing entity stays as it is. Rejects with an `APIError`. */
  spawn(request: SpawnRequest, options: CommandOptions = {}): Promise<AcceptedCommand> {
    const path = this.#tenant === undefined ? '/api/spawn' : `/api/t/${this.#tenant}/spawn`;
    return this.#command(path, JSON.stringify(request), 'application/json', options);
  }

  /**
   * Sends a message. Text and bytes are sent unchanged, anything else as JSON. With `backEnd`, text is sent as JSON
   * in the canonical shape. Rejects with an `APIError`, or a TypeError for an invalid entity.
   */
  async send(
    agent: EntityAddress,
    message: unknown,
    { contentType, ...options }: MessageOptions = {},
  ): Promise<AcceptedCommand> {
    const [route, said] = this.#isJsonOnly ? routeOf(message) : ['send', message];
    const [body, usualType] = bodyOf(said);
    const path = this.#path(agent, 'send').replace(/send$/, route);
    return this.#command(path, body, contentType ?? usualType, options);
  }

  /**
   * Sends a message and gives the answer to it, which reads the timeline from where it is then. Nothing is sent before
   * the answer is read. With the `idempotencyKey` of an earlier call it gives the same answer, finished or under way,
   * within the retention of the key: 24 hours by default.
   */
  ask<Event extends TimelineEvent = AgentEvent>(
    agent: EntityAddress,
    message: unknown,
    options: AskOptions = {},
  ): Answer<Event> {
    const { timeoutMs: _, ...sendOptions } = options;
    const commands = {
      send: () => this.send(agent, message, sendOptions),
      stop: (id: string, more: ControlOptions) => this.stop(agent, id, more),
      interrupt: (more: ControlOptions) => this.control(agent, 'interrupt', more),
      locate: (invocationId: string, signal: AbortSignal) =>
        this.send(agent, { kind: 'locate', invocationId }, { signal }),
    };
    return new Answer<Event>(agent, commands, this.#reads, options);
  }

  /** Interrupts, pauses, resumes or archives an entity. Rejects like `send`. */
  async control(
    agent: EntityAddress,
    verb: ControlVerb,
    { reason, ...options }: ControlOptions = {},
  ): Promise<AcceptedCommand> {
    const body = JSON.stringify({ verb, reason });
    return this.#command(this.#path(agent, 'control'), body, 'application/json', options);
  }

  /**
   * Deletes an agent made with `defineAgent`: what it does is ended, and its timeline, row, state and ended invocations are deleted.
   * What is left is a mark without content, by which later commands are refused. It may be repeated. Needs an API key with `commands`
   * and `registry:write`, and the agent's own key needs `streams:delete`. Rejects with an `APIError`.
   */
  forget(
    agent: EntityAddress,
    { children = false, ...options }: ForgetOptions = {},
  ): Promise<ForgetReceipt> {
    const { timeoutMs: _, ...request } = options;
    const send = () => this.send(agent, { kind: 'forget', children }, request);
    return forgetAgent(agent, this.#reads.invocations, send, options);
  }

  /**
   * Ends one turn and no other: the turn under way, or one that waits. `invocationId` is its name, of the 202 of the message or
   * `turn.id`. Nothing happens if the turn has ended. Rejects like `send`.
   */
  async stop(
    agent: EntityAddress,
    invocationId: string,
    { reason, ...options }: ControlOptions = {},
  ): Promise<AcceptedCommand> {
    return this.send(agent, { kind: 'stop', invocationId, reason }, options);
  }

  /**
   * Takes a message back that waits for other turns, or a reminder. Nothing happens if its turn has begun. Rejects like
   * `send`.
   */
  async withdraw(
    agent: EntityAddress,
    invocationId: string,
    { reason, ...options }: ControlOptions = {},
  ): Promise<AcceptedCommand> {
    return this.send(agent, { kind: 'withdraw', invocationId, reason }, options);
  }

  /**
   * Decides a call of a tool that waits for a person. The first decision of a call counts. Rejects like `send`, and with a
   * TypeError if `call` is no text or `approved` no boolean.
   */
  async decide(
    agent: EntityAddress,
    { call, approved, by, note, input }: NewDecision,
    options: CommandOptions = {},
  ): Promise<AcceptedCommand> {
    if (typeof call !== 'string' || call === '')
      throw new TypeError('call must be the id of a call.');
    if (typeof approved !== 'boolean') throw new TypeError('approved must be true or false.');
    return this.send(agent, { kind: 'decision', call, approved, by, note, input }, options);
  }

  /**
   * All events of now as lines of JSON, each with a line feed at its end, decisions and usage included. Throws an
   * `APIError`: `http_404` for an agent that has written nothing. Ends without an error when the signal aborts.
   */
  async *export(
    agent: EntityAddress,
    { signal }: { signal?: AbortSignal } = {},
  ): AsyncGenerator<string, void, undefined> {
    const { transport, tenant, isRenewable } = this.#reads;
    const path = timelinePath(agent, tenant);
    const options = { live: false, ...(signal && { signal }) } as const;
    for await (const { items } of new Stream(transport, path, isRenewable, options)) {
      for (const event of items) yield `${JSON.stringify(event)}\n`;
    }
  }

  #path(agent: EntityAddress, command: 'send' | 'control'): string {
    const path = commandPath(agent, command);
    return this.#tenant === undefined || path.startsWith('/api/t/')
      ? path
      : path.replace('/api/', `/api/t/${this.#tenant}/`);
  }

  async #command(
    path: string,
    body: BodyInit,
    contentType: string,
    { idempotencyKey = newId(), requestId = newId(), ...options }: CommandOptions,
  ): Promise<AcceptedCommand> {
    const headers = {
      'content-type': contentType,
      'idempotency-key': idempotencyKey,
      'x-request-id': requestId,
    };
    const answer = await this.#transport.request({
      ...options,
      method: 'POST',
      path,
      headers,
      body,
      isIdempotent: true,
      usualRetryForMs: RETRY_FOR_MS,
    });
    return accepted(answer, idempotencyKey, requestId);
  }
}

/** What a back end has a route for besides messages. */
const OWN_ROUTES: readonly unknown[] = ['stop', 'withdraw', 'decision', 'locate'];

/** A back end builds every body by itself: a page chooses the route, and no `kind`. */
function routeOf(message: unknown): [route: string, message: unknown] {
  if (typeof message === 'string') return ['send', messageOf(message)];
  const { kind, ...fields } = (message ?? {}) as { kind?: unknown };
  return OWN_ROUTES.includes(kind) ? [kind as string, fields] : ['send', message];
}

function accepted(
  { status, headers, text }: Response,
  idempotencyKey: string,
  requestId: string,
): AcceptedCommand {
  const { url, streamPath, streamUrl, restate } = parse(text);
  const invocationId = (restate as { invocationId?: unknown } | undefined)?.invocationId;
  if (![url, streamPath, streamUrl, invocationId].every((value) => typeof value === 'string')) {
    throw new APIError('The address answers a command in another way than an agent gateway.', {
      status,
      code: 'invalid_response',
    });
  }
  return {
    url: url as string,
    streamPath: streamPath as string,
    streamUrl: streamUrl as string,
    invocationId: invocationId as string,
    isReplay: headers.get('idempotency-replayed') === 'true',
    idempotencyKey,
    requestId: headers.get('x-request-id') ?? requestId,
  };
}

function parse(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}
