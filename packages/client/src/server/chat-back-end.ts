import type { AcceptedCommand, CommandOptions } from '../agents.ts';
import type { ControlVerb } from '../events.ts';
import type { AgentGateway } from '../gateway.ts';
import { mintReadToken } from '../tokens.ts';
import { routeOf, type ChatRoute } from './chat-route.ts';
import { agentsOf, prefixesOf, type ChatUser } from './chat-user.ts';
import { problemResponse, Refusal, refusalOf } from './refusal.ts';
import { readJson } from './request-body.ts';
import { refuseCrossSite } from './same-origin.ts';
import { SubjectRate } from './subject-rate.ts';

/** What the back end of a chat needs. */
export interface ChatBackEndOptions {
  /** A client with an API key that has the scope `commands`. */
  gateway: AgentGateway;
  /** One of the gateway's `GATEWAY_READ_TOKEN_SECRETS`, at least 32 bytes. */
  readTokenSecret: string;
  /**
   * Says who sent a request, by its cookie for example. Anything false means nobody: the answer is 401. It must not
   * read the body. Called for each request.
   */
  authorize: (
    request: Request,
  ) => ChatUser | null | undefined | false | Promise<ChatUser | null | undefined | false>;
  /** The path below which the handler is mounted. Default `/chat`. */
  mount?: string;
  /** The lifetime of read tokens in seconds: how long a page reads on after a sign-out. Default 300. */
  ttlSeconds?: number;
  /** The most bytes of a body. Default 65,536. */
  maxBodyBytes?: number;
  /** How long a body may take to arrive, in milliseconds. Default 15,000. */
  bodyTimeoutMs?: number;
  /** The most requests of a user in a minute, to one process. Default 120. */
  requestsPerMinute?: number;
  /** Called for each fault, whose text the page does not get. Default: `console.error`. */
  onError?: (error: unknown) => void;
}

/** The page retries a command by itself, with the same key. One attempt fits into the time that it waits. */
const GATEWAY_CALL = { retryForMs: 0, timeoutMs: 18_000 };
const MIN_SECRET_BYTES = 32;
/** The gateway's rule for `X-Request-Id`. */
const REQUEST_ID = /^[\w.-]{1,128}$/;

/**
 * The back end of a page that talks to agents: `POST token`, `POST api/spawn`, `POST api/a/:type/:id/send` and
 * `POST api/a/:type/:id/control` below its mount, for the page's `new AgentGateway({url, backEnd: '/chat'})`. A user
 * reaches only the agents that `authorize` names. No key and no text of another server reaches the page. Throws a
 * TypeError for a secret that is too short.
 */
export function chatBackEnd(options: ChatBackEndOptions): (request: Request) => Promise<Response> {
  const { onError = logError } = options;
  if (new TextEncoder().encode(options.readTokenSecret).length < MIN_SECRET_BYTES) {
    throw new TypeError(`readTokenSecret must have at least ${MIN_SECRET_BYTES} bytes.`);
  }
  const backEnd = new ChatBackEnd(options);
  return async (request) => {
    try {
      return await backEnd.answer(request);
    } catch (error) {
      const { refusal, isFault } = refusalOf(error);
      if (isFault && !request.signal.aborted) onError(error);
      return problemResponse(refusal);
    }
  };
}

class ChatBackEnd {
  readonly #options: ChatBackEndOptions;
  readonly #mount: string;
  readonly #rate: SubjectRate;

  constructor(options: ChatBackEndOptions) {
    this.#options = options;
    this.#mount = (options.mount ?? '/chat').replace(/\/+$/, '');
    this.#rate = new SubjectRate(options.requestsPerMinute ?? 120);
  }

  /** Throws a `Refusal`, or any error that the page must not see. */
  async answer(request: Request): Promise<Response> {
    const { authorize, gateway } = this.#options;
    const route = routeOf(request, this.#mount, gateway.tenant);
    refuseCrossSite(request);
    const user = await authorize(request);
    if (!user) throw new Refusal(401, 'not_signed_in', 'Sign in first.');
    this.#rate.spend(user.subject);
    if (route.name === 'token') return this.#token(user);
    return accepted(await this.#command(request, route, user));
  }

  async #token(user: ChatUser): Promise<Response> {
    const { gateway, readTokenSecret, ttlSeconds = 300 } = this.#options;
    const token = await mintReadToken({
      secret: readTokenSecret,
      prefix: prefixesOf(user, gateway.tenant),
      ttlSeconds,
      tenant: gateway.tenant,
      subject: user.subject,
      ...(user.catalog && { shape: user.catalog }),
    });
    return json(200, token);
  }

  async #command(
    request: Request,
    route: Exclude<ChatRoute, { name: 'token' }>,
    user: ChatUser,
  ): Promise<AcceptedCommand> {
    const { agents } = this.#options.gateway;
    const own = agentsOf(user, this.#options.gateway.tenant);
    // Before the body: whoever may not send need not be read.
    if (route.name !== 'spawn') refuseUnless(own.has(route.agent));
    const { maxBodyBytes = 65_536, bodyTimeoutMs = 15_000 } = this.#options;
    const { bytes, value } = await readJson(request, maxBodyBytes, bodyTimeoutMs);
    const options = commandOptions(request);
    if (route.name === 'send') {
      return agents.send(route.agent, bytes, { ...options, contentType: 'application/json' });
    }
    if (route.name === 'control') {
      const { verb, reason } = controlOf(value);
      const isAllowed = (user.verbs ?? ['interrupt']).includes(verb as ControlVerb);
      if (!isAllowed) throw new Refusal(403, 'verb_not_allowed', 'You may not apply this verb.');
      const given = reason === undefined ? {} : { reason };
      return agents.control(route.agent, verb as ControlVerb, { ...options, ...given });
    }
    const { type, id, args } = spawnOf(value);
    refuseUnless(own.has(`${type}/${id}`));
    return agents.spawn({ type, id, ...(args !== undefined && { args }) }, options);
  }
}

function logError(error: unknown): void {
  // oxlint-disable-next-line no-console -- the program's own log, unless it names another
  console.error('chat back end:', error);
}

function refuseUnless(isOwn: boolean): void {
  if (!isOwn) throw new Refusal(403, 'agent_not_yours', 'This agent is not yours.');
}

function commandOptions({ headers, signal }: Request): CommandOptions {
  const idempotencyKey = headers.get('idempotency-key');
  const requestId = headers.get('x-request-id') ?? '';
  return {
    ...GATEWAY_CALL,
    signal,
    ...(idempotencyKey !== null && { idempotencyKey }),
    ...(REQUEST_ID.test(requestId) && { requestId }),
  };
}

function controlOf(body: unknown): { verb: string; reason: string | undefined } {
  const { verb, reason, ...others } = fieldsOf(body);
  const isWhole = typeof verb === 'string' && ['string', 'undefined'].includes(typeof reason);
  if (!isWhole || Object.keys(others).length > 0) throw invalid('{"verb", "reason"?}');
  return { verb, reason: reason as string | undefined };
}

/** A parent or a workspace is not for a page to choose. */
function spawnOf(body: unknown): { type: string; id: string; args: unknown } {
  const { type, id, args, ...others } = fieldsOf(body);
  const isWhole = typeof type === 'string' && typeof id === 'string';
  if (!isWhole || Object.keys(others).length > 0) throw invalid('{"type", "id", "args"?}');
  return { type, id, args };
}

function fieldsOf(body: unknown): Record<string, unknown> {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}

function invalid(form: string): Refusal {
  return new Refusal(400, 'invalid_body', `Send ${form} and nothing else.`);
}

/** In the form of the gateway's own answer. */
function accepted(command: AcceptedCommand): Response {
  const { url, streamPath, streamUrl, invocationId, isReplay, requestId } = command;
  const response = json(202, { url, streamPath, streamUrl, restate: { invocationId } });
  response.headers.set('x-request-id', requestId);
  if (isReplay) response.headers.set('idempotency-replayed', 'true');
  return response;
}

function json(status: number, body: object): Response {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  return new Response(JSON.stringify(body), { status, headers });
}
