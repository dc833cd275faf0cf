import {
  EventType,
  PROTOCOL_VERSION,
  type Event,
  type ResumeEntry,
  type RunAgentInput,
} from '@ag-ui/core';
import { RunAgentInputSchema } from '@ag-ui/core/schemas';
import { AnswerError, APIError, conversation, isOpen } from '@agent-gateway/client';
import type { AgentGateway, NewDecision, TimelineEvent, Turn } from '@agent-gateway/client';
import { messagesOf, turnWith } from './messages.ts';
import { endOf, interruptsOf, RunEvents } from './run-events.ts';

/** Who sent a run, and to which agent it goes. */
export interface AgUiUser {
  /** The id of the user, who decides. */
  subject: string;
  /** The agent of the thread, `type/id`. */
  agent: string;
}

/** What the back end of AG-UI needs. */
export interface AgUiOptions {
  /** A client with an API key that has the scopes `commands` and `streams:read`. */
  gateway: AgentGateway;
  /**
   * Says who sent a request, and which agent is behind the thread. Anything false is 401, so check that the agent is the
   * user's. It must not read the body.
   */
  authorize: (
    request: Request,
    threadId: string,
  ) => AgUiUser | null | undefined | false | Promise<AgUiUser | null | undefined | false>;
  /** Whether a user may decide a call that waits for a person. Default: whoever `authorize` accepts. */
  mayDecide?: (decision: NewDecision, user: AgUiUser) => boolean | Promise<boolean>;
  /** How long the agent may take to begin, in milliseconds. Default 60,000. */
  timeoutMs?: number;
  /** Called for each fault, whose text the client does not get. Default: `console.error`. */
  onError?: (error: unknown) => void;
}

const KEEP_ALIVE_MS = 15_000;
/** Calls of one step are appended together, but may be read in pieces. */
const SAME_STEP_MS = 50;
const RUN_ID = /^[\w.-]{1,100}$/;

/**
 * A route of your back end for a client of AG-UI: a run sends the last message of the user, or decides what the run before was
 * interrupted for, and streams the turn until it ends or waits for a person. A run without messages gives what was said.
 */
export function agUiBackEnd(options: AgUiOptions): (request: Request) => Promise<Response> {
  const { onError = logError } = options;
  return async (request) => {
    if (request.method !== 'POST') return refusal(405, 'A run is a POST.');
    if (!/^application\/json\b/.test(request.headers.get('content-type') ?? '')) {
      return refusal(415, 'A run is JSON.');
    }
    const body = await request.json().catch(() => undefined);
    const { data: input } = RunAgentInputSchema.safeParse(body);
    if (!input) return refusal(400, 'The body is no RunAgentInput.');
    try {
      const user = await options.authorize(request, input.threadId);
      if (!user) return refusal(401, 'Nobody is signed in who may use this thread.');
      const run = new Run(options, user, input as RunAgentInput, request.signal);
      const problem = await run.problem();
      return problem ? refusal(...problem) : streamOf(run);
    } catch (error) {
      onError(error);
      return refusal(500, 'The run could not be begun.');
    }
  };
}

class Run {
  readonly #options: AgUiOptions;
  readonly #user: AgUiUser;
  readonly #input: RunAgentInput;
  readonly #ended = new AbortController();
  /** For the reads. */
  readonly #signal: AbortSignal;
  readonly #decisions: NewDecision[];

  constructor(options: AgUiOptions, user: AgUiUser, input: RunAgentInput, signal: AbortSignal) {
    this.#options = options;
    this.#user = user;
    this.#input = input;
    this.#signal = AbortSignal.any([signal, this.#ended.signal]);
    this.#decisions = (input.resume ?? []).map((entry) => decisionOf(entry, user.subject));
  }

  /** What is wrong with the run, before anything is sent. */
  async problem(): Promise<[status: number, detail: string] | undefined> {
    const { mayDecide = () => true } = this.#options;
    for (const decision of this.#decisions) {
      if (typeof decision.approved !== 'boolean') {
        return [400, 'A resume needs a payload with approved: true or false.'];
      }
      if (!(await mayDecide(decision, this.#user))) return [403, 'You may not decide this.'];
    }
    const last = this.#input.messages.at(-1);
    const isMessage = this.#decisions.length === 0 && last !== undefined;
    return isMessage && last.role !== 'user' ? [400, 'The last message is no user’s.'] : undefined;
  }

  /** Ends the reads. The agent continues. */
  end(): void {
    this.#ended.abort();
  }

  async *events(): AsyncGenerator<Event, void> {
    const { threadId, runId, messages } = this.#input;
    yield { type: EventType.RUN_STARTED, threadId, runId, protocolVersion: PROTOCOL_VERSION };
    try {
      if (this.#decisions.length > 0) yield* this.#resumed();
      else if (messages.length > 0) yield* this.#answered();
      else yield* this.#history();
    } catch (error) {
      if (this.#signal.aborted) return;
      const isOfTurn = error instanceof AnswerError;
      if (!isOfTurn) (this.#options.onError ?? logError)(error);
      const code = isOfTurn || error instanceof APIError ? error.code : 'internal_error';
      const message = isOfTurn ? error.message : 'The agent cannot be reached just now.';
      yield { type: EventType.RUN_ERROR, message, code };
    }
  }

  async *#answered(): AsyncGenerator<Event, void> {
    const { runId, messages } = this.#input;
    const { timeoutMs } = this.#options;
    const content = messages.at(-1)?.content;
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const body = { kind: 'message', content: parts };
    const answer = this.#options.gateway.agents.ask(this.#user.agent, body, {
      ...(timeoutMs !== undefined && { timeoutMs }),
      // A run that is sent again is the same turn.
      ...(RUN_ID.test(runId) && { idempotencyKey: `ag-ui-${runId}` }),
      signal: this.#signal,
    });
    yield* this.#until(answer[Symbol.asyncIterator](), ({ turns: [turn] }) => turn);
  }

  async *#resumed(): AsyncGenerator<Event, void> {
    const { agents } = this.#options.gateway;
    const { agent } = this.#user;
    const calls = this.#decisions.map(({ call }) => call);
    const { said, bookmark: from } = await this.#catchUp();
    const turn = turnWith(said.turns, calls);
    if (!turn) {
      const message = 'Nothing waits for this decision.';
      return void (yield { type: EventType.RUN_ERROR, message, code: 'unknown_interrupt' });
    }
    for (const decision of this.#decisions) await agents.decide(agent, decision);
    const events = this.#options.gateway.timeline(agent, { from, signal: this.#signal });
    const find = ({ turns }: { turns: readonly Turn[] }) =>
      turns.find(({ key }) => key === turn.key);
    yield* this.#until(events[Symbol.asyncIterator](), find, said, new Set(calls));
  }

  async *#history(): AsyncGenerator<Event, void> {
    const { turns } = (await this.#catchUp()).said;
    yield { type: EventType.MESSAGES_SNAPSHOT, messages: messagesOf(turns) };
    yield this.#finished(turns.flatMap((turn) => (isOpen(turn) ? interruptsOf(turn) : [])));
  }

  /** Tells a turn until it ends, or until all that is left of it waits for a person. */
  async *#until(
    events: AsyncIterator<TimelineEvent, void>,
    find: (said: { turns: readonly Turn[] }) => Turn | undefined,
    before = conversation([]),
    sent = new Set<string>(),
  ): AsyncGenerator<Event, void> {
    const told = new RunEvents(this.#input.messages);
    let said = before;
    let next = events.next();
    try {
      for (;;) {
        const turn = find(said);
        if (turn) yield* told.after(turn);
        if (turn && !isOpen(turn)) return void (yield endOf(turn, this.#ids));
        for (const { id, decision } of turn?.tools ?? []) if (decision) sent.delete(id);
        const interrupts = turn && sent.size === 0 ? interruptsOf(turn) : [];
        // Calls of one step come together: those that are here already belong to the same interrupt.
        const isQuiet =
          interrupts.length > 0 && (await Promise.race([next.then(() => false), soon()]));
        if (isQuiet) {
          yield* told.close();
          return void (yield this.#finished(interrupts));
        }
        const { value, done } = await next;
        if (done) throw new AnswerError('The timeline has ended.', { code: 'not_answered' });
        said = conversation([value], said);
        next = events.next();
      }
    } finally {
      // It may be reading, which would hold up its return.
      next.catch(() => undefined);
      this.end();
    }
  }

  get #ids(): { threadId: string; runId: string } {
    const { threadId, runId } = this.#input;
    return { threadId, runId };
  }

  #finished(interrupts: ReturnType<typeof interruptsOf>): Event {
    const outcome =
      interrupts.length > 0
        ? ({ type: 'interrupt', interrupts } as const)
        : ({ type: 'success' } as const);
    return { type: EventType.RUN_FINISHED, ...this.#ids, outcome };
  }

  async #catchUp() {
    const timeline = this.#options.gateway.timeline(this.#user.agent, {
      live: false,
      waitForStream: false,
      signal: this.#signal,
    });
    let said = conversation([]);
    try {
      for await (const event of timeline) said = conversation([event], said);
    } catch (error) {
      // An agent without a timeline has said nothing.
      if (!(error instanceof APIError && error.code === 'http_404')) throw error;
    }
    return { said, bookmark: timeline.bookmark };
  }
}

/** An interrupt that is abandoned is denied. The input of a call stays as it is. */
function decisionOf({ interruptId: call, status, payload }: ResumeEntry, by: string): NewDecision {
  const { approved, note } = (payload ?? {}) as Partial<NewDecision>;
  return {
    call,
    approved: status === 'cancelled' ? false : (approved as boolean),
    by,
    ...(typeof note === 'string' && { note }),
  };
}

function logError(error: unknown): void {
  // oxlint-disable-next-line no-console -- an application has no other log that this library knows
  console.error(error);
}

function soon(): Promise<true> {
  return new Promise((resolve) => setTimeout(() => resolve(true), SAME_STEP_MS));
}

function refusal(status: number, detail: string): Response {
  return Response.json({ status, detail }, { status });
}

function streamOf(run: Run): Response {
  const encoder = new TextEncoder();
  const events = run.events();
  let keepAlive: ReturnType<typeof setInterval>;
  const end = () => {
    clearInterval(keepAlive);
    run.end();
  };
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      keepAlive = setInterval(() => controller.enqueue(encoder.encode(':\n\n')), KEEP_ALIVE_MS);
    },
    pull: async (controller) => {
      const { value, done } = await events.next();
      if (!done) return controller.enqueue(encoder.encode(`data: ${JSON.stringify(value)}\n\n`));
      end();
      controller.close();
    },
    cancel: end,
  });
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };
  return new Response(body, { headers });
}
