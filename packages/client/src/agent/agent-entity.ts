import { InvocationIdParser, serde, TerminalError } from '@restatedev/restate-sdk';
import type { ObjectContext } from '@restatedev/restate-sdk';
import type { AgentStatus } from '../events.ts';
import { readControl, readSpawn } from './command.ts';
import { findEntity, keepRow, openEntity, record, requestIdOf, saveEntity } from './entity.ts';
import type { AgentOptions } from './entity.ts';
import type { PastTurn, WrittenPart } from './generation.ts';
import type { Json } from './json.ts';
import { readMessage, type Message } from './message.ts';
import type { NewEvent } from './timeline.ts';
import { traceOf } from './trace.ts';
import { applyVerb, beginNext, type TurnTaker } from './turn-queue.ts';
import { TurnStore } from './turn-store.ts';

/** What the invocation that answers gets. */
export interface Work {
  key: string;
  url: string;
  /** The number of the invocation. */
  number: number;
  replyTo: number;
  index: number;
  message: Message;
  turns: PastTurn[];
  written: WrittenPart[];
  args?: Json;
}

/** What it gives back. */
export interface Write {
  number: number;
  replyTo: number;
  events: NewEvent[];
}

/**
 * The handlers of an agent's entity, all of them short. They alone write to the timeline, so that an answer under way
 * and a command never write at the same time. Which turn is the current one is decided here: an invocation that was
 * stopped, but has not noticed it yet, gets false for what it writes.
 */
export class AgentEntity {
  readonly #options: AgentOptions;
  readonly #turnService: string;
  readonly #maxWaiting: number;

  constructor(options: AgentOptions, turnService: string, maxWaiting: number) {
    this.#options = options;
    this.#turnService = turnService;
    this.#maxWaiting = maxWaiting;
  }

  readonly spawn = async (ctx: ObjectContext, body: Uint8Array): Promise<void> => {
    const spawn = readSpawn(body);
    if (!spawn) throw new TerminalError('not a spawn', { errorCode: 400 });
    const isNew = !(await findEntity(ctx, this.#options));
    if (isNew && spawn.args !== undefined) ctx.set('args', spawn.args);
    await openEntity(ctx, this.#options, spawn);
  };

  readonly wake = async (ctx: ObjectContext, body: Uint8Array): Promise<void> => {
    const self = withQueue(await openEntity<TurnTaker>(ctx, this.#options));
    const { status } = self;
    await this.#change(ctx, self, status, [this.#receive(ctx, self, body)]);
  };

  readonly control = async (ctx: ObjectContext, body: Uint8Array): Promise<void> => {
    const control = readControl(body);
    const found = await findEntity<TurnTaker>(ctx, this.#options);
    if (!control || !found) throw new TerminalError('nothing to control', { errorCode: 404 });
    const self = withQueue(found);
    const { status, turn } = self;
    const request = requestIdOf(ctx);
    if (status === 'archived') {
      await record(ctx, this.#options, self, [refused('archived', request)]);
      return;
    }
    const stopped = applyVerb(self, control, request);
    const event = { kind: 'status', status: self.status, ...control, ...request };
    const store = new TurnStore(ctx);
    const replies: NewEvent[] = [];
    for (const one of stopped) replies.push(await store.endStopped(one, turn?.replyTo));
    // The model is not needed any more. Whatever the invocation still writes is refused.
    if (stopped.length > 0 && turn?.invocationId) {
      ctx.cancel(InvocationIdParser.fromString(turn.invocationId));
    }
    await this.#change(ctx, self, status, [event, ...replies]);
    if (self.turn?.isHeld && self.status === 'running') await this.#work(ctx, self);
  };

  /** Records what the invocation of the current turn has to say. @returns false if its turn is over. */
  readonly write = async (ctx: ObjectContext, given: Write): Promise<boolean> => {
    const { number, replyTo, events } = given;
    const self = await findEntity<TurnTaker>(ctx, this.#options);
    if (self?.turn?.replyTo !== replyTo || self.newest !== number) return false;
    const { status, turn } = self;
    // The result of a tool is kept, because the tool has run. Text is generated again after the pause.
    if (status === 'paused' && !events.every(isToolResult)) {
      turn.isHeld = true;
      saveEntity(ctx, self);
      return false;
    }
    const isOver = await new TurnStore(ctx).write(turn, events);
    if (isOver) delete self.turn;
    if (status !== 'paused') self.status = statusOf(events) ?? status;
    await this.#change(ctx, self, status, events);
    return !isOver;
  };

  #receive(ctx: ObjectContext, self: TurnTaker, body: Uint8Array): NewEvent {
    const request = requestIdOf(ctx);
    if (self.status === 'archived') return refused('archived', request);
    const read = readMessage(body);
    if ('problem' in read) return { kind: 'error', message: read.problem, ...request };
    if (self.inbox.length >= this.#maxWaiting) return refused('inbox full', request);
    // The number of the message's event, which is written next.
    const seq = self.timeline.nextSeq;
    self.inbox.push(seq);
    new TurnStore(ctx).keepMessage(seq, read.message);
    return { kind: 'message', content: read.message.content, ...request };
  }

  /** Stores the change with its events, begins the next turn if there is one, and updates the row. */
  async #change(
    ctx: ObjectContext,
    self: TurnTaker,
    statusBefore: AgentStatus,
    events: NewEvent[],
  ): Promise<void> {
    const hasBegun = beginNext(self);
    saveEntity(ctx, self);
    await record(ctx, this.#options, self, events);
    if (hasBegun) await this.#work(ctx, self);
    if (self.status !== statusBefore) await keepRow(ctx, this.#options, self);
  }

  /** Starts an invocation that answers, or continues with the answer. */
  async #work(ctx: ObjectContext, self: TurnTaker): Promise<void> {
    const { turn, url } = self;
    if (!turn) return;
    self.newest += 1;
    delete turn.isHeld;
    const { replyTo, index } = turn;
    const stored = await new TurnStore(ctx).read(replyTo);
    const handle = ctx.genericSend<Work>({
      service: this.#turnService,
      method: 'run',
      parameter: { ...stored, key: ctx.key, url, number: self.newest, replyTo, index },
      inputSerde: serde.json,
      headers: traceOf(ctx),
    });
    turn.invocationId = await handle.invocationId;
    saveEntity(ctx, self);
  }
}

/** With what a new entity does not have yet. */
function withQueue(self: TurnTaker): TurnTaker {
  self.inbox ??= [];
  self.newest ??= 0;
  return self;
}

function refused(reason: string, request: { requestId?: string }): NewEvent {
  return { kind: 'refused', reason, ...request };
}

function isToolResult({ kind, state }: NewEvent): boolean {
  return kind === 'tool' && state !== 'called';
}

/** The status that an answer reports: it fails, or it works again. */
function statusOf(events: NewEvent[]): AgentStatus | undefined {
  return events.findLast(({ kind }) => kind === 'status')?.status as AgentStatus | undefined;
}
