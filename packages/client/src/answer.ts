import { timelinePath, type EntityAddress } from './address.ts';
import {
  RETRY_FOR_MS,
  type AcceptedCommand,
  type ControlOptions,
  type MessageOptions,
} from './agents.ts';
import { AnswerDelay } from './answer-delay.ts';
import { AnswerError, errorOf, notAnswered } from './answer-error.ts';
import { Patience } from './answer-patience.ts';
import { APIError } from './api-error.ts';
import { textOf } from './events.ts';
import type { AgentEvent, ReplyEvent, TimelineEvent } from './events.ts';
import type { Invocations } from './invocations.ts';
import { ownTurnAfter } from './own-turn.ts';
import { Timeline } from './timeline.ts';
import type { Transport } from './transport.ts';
import { TurnSearch } from './turn-search.ts';
import { hasBegun, isOpen, type Turn } from './turn.ts';

/** Options of `agents.ask`. */
export interface AskOptions extends Omit<MessageOptions, 'timeoutMs'> {
  /**
   * How long the agent may take to begin, in milliseconds, from the moment the message is accepted. Begun is the first text,
   * thought, data or call of a tool, also one that waits for a person. The time in which the page is hidden does not count, and
   * up to 90 s of an outage do not. Default 60,000.
   */
  timeoutMs?: number;
  /** Ends the reading, which throws the signal's reason. The agent continues: `stop()` ends its turn. */
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
  stop: (invocationId: string, options: ControlOptions) => Promise<AcceptedCommand>;
  interrupt: (options: ControlOptions) => Promise<AcceptedCommand>;
  locate: (invocationId: string, signal: AbortSignal) => Promise<AcceptedCommand>;
}

const DEFAULT_TIMEOUT_MS = 60_000;

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
  readonly #delay: AnswerDelay;
  /** Whether it is known where the turn begins, or would. */
  #isSearched = false;
  readonly #late = new AbortController();
  #patience: Patience | undefined;

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
    this.#delay = new AnswerDelay(reads);
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
   * Ends this turn and no other, whether it is under way or waits for others. Does nothing if the answer has ended, and
   * if the message has not been sent, it never is. An agent that does not name its turns is interrupted, whatever turn
   * it is in.
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
    const { invocationId } = await this.#sending;
    if (this.#end) return undefined;
    const options = reason === undefined ? {} : { reason };
    const isUnnamed = this.#turn !== undefined && this.#turn.id === undefined;
    return isUnnamed
      ? this.#commands.interrupt(options)
      : this.#commands.stop(invocationId, options);
  }

  async #send(): Promise<AcceptedCommand> {
    const path = timelinePath(this.#agent, this.#reads.tenant);
    this.#before = { path, offset: await this.#endOf(path) };
    return this.#commands.send();
  }

  /** The offset after the last event of now. */
  async #endOf(path: string): Promise<string> {
    const { signal, retryForMs, onRetry } = this.#options;
    const call = {
      method: 'HEAD',
      path,
      isIdempotent: true,
      usualRetryForMs: RETRY_FOR_MS,
      ...(signal && { signal }),
      ...(retryForMs !== undefined && { retryForMs }),
      ...(onRetry && { onRetry }),
    };
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
    const source = await this.#open(command);
    const { value: event } = await source.next();
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
    const why = await this.#delay.why(this.#turn, this.#isSearched, command, signal);
    throw notAnswered(timeoutMs, command.requestId, why);
  }

  /** The events from where the turn begins, or from where the last reader left. */
  async #open(command: AcceptedCommand): Promise<AsyncGenerator<Event, void>> {
    if (this.#source) return this.#source;
    const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options;
    const ended = AbortSignal.any([this.#late.signal, ...(signal ? [signal] : [])]);
    if (!this.#turn || !hasBegun(this.#turn)) this.#wait(timeoutMs);
    this.#timeline ??= await this.#timelineOf(command, ended);
    return (this.#source = this.#timeline[Symbol.asyncIterator]());
  }

  async #timelineOf(command: AcceptedCommand, signal: AbortSignal): Promise<Timeline<Event>> {
    const { transport, tenant, isRenewable } = this.#reads;
    const path = timelinePath(command, tenant);
    // Without a tenant of its own the client does not know that of the gateway before the first command.
    const before = this.#before?.path === path ? this.#before.offset : '-1';
    // Only a message with a key of the caller can have been sent before.
    const mayBeRepeated = command.isReplay || this.#options.idempotencyKey !== undefined;
    const locate = (limit: AbortSignal) => this.#commands.locate(command.invocationId, limit);
    this.#isSearched = !mayBeRepeated;
    const from = mayBeRepeated
      ? await new TurnSearch(this.#reads, { path, command, locate, signal }).placeAfter(before)
      : before;
    this.#isSearched ||= !signal.aborted;
    return new Timeline<Event>(transport, path, isRenewable, {
      from,
      signal,
      onState: (state) => this.#patience?.onState(state),
      onReset: () => this.#startOver(),
    });
  }

  #wait(timeoutMs: number): void {
    this.#patience?.end();
    this.#patience = new Patience(timeoutMs, RETRY_FOR_MS, () => this.#late.abort());
  }

  /** The events come again from the start. Whoever has had some of them gets those that come after as many. */
  #startOver(): void {
    this.#turn = undefined;
    this.#events.length = 0;
    this.#wait(this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  }

  /** Keeps an event of the turn, and ends with its last one. */
  #take(event: Event, command: AcceptedCommand): void {
    const said = event as unknown as AgentEvent;
    this.#delay.take(said);
    const turn = ownTurnAfter(this.#turn, said, command);
    if (!turn) return;
    if (hasBegun(turn) || !isOpen(turn)) {
      this.#patience?.end();
      this.#patience = undefined;
    }
    this.#turn = turn;
    this.#events.push(event);
    if (said.kind === 'reply') this.#reply = said;
    if (turn.state === 'done') this.#end = { error: undefined };
    else if (!isOpen(turn)) this.#end = { error: errorOf(turn, command.requestId) };
  }

  /** Nobody reads: the connection is closed until somebody does. */
  async #rest(): Promise<void> {
    this.#patience?.end();
    this.#patience = undefined;
    const source = this.#source;
    this.#source = undefined;
    await source?.return();
  }
}

function isStop(error: unknown): boolean {
  return error instanceof AnswerError && error.code === 'stopped';
}
