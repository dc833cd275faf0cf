import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { APIError, conversation, isOpen } from '@agent-gateway/client';
import type {
  AcceptedCommand,
  AgentGateway,
  AskOptions,
  Bookmark,
  Conversation,
  EntityAddress,
  TimelineEvent,
  Turn,
} from '@agent-gateway/client';
import { AnswerChunks, errorOf } from './answer-chunks.ts';
import { ChunkStream } from './chunk-stream.ts';
import { contentOf, uiMessages, type AgentMessage } from './ui-messages.ts';

/** Options of `agentTransport`. */
export type TransportOptions = Pick<AskOptions, 'timeoutMs'>;
type Transport = ChatTransport<UIMessage>;

/** The gateway's rule for `X-Request-Id`. */
const REQUEST_ID = /^[\w.-]{1,128}$/;

/**
 * The transport of `useChat` for one agent. `timeoutMs` is how long the agent may take to begin, in milliseconds. Default
 * 60,000.
 */
export function agentTransport(
  gateway: AgentGateway,
  agent: EntityAddress,
  options: TransportOptions = {},
): AgentTransport {
  return new AgentTransport(gateway, agent, options);
}

/** Created by `agentTransport`. */
export class AgentTransport implements ChatTransport<AgentMessage> {
  /** A running answer comes from its beginning. */
  readonly resumeStreamIsReplay = true;
  readonly #gateway: AgentGateway;
  readonly #agent: EntityAddress;
  readonly #options: TransportOptions;
  #said: Conversation = conversation([]);
  #bookmark: Bookmark | undefined;
  /** The numbers of the turns that the page has without their ends. */
  readonly #open = new Set<number | undefined>();

  constructor(gateway: AgentGateway, agent: EntityAddress, options: TransportOptions) {
    this.#gateway = gateway;
    this.#agent = agent;
    this.#options = options;
  }

  /** What was said so far, for the `messages` of `useChat`. Rejects with an `APIError`. */
  async history({ signal }: { signal?: AbortSignal } = {}): Promise<AgentMessage[]> {
    const { turns } = (await this.#catchUp(signal)).said;
    for (const { seq } of turns.filter(isOpen)) this.#open.add(seq);
    return uiMessages(turns);
  }

  /**
   * Sends the last message, and gives the answer to it. Rejects with an `APIError`, or a TypeError if it is not a message
   * of a user. The stream fails with an `AnswerError`.
   */
  async sendMessages(
    request: Parameters<Transport['sendMessages']>[0],
  ): Promise<ReadableStream<UIMessageChunk>> {
    const { messages, trigger, messageId, abortSignal } = request;
    const message = messages.at(-1);
    if (message?.role !== 'user') throw new TypeError('Only a message of a user can be sent.');
    const stream = new ChunkStream(abortSignal);
    const isNew = trigger === 'submit-message' && messageId === undefined;
    const body = { kind: 'message', content: contentOf(message.parts) };
    const answer = this.#gateway.agents.ask(this.#agent, body, {
      ...this.#options,
      ...(isNew && REQUEST_ID.test(message.id) && { requestId: message.id }),
      signal: stream.signal,
    });
    await answer.sent;
    return stream.of(this.#answered(answer));
  }

  /** The answers that run, each from its beginning, or null if the agent is idle. Rejects with an `APIError`. */
  async reconnectToStream(
    request: Parameters<Transport['reconnectToStream']>[0],
  ): Promise<ReadableStream<UIMessageChunk> | null> {
    const stream = new ChunkStream(request.abortSignal);
    const { signal } = stream;
    const { said, bookmark: from } = await this.#catchUp(signal);
    const turns = said.turns.filter((turn) => isOpen(turn) || this.#open.has(turn.seq));
    if (turns.length === 0) return null;
    const events = this.#gateway.timeline(this.#agent, { from, signal });
    return stream.of(this.#resumed(turns, said, events[Symbol.asyncIterator]()));
  }

  /** Interrupts the agent, which ends the answer. Rejects with an `APIError`. */
  stop(reason?: string): Promise<AcceptedCommand> {
    const options = reason === undefined ? {} : { reason };
    return this.#gateway.agents.control(this.#agent, 'interrupt', options);
  }

  async *#answered(events: AsyncIterable<TimelineEvent>): AsyncGenerator<UIMessageChunk, void> {
    const chunks = new AnswerChunks();
    let said = conversation([]);
    for await (const event of events) {
      said = conversation([event], said);
      const [turn] = said.turns;
      if (turn) yield* this.#chunksAfter(turn, chunks);
    }
  }

  async *#resumed(
    turns: readonly Turn[],
    before: Conversation,
    events: AsyncIterator<TimelineEvent, void>,
  ): AsyncGenerator<UIMessageChunk, void> {
    let said = before;
    for (let turn of turns) {
      const { seq } = turn;
      const chunks = new AnswerChunks();
      for (;;) {
        turn = said.turns.find((each) => each.seq === seq) ?? turn;
        yield* this.#chunksAfter(turn, chunks);
        if (!isOpen(turn)) break;
        const { value, done } = await events.next();
        if (done === true) return;
        said = conversation([value], said);
      }
    }
  }

  *#chunksAfter(turn: Turn, chunks: AnswerChunks): Generator<UIMessageChunk, void> {
    this.#open.add(turn.seq);
    yield* chunks.after(turn);
    if (isOpen(turn)) return;
    // The page has taken the last chunk.
    this.#open.delete(turn.seq);
    const error = errorOf(turn);
    if (error) throw error;
  }

  /** Reads what is new since the last time. */
  async #catchUp(signal?: AbortSignal): Promise<{ said: Conversation; bookmark: Bookmark }> {
    const timeline = this.#gateway.timeline(this.#agent, {
      live: false,
      waitForStream: false,
      ...(this.#bookmark && { from: this.#bookmark }),
      ...(signal && { signal }),
    });
    const before = this.#said;
    const events: TimelineEvent[] = [];
    try {
      for await (const event of timeline) events.push(event);
    } catch (error) {
      // An agent without a timeline has said nothing.
      if (!(error instanceof APIError && error.code === 'http_404')) throw error;
    }
    signal?.throwIfAborted();
    const { bookmark } = timeline;
    this.#said = conversation(events, before);
    this.#bookmark = bookmark;
    return { said: this.#said, bookmark };
  }
}
