import type { AcceptedCommand, CommandOptions } from '../agents.ts';
import type { ControlVerb } from '../events.ts';
import type { AgentGateway } from '../gateway.ts';
import { newId } from '../new-id.ts';
import { secretText } from '../secret-text.ts';
import { mintReadToken } from '../tokens.ts';
import { routeOf, type AgentRoute } from './chat-route.ts';
import { checkedUser, prefixesOf, type ChatUser } from './chat-user.ts';
import { contentOf, controlOf, decisionOf, spawnOf, tokenOf, turnOf } from './page-body.ts';
import { problemResponse, Refusal, refusalOf } from './refusal.ts';
import { readJson } from './request-body.ts';
import { refuseCrossSite } from './same-origin.ts';
import { SubjectRate } from './subject-rate.ts';

/** What the back end of a chat needs. */
export interface ChatBackEndOptions {
  /** A client with an API key that has the scope `commands`. */
  gateway: AgentGateway;
  /** One of the gateway's `GATEWAY_READ_TOKEN_SECRETS`, at least 32 bytes. White space around it does not count. */
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
  /** The most commands of a user in a minute, to one process. Default 120. */
  requestsPerMinute?: number;
  /** The most read tokens of a user in a minute, of one process. Default 60. */
  tokensPerMinute?: number;
  /**
   * Whether a user, by the subject, may decide a call of a tool that waits for a person. Default: whoever owns the agent.
   * The decision is by that subject, whatever the page says.
   */
  mayDecide?: (call: CallDecision, subject: string) => boolean | Promise<boolean>;
  /** Called for each fault, whose text the page does not get. Default: `console.error`. */
  onError?: (error: unknown) => void;
}

/** A decision that a page sends, before it is judged. */
export interface CallDecision {
  /** The agent, `type/id`. */
  agent: string;
  /** The id of the call. */
  call: string;
  approved: boolean;
  /** A note for the readers of the timeline. */
  note?: string;
  /** The input that the call gets in place of the model's. Any JSON. */
  input?: unknown;
}

/** The page retries a command by itself, with the same key. One attempt fits into the time that it waits. */
const GATEWAY_CALL = { retryForMs: 0, timeoutMs: 18_000 };
const MIN_SECRET_BYTES = 32;
/** The gateway's rule for `X-Request-Id`. */
const REQUEST_ID = /^[\w.-]{1,128}$/;

/**
 * The back end of a page that talks to agents: `POST token`, `POST api/spawn` and `POST api/a/:type/:id/` with `send`,
 * `stop`, `withdraw`, `decision`, `locate` or `control` below its mount, for the page's
 * `new AgentGateway({url, backEnd: '/chat'})`. A user reaches only the agents that `owns` of `authorize` accepts, and every
 * body is built here. No key and no text of another server reaches the page. Throws a
 * TypeError for a secret that is too short.
 */
export function chatBackEnd(options: ChatBackEndOptions): (request: Request) => Promise<Response> {
  const { onError = logError } = options;
  if (new TextEncoder().encode(secretText(options.readTokenSecret)).length < MIN_SECRET_BYTES) {
    throw new TypeError(`readTokenSecret must have at least ${MIN_SECRET_BYTES} bytes.`);
  }
  const backEnd = new ChatBackEnd(options);
  return async (request) => {
    try {
      return await backEnd.answer(request);
    } catch (error) {
      const { refusal, isFault } = refusalOf(error);
      if (isFault && !request.signal.aborted) onError(error);
      const response = problemResponse(refusal);
      // The page takes a refusal without it for that of a proxy, and tries again for a minute.
      response.headers.set('x-request-id', requestIdOf(request) ?? newId());
      return response;
    }
  };
}

class ChatBackEnd {
  readonly #options: ChatBackEndOptions;
  readonly #mount: string;
  readonly #rate: SubjectRate;
  readonly #tokenRate: SubjectRate;

  constructor(options: ChatBackEndOptions) {
    this.#options = options;
    this.#mount = (options.mount ?? '/chat').replace(/\/+$/, '');
    this.#rate = new SubjectRate(options.requestsPerMinute ?? 120);
    this.#tokenRate = new SubjectRate(options.tokensPerMinute ?? 60);
  }

  /** Throws a `Refusal`, or any error that the page must not see. */
  async answer(request: Request): Promise<Response> {
    const { authorize, gateway } = this.#options;
    const route = routeOf(request, this.#mount, gateway.tenant);
    refuseCrossSite(request);
    const user = await authorize(request);
    if (!user) throw new Refusal(401, 'not_signed_in', 'Sign in first.');
    checkedUser(user, gateway.tenant);
    const rate = route.name === 'token' ? this.#tokenRate : this.#rate;
    rate.spend(user.subject);
    if (route.name === 'token') return this.#token(request, user);
    return accepted(
      route.name === 'spawn'
        ? await this.#spawn(request, user)
        : await this.#command(request, route, user),
    );
  }

  async #token(request: Request, user: ChatUser): Promise<Response> {
    const { gateway, readTokenSecret, ttlSeconds = 300 } = this.#options;
    const wanted = tokenOf(await this.#bodyOf(request));
    const token = await mintReadToken({
      secret: readTokenSecret,
      prefix: await prefixesOf(user, wanted, gateway.tenant),
      ttlSeconds,
      tenant: gateway.tenant,
      subject: user.subject,
      ...(user.catalog && { shape: user.catalog }),
    });
    return json(200, token);
  }

  async #spawn(request: Request, user: ChatUser): Promise<AcceptedCommand> {
    const { type, id, args } = spawnOf(await this.#bodyOf(request));
    await refuseUnless(user.owns(`${type}/${id}`));
    const { parent } = user;
    const spawn = { type, id, ...(args !== undefined && { args }), ...(parent && { parent }) };
    return this.#options.gateway.agents.spawn(spawn, commandOptions(request));
  }

  async #command(
    request: Request,
    { name, agent }: { name: AgentRoute; agent: string },
    user: ChatUser,
  ): Promise<AcceptedCommand> {
    const { gateway, mayDecide } = this.#options;
    const { agents } = gateway;
    const isJudged = name === 'decision' && mayDecide !== undefined;
    // Before the body: whoever may not send need not be read.
    if (!isJudged) await refuseUnless(user.owns(agent));
    const body = await this.#bodyOf(request);
    const options = commandOptions(request);
    switch (name) {
      case 'send':
        return agents.send(agent, { kind: 'message', content: contentOf(body) }, options);
      case 'decision': {
        const decision = decisionOf(body);
        if (isJudged) await refuseDecisionUnless(mayDecide({ agent, ...decision }, user.subject));
        const { call, approved, ...more } = decision;
        const decided = { kind: 'decision', call, approved, by: user.subject, ...more };
        return agents.send(agent, decided, options);
      }
      case 'control': {
        const { verb, ...more } = controlOf(body);
        const isAllowed = (user.verbs ?? ['interrupt']).includes(verb as ControlVerb);
        if (!isAllowed) throw new Refusal(403, 'verb_not_allowed', 'You may not apply this verb.');
        return agents.control(agent, verb as ControlVerb, { ...options, ...more });
      }
      default:
        return agents.send(agent, { kind: name, ...turnOf(body) }, options);
    }
  }

  async #bodyOf(request: Request): Promise<unknown> {
    const { maxBodyBytes = 65_536, bodyTimeoutMs = 15_000 } = this.#options;
    return readJson(request, maxBodyBytes, bodyTimeoutMs);
  }
}

function logError(error: unknown): void {
  // oxlint-disable-next-line no-console -- the program's own log, unless it names another
  console.error('chat back end:', error);
}

async function refuseUnless(isOwn: boolean | Promise<boolean>): Promise<void> {
  if ((await isOwn) !== true) {
    throw new Refusal(403, 'agent_not_yours', 'This agent is not yours.');
  }
}

async function refuseDecisionUnless(isAllowed: boolean | Promise<boolean>): Promise<void> {
  if ((await isAllowed) !== true) {
    throw new Refusal(403, 'decision_not_allowed', 'You may not decide this.');
  }
}

function requestIdOf({ headers }: Request): string | undefined {
  const requestId = headers.get('x-request-id') ?? '';
  return REQUEST_ID.test(requestId) ? requestId : undefined;
}

function commandOptions(request: Request): CommandOptions {
  const { headers, signal } = request;
  const idempotencyKey = headers.get('idempotency-key');
  const requestId = requestIdOf(request);
  return {
    ...GATEWAY_CALL,
    signal,
    ...(idempotencyKey !== null && { idempotencyKey }),
    ...(requestId !== undefined && { requestId }),
  };
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
