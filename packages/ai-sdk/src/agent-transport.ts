import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { APIError, conversation, isOpen } from '@agent-gateway/client';
import type {
  AcceptedCommand,
  AgentGateway,
  Answer,
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
  /** The keys of the turns that the page has without their ends. */
  readonly #open = new Set<string>();
  /** What `stop` stops. */
  #latest: Answer | Turn | undefined;
  /** What the page reads, and the turn that it shows. */
  #reading: { stream: ChunkStream; turn?: Turn } | undefined;
  /** The calls whose decisions are sent. */
  readonly #decided = new Set<string>();

  constructor(gateway: AgentGateway, agent: EntityAddress, options: TransportOptions) {
    this.#gateway = gateway;
    this.#agent = agent;
    this.#options = options;
  }

  /** What was said so far, for the `messages` of `useChat`. Rejects with an `APIError`. */
  async history({ signal }: { signal?: AbortSignal } = {}): Promise<AgentMessage[]> {
    const { turns } = (await this.#catchUp(signal)).said;
    for (const turn of turns.filter(isOpen)) this.#keepOpen(turn);
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
    this.#latest = answer;
    await answer.sent;
    return this.#read(stream, this.#answered(answer));
  }

  /** The answers that run, each from its beginning, or null if the agent is idle. Rejects with an `APIError`. */
  async reconnectToStream(
    request: Parameters<Transport['reconnectToStream']>[0],
  ): Promise<ReadableStream<UIMessageChunk> | null> {
    const stream = new ChunkStream(request.abortSignal);
    const { signal } = stream;
    const { said, bookmark: from } = await this.#catchUp(signal);
    const turns = said.turns.filter((turn) => isOpen(turn) || this.#open.has(turn.key));
    if (turns.length === 0) return null;
    for (const turn of turns.filter(isOpen)) this.#keepOpen(turn);
    const start = { said };
    const onReset = (): void => void (start.said = conversation([]));
    const events = this.#gateway.timeline(this.#agent, { from, signal, onReset });
    return this.#read(stream, this.#resumed(turns, start, events[Symbol.asyncIterator]()));
  }

  /**
   * Ends the latest answer that runs, and no other. Does nothing if none does. An agent that does not name its turns is
   * interrupted, whatever turn it is in. Rejects with an `APIError`.
   */
  async stop(reason?: string): Promise<AcceptedCommand | undefined> {
    const latest = this.#latest;
    if (latest === undefined) return undefined;
    if ('sent' in latest) return latest.stop(reason);
    const { agents } = this.#gateway;
    const options = reason === undefined ? {} : { reason };
    return latest.id === undefined
      ? agents.control(this.#agent, 'interrupt', options)
      : agents.stop(this.#agent, latest.id, options);
  }

  /**
   * Sends what `addToolApprovalResponse` of `useChat` has decided in these messages, each decision once. Call it in an effect of
   * the messages. A call whose decision is not accepted asks again. Rejects with an `APIError`.
   */
  async sendDecisions(messages: readonly UIMessage[]): Promise<void> {
    const sent = messages.flatMap(({ parts }) => parts).map((part) => this.#sendDecision(part));
    await Promise.all(sent);
  }

  /**
   * Decides a call that waits for a person: a part `dynamic-tool` in the state `approval-requested`, whose `toolCallId` is the
   * `call`. Rejects with an `APIError`, or a TypeError if `approved` is no boolean.
   */
  decide(call: string, decision: { approved: boolean; note?: string }): Promise<AcceptedCommand> {
    const { approved, note } = decision;
    return this.#gateway.agents.decide(this.#agent, {
      call,
      approved,
      ...(note !== undefined && { note }),
    });
  }

  async #sendDecision(part: UIMessage['parts'][number]): Promise<void> {
    if (part.type !== 'dynamic-tool') return;
    const { toolCallId: call, state } = part;
    if (state === 'approval-requested') this.#decided.delete(call);
    if (state !== 'approval-responded' || this.#decided.has(call)) return;
    this.#decided.add(call);
    const { approved, reason } = part.approval;
    try {
      await this.decide(call, { approved, ...(reason !== undefined && { note: reason }) });
    } catch (error) {
      const { stream, turn } = this.#reading ?? {};
      if (turn?.tools.some(({ id, state }) => id === call && state === 'waiting')) {
        stream?.insert({ type: 'tool-approval-request', approvalId: call, toolCallId: call });
      }
      throw error;
    }
  }

  #read(
    stream: ChunkStream,
    chunks: AsyncIterator<UIMessageChunk, void>,
  ): ReadableStream<UIMessageChunk> {
    this.#reading = { stream };
    return stream.of(chunks);
  }

  #forget({ key }: Turn): void {
    const latest = this.#latest;
    if (latest && 'key' in latest && latest.key === key) this.#latest = undefined;
  }

  #keepOpen(turn: Turn): void {
    this.#open.add(turn.key);
    this.#latest = turn;
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
    /** What was said so far, which begins again when the events do. */
    so: { said: Conversation },
    events: AsyncIterator<TimelineEvent, void>,
  ): AsyncGenerator<UIMessageChunk, void> {
    for (let turn of turns) {
      const { key } = turn;
      const chunks = new AnswerChunks();
      for (;;) {
        turn = so.said.turns.find((each) => each.key === key) ?? turn;
        yield* this.#chunksAfter(turn, chunks);
        if (!isOpen(turn)) break;
        const { value, done } = await events.next();
        if (done === true) return;
        so.said = conversation([value], so.said);
      }
    }
  }

  *#chunksAfter(turn: Turn, chunks: AnswerChunks): Generator<UIMessageChunk, void> {
    this.#open.add(turn.key);
    if (this.#reading) this.#reading.turn = turn;
    yield* chunks.after(turn);
    if (isOpen(turn)) return;
    // The page has taken the last chunk.
    this.#open.delete(turn.key);
    this.#forget(turn);
    const error = errorOf(turn);
    if (error) throw error;
  }

  /** Reads what is new since the last time. */
  async #catchUp(signal?: AbortSignal): Promise<{ said: Conversation; bookmark: Bookmark }> {
    let before = this.#said;
    const events: TimelineEvent[] = [];
    const timeline = this.#gateway.timeline(this.#agent, {
      live: false,
      waitForStream: false,
      onReset: () => {
        before = conversation([]);
        events.length = 0;
      },
      ...(this.#bookmark && { from: this.#bookmark }),
      ...(signal && { signal }),
    });
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
