import { timelinePath, type EntityAddress } from './address.ts';
import type { AcceptedCommand, ControlOptions, MessageOptions } from './agents.ts';
import { AnswerError, notAnswered } from './answer-error.ts';
import { APIError } from './api-error.ts';
import { textOf, type AgentEvent, type ReplyEvent, type TimelineEvent } from './events.ts';
import type { Invocations } from './invocations.ts';
import { ownTurnAfter } from './own-turn.ts';
import { Timeline } from './timeline.ts';
import type { Transport } from './transport.ts';
import { isOpen, type Turn } from './turn.ts';

/** Options of `agents.ask`. */
export interface AskOptions extends Omit<MessageOptions, 'timeoutMs'> {
  /** How long the agent may take to begin, in milliseconds, from the moment the message is accepted. Default 60,000. */
  timeoutMs?: number;
  /** Ends the reading, which throws the signal's reason. The agent continues: `stop()` interrupts it. */
  signal?: AbortSignal;
}

/** What an answer is read with. */
export interface AnswerReads {
  transport: Transport;
  /** The tenant of agents whose address names none. */
  tenant: string;
  isRenewable: boolean;
  invocations: Invocations;
}

/** The commands of an answer. */
interface AnswerCommands {
  send: () => Promise<AcceptedCommand>;
  control: (options: ControlOptions) => Promise<AcceptedCommand>;
}

const DEFAULT_TIMEOUT_MS = 60_000;
/** How long the client asks for the reason of a missing answer. */
const REASON_TIMEOUT_MS = 5_000;

/**
 * The answer to one message. The message is sent when the answer is read for the first time, or `sent` is. Iterate
 * over the events of the turn as they come, or wait for the whole. Both may be done, in any order and more than once.
 * Reading throws an `AnswerError` if the agent refuses, fails or does not begin, and an `APIError` like `send`.
 */
export class Answer<Event extends TimelineEvent = AgentEvent> implements AsyncIterable<Event> {
  readonly #agent: EntityAddress;
  readonly #commands: AnswerCommands;
  readonly #reads: AnswerReads;
  readonly #options: AskOptions;
  readonly #events: Event[] = [];
  #turn: Turn | undefined;
  #reply: ReplyEvent | undefined;
  /** Without an error: the reply is complete. */
  #end: { error: unknown } | undefined;
  #sending: Promise<AcceptedCommand> | undefined;
  #before: { path: string; offset: string } | undefined;
  #timeline: Timeline<Event> | undefined;
  #source: AsyncGenerator<Event, void> | undefined;
  #reading: Promise<void> | undefined;
  #readers = 0;
  readonly #late = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Created by `agents.ask`. */
  constructor(
    agent: EntityAddress,
    commands: AnswerCommands,
    reads: AnswerReads,
    options: AskOptions,
  ) {
    this.#agent = agent;
    this.#commands = commands;
    this.#reads = reads;
    this.#options = options;
  }

  /** The accepted command. Sends the message if that has not been done. */
  get sent(): Promise<AcceptedCommand> {
    return (this.#sending ??= this.#send());
  }

  /** The events of the turn, from the message to its end. After a stop it ends without an error. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    this.#readers += 1;
    try {
      for (let index = 0; ; index++) {
        while (index >= this.#events.length && !this.#end) await this.#readOn();
        const event = this.#events[index];
        if (!event) break;
        yield event;
      }
    } finally {
      this.#readers -= 1;
      if (this.#readers === 0) await this.#rest();
    }
    const { error } = this.#end ?? {};
    if (error !== undefined && !isStop(error)) throw error;
  }

  /** The event of the complete reply. Rejects with code `stopped` if the agent was stopped. */
  async reply(): Promise<ReplyEvent> {
    // oxlint-disable-next-line typescript/no-unused-vars -- the events are kept
    for await (const _ of this);
    if (this.#end?.error !== undefined) throw this.#end.error;
    return this.#reply as ReplyEvent;
  }

  /** The text of the complete reply. Rejects like `reply`, with what was said as the `text` of the error. */
  async text(): Promise<string> {
    return textOf((await this.reply()).content);
  }

  /**
   * Interrupts the agent, which ends the answer. Does nothing if the answer has ended, and if the message has not been
   * sent, it never is. An agent interrupts the turn that it is in: while the message waits for another one, that is
   * the other one.
   */
  async stop(reason?: string): Promise<AcceptedCommand | undefined> {
    if (!this.#sending) {
      const error = new AnswerError('The answer was stopped before the message was sent.', {
        code: 'stopped',
      });
      this.#end ??= { error };
      this.#sending = Promise.reject(error);
      this.#sending.catch(() => undefined);
      return undefined;
    }
    await this.#sending;
    if (this.#end) return undefined;
    return this.#commands.control(reason === undefined ? {} : { reason });
  }

  async #send(): Promise<AcceptedCommand> {
    const path = timelinePath(this.#agent, this.#reads.tenant);
    this.#before = { path, offset: await this.#endOf(path) };
    return this.#commands.send();
  }

  /** The offset after the last event of now. */
  async #endOf(path: string): Promise<string> {
    const { signal } = this.#options;
    const call = { method: 'HEAD', path, isIdempotent: true, ...(signal && { signal }) };
    try {
      const { headers } = await this.#reads.transport.request(call);
      return headers.get('stream-next-offset') ?? '-1';
    } catch (error) {
      if (error instanceof APIError && error.status === 404) return '-1';
      throw error;
    }
  }

  /** Reads one more event, once for all who wait. */
  #readOn(): Promise<void> {
    this.#reading ??= this.#readEvent()
      .catch((error: unknown) => void (this.#end ??= { error }))
      .finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readEvent(): Promise<void> {
    const { signal } = this.#options;
    const command = await this.sent;
    signal?.throwIfAborted();
    const { value: event } = await this.#open(command).next();
    if (event) return this.#take(event, command);
    this.#source = undefined;
    signal?.throwIfAborted();
    if (!this.#late.signal.aborted) {
      throw new AnswerError('The timeline has ended before the answer.', {
        code: 'not_answered',
        requestId: command.requestId,
        text: this.#turn?.text,
      });
    }
    const timeoutMs = this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    throw notAnswered(timeoutMs, command.requestId, await this.#unfinished());
  }

  /** The events from where the timeline was before the message, or from where the last reader left. */
  #open(command: AcceptedCommand): AsyncGenerator<Event, void> {
    if (this.#source) return this.#source;
    const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options;
    const { transport, tenant, isRenewable } = this.#reads;
    const path = timelinePath(command, tenant);
    // Without a tenant of its own the client does not know that of the gateway before the first command.
    const from = this.#before?.path === path ? this.#before.offset : '-1';
    this.#timeline ??= new Timeline<Event>(transport, path, isRenewable, {
      from,
      signal: AbortSignal.any([this.#late.signal, ...(signal ? [signal] : [])]),
    });
    if (!this.#turn) this.#timer = setTimeout(() => this.#late.abort(), timeoutMs);
    return (this.#source = this.#timeline[Symbol.asyncIterator]());
  }

  /** Keeps an event of the turn, and ends with its last one. */
  #take(event: Event, { requestId }: AcceptedCommand): void {
    const said = event as unknown as AgentEvent;
    const turn = ownTurnAfter(this.#turn, said, requestId);
    if (!turn) return;
    clearTimeout(this.#timer);
    this.#turn = turn;
    this.#events.push(event);
    if (said.kind === 'reply') this.#reply = said;
    if (turn.state === 'done') this.#end = { error: undefined };
    else if (!isOpen(turn)) this.#end = { error: errorOf(turn, requestId) };
  }

  /** Nobody reads: the connection is closed until somebody does. */
  async #rest(): Promise<void> {
    clearTimeout(this.#timer);
    const source = this.#source;
    this.#source = undefined;
    await source?.return();
  }

  async #unfinished() {
    const { signal } = this.#options;
    const options = {
      timeoutMs: REASON_TIMEOUT_MS,
      onRetry: () => false,
      ...(signal && { signal }),
    };
    try {
      return await this.#reads.invocations.list({ agent: this.#agent, ...options });
    } catch {
      // Most keys may not ask, and the reason is only a help.
      return undefined;
    }
  }
}

function errorOf(turn: Turn, requestId: string): AnswerError {
  const { state, error = '', text, stoppedBy } = turn;
  if (state === 'stopped') {
    const reason = stoppedBy?.reason === undefined ? '' : `: ${stoppedBy.reason}`;
    const message = `The answer was stopped by an ${stoppedBy?.verb}${reason}`;
    return new AnswerError(message, { code: 'stopped', requestId, text, stoppedBy });
  }
  if (state === 'refused') {
    const code = error === 'archived' ? 'archived' : 'refused';
    return new AnswerError(`The agent refused the message: ${error}`, { code, requestId });
  }
  return new AnswerError(`The agent failed: ${error}`, { code: 'failed', requestId, text });
}

function isStop(error: unknown): boolean {
  return error instanceof AnswerError && error.code === 'stopped';
}
