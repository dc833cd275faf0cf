import { CancelledError, InvocationIdParser, serde, TerminalError } from '@restatedev/restate-sdk';
import type { ObjectContext } from '@restatedev/restate-sdk';
import { textOf, type Stop } from '../events.ts';
import { readControl } from './command.ts';
import { Courier } from './courier.ts';
import {
  addressOf,
  findEntity,
  keepRow,
  openEntity,
  record,
  requestIdOf,
  saveEntity,
} from './entity.ts';
import type { ChildOutcome, Input } from './input.ts';
import type { Json } from './json.ts';
import type { Adoption, NewEvent, TimelineOwner } from './timeline.ts';
import { traceOf } from './trace.ts';
import {
  applyVerb,
  beginNext,
  isAtWork,
  restingStatus,
  takeTurn,
  turnTaker,
} from './turn-state.ts';
import type { Turn, TurnTaker, WaitingTurn } from './turn-state.ts';
import {
  addEvents,
  callOf,
  hasEnded,
  TurnStore,
  type Call,
  callsOf,
  isOver,
  isWaiting,
  putCall,
} from './turn-store.ts';
import type { EntitySettings, WaitLimit, Work, Write } from './work.ts';

/** An invocation that is gone again and again does not answer. */
const MOST_LOSSES = 5;
const MAX_REMINDERS = 100;
const WATCH_AGAIN_MS = 10_000;

/** One command at an agent: what it changes, and the events that say so. */
export class Visit {
  self!: TurnTaker;
  readonly #ctx: ObjectContext;
  readonly #settings: EntitySettings;
  readonly #store: TurnStore;
  readonly #courier: Courier;
  readonly #ids: { invocationId: string; requestId?: string };
  readonly #events: NewEvent[] = [];
  #statusBefore: string | undefined;
  /** The turn under way needs a new invocation. */
  #needsWork = false;
  #places: { id: string; offset: string; at: string }[] = [];
  /** What the timeline has ended: turns by the numbers of their messages, and by their names where these were refused. */
  #ended: number[] = [];
  #refused: unknown[] = [];

  constructor(ctx: ObjectContext, settings: EntitySettings) {
    this.#ctx = ctx;
    this.#settings = settings;
    this.#store = new TurnStore(ctx);
    this.#courier = new Courier(ctx, settings.turnService);
    this.#ids = requestIdOf(ctx);
  }

  /** Throws a TerminalError for an agent that does not exist, unless it may be spawned. */
  async open(maySpawn: boolean): Promise<void> {
    if (await this.find()) return;
    if (!maySpawn) throw new TerminalError('there is no such agent', { errorCode: 404 });
    this.#begin(await openEntity(this.#ctx, this.#settings, {}, this.#ownerOf));
  }

  async find(): Promise<boolean> {
    const found = await findEntity<TurnTaker>(this.#ctx, this.#settings, this.#ownerOf);
    if (found) this.#begin(found);
    await this.#dropEnded();
    return found !== null;
  }

  take(input: Input): Promise<void> | void {
    if ('problem' in input) {
      this.#events.push({ kind: 'error', message: input.problem, ...this.#ids });
      this.refuse(input, input.problem);
      return undefined;
    }
    switch (input.kind) {
      case 'message':
        return this.#receive(input);
      case 'stop':
        return this.#stop(input);
      case 'withdraw':
        return this.#withdraw(input);
      case 'decision':
        return this.#decide(input);
      case 'result':
        return this.#takeResult(input);
      case 'locate':
        return this.#locate(input);
      case 'remind':
        return this.#remind(input);
      case 'forget':
        return undefined;
    }
  }

  /** Tells the agent that waits for this message's reply that there will be none. */
  refuse({ caller }: Extract<Input, { caller?: unknown }>, reason: string): void {
    const { url } = addressOf(this.#ctx);
    if (!caller) return;
    const outcome = { state: 'refused' as const, text: '', reason };
    this.#courier.reply(caller, url, this.#ids.invocationId, outcome);
  }

  async control(control: NonNullable<ReturnType<typeof readControl>>): Promise<void> {
    const { self } = this;
    const { requestId } = this.#ids;
    const request = requestId === undefined ? {} : { requestId };
    if (self.status === 'archived') {
      this.#events.push({ kind: 'refused', reason: 'archived', ...this.#ids });
      return;
    }
    const underWay = self.turn;
    const turns = applyVerb(self, control.verb);
    await this.#keepStatus();
    this.#events.push({ kind: 'status', status: self.status, ...control, ...request });
    const stopped = this.#stopBy(control.verb as Stop['verb'], control.reason);
    for (const turn of turns) await this.#stopped(turn, turn === underWay, stopped);
    if (self.turn?.isHeld && isAtWork(self)) this.#needsWork = true;
  }

  async write(given: Write): Promise<boolean> {
    const { self } = this;
    const { turn } = self;
    if (!turn) return false;
    if (self.status === 'paused' && !isForPause(given)) return this.#hold(turn);
    const { failure, usage, limits = [], isParked } = given;
    const written = await this.#store.written();
    // What ended meanwhile stays as it is: the invocation has not heard of a result that came, or of a wait that took too long.
    const isLate = (id: unknown) => isOver(callOf(written, String(id)));
    const events = given.events.filter(({ kind, id }) => kind !== 'tool' || !isLate(id));
    const calls = (given.calls ?? []).filter(({ id }) => !isLate(id));
    const isEarlier = given.calls === undefined;
    addEvents(written, turn, isEarlier ? events : events.filter(({ kind }) => kind === 'word'));
    for (const call of calls) putCall(written, turn, call);
    if (usage) turn.usage = usage;
    if (events.length > 0) delete turn.losses;
    await this.#noteFailure(turn, failure);
    this.#noteChildren(calls);
    for (const limit of limits) this.#limit(limit);
    this.#events.push(...events.map((event) => ofTurn(event, turn)));
    const end = events.find(({ kind }) => kind === 'reply' || kind === 'error');
    this.#store.keepWritten(written);
    if (end) {
      await this.#end(turn, true, outcomeOf(end));
      return false;
    }
    if (isParked) {
      delete turn.run;
      const open = callsOf(written).filter((call) => !hasEnded(call));
      if (open.length === 0 || open.some(({ state }) => state === 'approved')) this.#resume(turn);
    }
    return !isParked;
  }

  async answerAgain(): Promise<void> {
    const { turn } = this.self;
    if (!turn?.run) return;
    turn.losses = (turn.losses ?? 0) + 1;
    delete turn.run;
    if (turn.losses <= MOST_LOSSES) {
      this.#resume(turn);
      return;
    }
    const message = 'the answer was cut off again and again';
    const event = { kind: 'error', message, replyTo: turn.seq };
    this.#events.push(event);
    await this.#end(turn, true, outcomeOf(event));
  }

  async expire({ call: id, state }: WaitLimit): Promise<void> {
    const written = await this.#store.written();
    const call = callOf(written, id);
    const { turn } = this.self;
    if (!turn || call?.state !== state) return;
    if (state === 'waiting') {
      this.#settleDecision(turn, call, { approved: false }, { expired: true });
    } else {
      this.#courier.stopChildren([call]);
      this.#settleResult(turn, call, { state: 'failed', text: '', reason: 'no reply in time' });
    }
    this.#store.keepWritten(written);
    this.#resume(turn);
  }

  /** Stores the change, sends its events, begins what is to begin, and updates the row. */
  async leave(isCommand = true): Promise<void> {
    const { self } = this;
    if (beginNext(self)) this.#needsWork = true;
    await this.#keepStatus();
    saveEntity(this.#ctx, self);
    await this.#record();
    await this.#dropEnded();
    if (!self.turn && beginNext(self)) this.#needsWork = true;
    const { turn } = self;
    if (turn && this.#needsWork && isAtWork(self)) await this.#work(turn);
    else if (turn?.run && isCommand) await this.#watch(turn.run);
    for (const place of this.#places) {
      await this.#store.keepPlace(self, place, this.#settings.keyRetentionMs);
    }
    await this.#keepStatus();
    saveEntity(this.#ctx, self);
    if (self.status !== this.#statusBefore) await keepRow(this.#ctx, this.#settings, self);
  }

  /** Sends the events. Where the timeline cannot be written any more, the row alone can say that the agent has failed. */
  async #record(): Promise<void> {
    const { self } = this;
    try {
      await record(this.#ctx, this.#settings, self, this.#events, this.#ownerOf(self));
    } catch (error) {
      if (error instanceof CancelledError || !(error instanceof TerminalError)) throw error;
      self.status = 'failed';
      saveEntity(this.#ctx, self);
      await keepRow(this.#ctx, this.#settings, self);
      throw error;
    }
  }

  #receive({ message, caller, reminder }: Extract<Input, { kind: 'message' }>): void {
    const { self } = this;
    if (reminder !== undefined) delete self.reminders?.[reminder];
    const isFull = self.inbox.length >= this.#settings.maxWaiting;
    const reason = self.status === 'archived' ? 'archived' : isFull ? 'inbox full' : undefined;
    if (reason !== undefined) {
      this.#events.push({ kind: 'refused', reason, ...this.#ids });
      this.refuse({ kind: 'message', message, ...(caller && { caller }) }, reason);
      return;
    }
    const ahead = self.inbox.length + (self.turn ? 1 : 0);
    const { invocationId: id } = this.#ids;
    self.inbox.push({ id, seq: self.timeline.nextSeq, ...(caller && { caller }) });
    this.#store.keepMessage(id, message);
    this.#events.push({
      kind: 'message',
      content: message.content,
      ...this.#ids,
      ...(ahead > 0 && { ahead }),
      ...(caller && { caller: caller.url }),
    });
  }

  async #stop({ invocationId, call, reason }: Extract<Input, { kind: 'stop' }>): Promise<void> {
    const underWay = this.self.turn;
    const turn = takeTurn(
      this.self,
      ({ id, caller }) => id === invocationId || (call !== undefined && caller?.call === call),
    );
    if (turn) await this.#stopped(turn, turn === underWay, this.#stopBy('stop', reason));
  }

  async #withdraw({ invocationId, reason }: Extract<Input, { kind: 'withdraw' }>): Promise<void> {
    const { self } = this;
    const { reminders = {} } = self;
    const reminder = Object.hasOwn(reminders, invocationId) ? reminders[invocationId] : undefined;
    if (reminder !== undefined) {
      delete reminders[invocationId];
      this.#ctx.cancel(InvocationIdParser.fromString(reminder));
      return;
    }
    if (self.turn?.id === invocationId) return;
    const turn = takeTurn(self, ({ id }) => id === invocationId);
    if (turn) await this.#stopped(turn, false, this.#stopBy('withdraw', reason));
  }

  #stopBy(verb: Stop['verb'], reason: string | undefined): Stop {
    const { requestId } = this.#ids;
    return {
      verb,
      ...(reason !== undefined && { reason }),
      ...(requestId !== undefined && { requestId }),
    };
  }

  async #decide(input: Extract<Input, { kind: 'decision' }>): Promise<void> {
    const { turn } = this.self;
    const written = turn ? await this.#store.written() : [];
    const call = callOf(written, input.call);
    if (!turn || call?.state !== 'waiting') {
      const by = call?.decision?.by;
      const reason = call?.decision
        ? `the call is decided already${by === undefined ? '' : `, by ${by}`}`
        : `no call ${input.call.slice(0, 64)} waits for a decision`;
      this.#events.push({ kind: 'refused', reason, ...this.#ids });
      return;
    }
    const { approved, by, note } = input;
    const decision = {
      approved,
      ...(by !== undefined && { by }),
      ...(note !== undefined && { note }),
    };
    const changed = approved && input.input !== undefined ? { input: input.input } : {};
    this.#settleDecision(turn, call, decision, { ...changed, requestId: this.#ids.requestId });
    this.#store.keepWritten(written);
    this.#resume(turn);
  }

  #settleDecision(
    turn: Turn,
    call: Call,
    decision: NonNullable<Call['decision']>,
    more: { expired?: true; input?: Json; requestId?: string | undefined },
  ): void {
    const { id, name } = call;
    call.decision = decision;
    if (more.input !== undefined) call.input = more.input;
    const event = { kind: 'decision', replyTo: turn.seq, call: id, ...decision, ...more };
    this.#events.push(event);
    call.state = decision.approved ? 'approved' : 'denied';
    if (decision.approved) return;
    const note = decision.note === undefined ? '' : `: ${decision.note}`;
    call.error = more.expired ? 'denied: nobody decided in time' : `denied by a person${note}`;
    this.#events.push({ kind: 'tool', replyTo: turn.seq, id, name, state: 'denied' });
  }

  async #takeResult({
    call: id,
    agent,
    outcome,
  }: Extract<Input, { kind: 'result' }>): Promise<void> {
    const { turn } = this.self;
    const written = turn ? await this.#store.written() : [];
    const call = callOf(written, id);
    if (!turn || call?.state !== 'called' || call.child?.url !== agent) return;
    this.#settleResult(turn, call, outcome);
    this.#store.keepWritten(written);
    this.#resume(turn);
  }

  #settleResult(turn: Turn, call: Call, { state, text, reason = '' }: ChildOutcome): void {
    const { id, name, child } = call;
    const event = { kind: 'tool', replyTo: turn.seq, id, name, url: child?.url };
    if (state === 'done') {
      call.state = 'done';
      call.output = text;
      this.#events.push({ ...event, state: 'done', output: text });
      return;
    }
    call.state = 'failed';
    call.error = `the agent ${child?.url ?? ''} ${ENDINGS[state]}${reason && `: ${reason}`}`;
    this.#events.push({ ...event, state: 'failed', error: call.error });
  }

  async #locate({ invocationId }: Extract<Input, { kind: 'locate' }>): Promise<void> {
    const offset = await this.#store.placeOf(this.self, invocationId);
    this.#events.push({ kind: 'located', invocationId, ...(offset !== undefined && { offset }) });
  }

  async #remind({ content, delayMs }: Extract<Input, { kind: 'remind' }>): Promise<void> {
    const { self } = this;
    const reminders = (self.reminders ??= {});
    const { invocationId } = this.#ids;
    if (Object.keys(reminders).length >= MAX_REMINDERS || self.status === 'archived') {
      const reason = self.status === 'archived' ? 'archived' : 'too many reminders';
      this.#events.push({ kind: 'refused', reason, ...this.#ids });
      return;
    }
    const handle = this.#ctx.genericSend({
      service: this.#settings.name,
      method: 'wake',
      key: this.#ctx.key,
      parameter: new TextEncoder().encode(
        JSON.stringify({ kind: 'message', content, reminder: invocationId }),
      ),
      inputSerde: serde.binary,
      headers: this.#entityHeaders(),
      delay: delayMs,
    });
    reminders[invocationId] = await handle.invocationId;
  }

  #entityHeaders(): Record<string, string> {
    const { url, stream } = addressOf(this.#ctx);
    return { ...traceOf(this.#ctx), 'x-entity-url': url, 'x-entity-stream': stream };
  }

  #hold(turn: Turn): false {
    turn.isHeld = true;
    delete turn.run;
    return false;
  }

  /** A new invocation continues with the turn, unless one is at it. */
  #resume(turn: Turn): void {
    if (turn.run !== undefined) return;
    if (isAtWork(this.self)) this.#needsWork = true;
    else turn.isHeld = true;
  }

  async #stopped(turn: Turn | WaitingTurn, isUnderWay: boolean, stopped: Stop): Promise<void> {
    // The model is not needed any more. Whatever the invocation still writes is refused.
    if ('run' in turn && turn.run) this.#ctx.cancel(InvocationIdParser.fromString(turn.run));
    const reason = stopped.reason ?? `by ${stopped.verb}`;
    const outcome = { state: 'stopped' as const, text: '', reason };
    const text = await this.#end(turn, isUnderWay, outcome);
    const content = text === '' ? [] : [{ type: 'text', text }];
    const usage = 'usage' in turn && turn.usage ? { usage: turn.usage } : {};
    this.#events.push({ kind: 'reply', replyTo: turn.seq, content, stopped, ...usage });
  }

  /** @returns what was said. */
  async #end(
    turn: Turn | WaitingTurn,
    isUnderWay: boolean,
    outcome: ChildOutcome,
  ): Promise<string> {
    if (isUnderWay) {
      delete this.self.turn;
      this.#courier.stopChildren(await this.#store.written());
    }
    const text = await this.#store.end(turn, isUnderWay);
    if (turn.caller) {
      this.#courier.reply(turn.caller, this.self.url, turn.id, {
        ...outcome,
        text: outcome.text || text,
      });
    }
    if (outcome.state === 'failed') {
      this.self.hasFailed = true;
      const { reason = '' } = outcome;
      const known = await this.#store.failure();
      const since = known?.since ?? (await this.#ctx.date.toJSON());
      this.#store.fail({ tries: 1, error: reason, ...known, since, isFinal: true });
    }
    if (outcome.state !== 'done') return text;
    delete this.self.hasFailed;
    this.#store.fail(undefined);
    return text;
  }

  async #noteFailure(turn: Turn, failure: Write['failure']): Promise<void> {
    if (failure === undefined) return;
    if (failure === null) {
      delete turn.failingSince;
      this.#store.fail(undefined);
      return;
    }
    turn.failingSince ??= await this.#ctx.date.now();
    const since = new Date(turn.failingSince).toISOString();
    this.#store.fail({ since, tries: failure.attempt, error: failure.error, isFinal: false });
  }

  #noteChildren(calls: Call[]): void {
    for (const { child } of calls) {
      const children = (this.self.children ??= []);
      if (child && !children.includes(child.url)) children.push(child.url);
    }
  }

  #limit(limit: WaitLimit): void {
    this.#ctx.genericSend<WaitLimit>({
      service: this.#settings.name,
      method: 'expire',
      key: this.#ctx.key,
      parameter: limit,
      inputSerde: serde.json,
      delay: limit.afterMs,
    });
  }

  /** Starts an invocation that answers, or continues with the answer. */
  async #work(turn: Turn): Promise<void> {
    const { self } = this;
    self.newest += 1;
    delete turn.isHeld;
    const stored = await this.#store.read(turn.id);
    const { key } = this.#ctx;
    const handle = this.#ctx.genericSend<Work>({
      service: this.#settings.turnService,
      method: 'run',
      parameter: { ...stored, key, url: self.url, number: self.newest, turn },
      inputSerde: serde.json,
      headers: traceOf(this.#ctx),
      // Restate keeps how it ended.
      idempotencyKey: this.#ctx.rand.uuidv4(),
    });
    turn.run = await handle.invocationId;
    await this.#watch(turn.run);
  }

  /**
   * Asks Restate to say when an invocation is gone: once in a while, however often a command comes. A watcher may have been killed, too.
   */
  async #watch(run: string): Promise<void> {
    const period = Math.floor((await this.#ctx.date.now()) / WATCH_AGAIN_MS);
    this.#ctx.genericSend({
      service: this.#settings.turnService,
      method: 'watch',
      parameter: { key: this.#ctx.key, run, number: this.self.newest },
      inputSerde: serde.json,
      idempotencyKey: `watch ${run} ${period}`,
    });
  }

  #begin(found: TurnTaker): void {
    this.self = turnTaker(found);
    this.#statusBefore = this.self.status;
  }

  /** The status of an agent that is neither paused nor archived follows from its turn. */
  async #keepStatus(): Promise<void> {
    const { self } = this;
    const { turn } = self;
    if (!isAtWork(self)) return;
    if (!turn) self.status = restingStatus(self);
    else if (turn.failingSince !== undefined) self.status = 'failing';
    else {
      const waits = turn.run === undefined && callsOf(await this.#store.written()).some(isWaiting);
      self.status = waits && !this.#needsWork ? 'waiting' : 'running';
    }
  }

  readonly #ownerOf = (entity: TurnTaker): Omit<TimelineOwner, 'save'> => {
    const self = turnTaker(entity);
    const turns = () => [...(self.turn ? [self.turn] : []), ...self.inbox];
    return {
      appended: ({ kind, invocationId }, { at, before }) => {
        if (kind !== 'message' || typeof invocationId !== 'string' || before === undefined) return;
        this.#places.push({ id: invocationId, offset: before, at });
      },
      refused: ({ kind, invocationId }) => {
        if (kind === 'message') this.#refused.push(invocationId);
      },
      adopted: async ({ expected, tail }: Adoption) => {
        this.#ended = tail.ended;
        const lost = turns().filter(({ seq }) => seq >= tail.nextSeq && seq < expected);
        const messages: { seq: number; event: NewEvent }[] = [];
        for (const { id, seq } of lost) {
          const message = await this.#store.message(id);
          const event = { kind: 'message', content: message?.content ?? [] };
          // 0.2.0 had numbers for names.
          const named = /^\d+$/.test(id) ? event : { ...event, invocationId: id };
          messages.push({ seq, event: named });
        }
        return messages;
      },
      renumbered: (numbers) => {
        for (const turn of turns()) turn.seq = numbers.get(turn.seq) ?? turn.seq;
      },
    };
  };

  /** A restored agent does not answer again what the timeline has the reply to, and no agent a message that the timeline refused. */
  async #dropEnded(): Promise<void> {
    for (const name of this.#refused.splice(0)) {
      const underWay = this.self.turn;
      const turn = takeTurn(this.self, ({ id }) => id === name);
      const reason = 'its message cannot be recorded';
      if (turn) await this.#end(turn, turn === underWay, { state: 'failed', text: '', reason });
    }
    for (const seq of this.#ended.splice(0)) {
      const underWay = this.self.turn;
      const turn = takeTurn(this.self, (one) => one.seq === seq);
      if (!turn) continue;
      if ('run' in turn && turn.run) this.#ctx.cancel(InvocationIdParser.fromString(turn.run));
      await this.#store.end(turn, turn === underWay);
    }
  }
}

const ENDINGS = { failed: 'failed', refused: 'refused the message', stopped: 'was stopped' };

/** The result of a tool is kept, because the tool has run. Text is generated again after the pause. */
function isForPause({ events, calls, isParked }: Write): boolean {
  if (isParked) return true;
  if (calls) return calls.length > 0 && calls.every(hasEnded);
  return events.every(({ kind, state }) => kind === 'tool' && state !== 'called');
}

function ofTurn(event: NewEvent, { seq }: Turn): NewEvent {
  return 'replyTo' in event ? { ...event, replyTo: seq } : event;
}

function outcomeOf({ kind, content, message }: NewEvent): ChildOutcome {
  return kind === 'reply'
    ? { state: 'done', text: textOf(content) }
    : { state: 'failed', text: '', reason: String(message) };
}
