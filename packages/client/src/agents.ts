import { commandPath, type EntityAddress } from './address.ts';
import { Answer, type AnswerReads, type AskOptions } from './answer.ts';
import { APIError } from './api-error.ts';
import type { AgentEvent, ControlVerb, TimelineEvent } from './events.ts';
import { newId } from './new-id.ts';
import type { Answer as Response, RequestOptions, Transport } from './transport.ts';

/** A command is worth waiting for: it outlasts an outage of the runtime. */
const RETRY_FOR_MS = 90_000;

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
    const isShort = this.#isJsonOnly && typeof message === 'string';
    const [body, usualType] = bodyOf(isShort ? messageOf(message) : message);
    return this.#command(this.#path(agent, 'send'), body, contentType ?? usualType, options);
  }

  /**
   * Sends a message and gives the answer to it, which reads the timeline from where it is then. Nothing is sent before
   * the answer is read.
   */
  ask<Event extends TimelineEvent = AgentEvent>(
    agent: EntityAddress,
    message: unknown,
    options: AskOptions = {},
  ): Answer<Event> {
    const { timeoutMs: _, ...sendOptions } = options;
    const commands = {
      send: () => this.send(agent, message, sendOptions),
      control: (more: ControlOptions) => this.control(agent, 'interrupt', more),
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

/** The canonical shape of a message. */
function messageOf(text: string): object {
  return { kind: 'message', content: [{ type: 'text', text }] };
}

/** Throws a TypeError for a value that JSON cannot represent. It would silently arrive as `{}`. */
function bodyOf(message: unknown): [BodyInit, string] {
  if (typeof message === 'string') return [message, 'text/plain; charset=utf-8'];
  if (message instanceof Blob) return [message, message.type || 'application/octet-stream'];
  if (message instanceof ArrayBuffer || ArrayBuffer.isView(message)) {
    return [message as BufferSource, 'application/octet-stream'];
  }
  const json = isData(message) ? (JSON.stringify(message) as string | undefined) : undefined;
  if (json === undefined) {
    throw new TypeError('A message is text, bytes, or data that JSON can hold.');
  }
  return [json, 'application/json'];
}

/** Whether it has data of its own, unlike a stream or a form. */
function isData(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return true;
  // This also recognizes objects of another realm, such as a worker's.
  return (
    Object.prototype.toString.call(value) === '[object Object]' && !(Symbol.asyncIterator in value)
  );
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
