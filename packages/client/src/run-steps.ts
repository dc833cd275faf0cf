import type { AgentEvent, TimelineEvent } from './events.ts';
import { isObject } from './turn.ts';

/** A piece of a run, from when to when. Times are ISO 8601. */
export interface RunStep {
  /**
   * `queue`: other turns are before it, or the agent is paused. `model`: the agent generates. `tool`: a call of a tool. `agent`: another agent
   * works on a call. `person`: a call waits for a decision.
   */
  kind: 'queue' | 'model' | 'tool' | 'agent' | 'person';
  /** The name of the tool, or the kind. */
  name: string;
  state: 'open' | 'done' | 'failed' | 'denied' | 'stopped';
  beganAt: string | undefined;
  /** Undefined while it is open. */
  endedAt: string | undefined;
  /** The number of the attempt of the run: 1, 2, 3 … */
  attempt: number;
  /** The id of the call. */
  call: string | undefined;
  /** The URL of the agent that works on the call, or was spawned by it. */
  url: string | undefined;
  /** Why it failed, as readers of the timeline may know it. */
  error: string | undefined;
}

/** What the events say of a turn besides what was said. */
export interface TurnSteps {
  steps: RunStep[];
  /** When the agent began with it. Undefined while other turns are before it. */
  beganAt: string | undefined;
  /** How many attempts failed and were tried again. */
  failures: number;
  /** Why the last attempt failed. Undefined as soon as it works again. */
  failing: string | undefined;
}

/** The steps of each turn, by the number of its message. Anyone with a key may append anything, so every field is looked at. */
export function stepsOf(events: readonly TimelineEvent[]): Map<number, TurnSteps> {
  const reading = new Reading();
  for (const event of events) if (isObject(event)) reading.take(event as AgentEvent);
  return reading.result();
}

/** The turns of one timeline while its events are read. An agent is at one turn at a time. */
class Reading {
  readonly #turns = new Map<number, StepsSoFar>();
  readonly #names = new Map<string, StepsSoFar>();
  /** Those that have not ended, oldest first. */
  readonly #open = new Set<StepsSoFar>();
  #isHeld = false;

  result(): Map<number, TurnSteps> {
    return new Map([...this.#turns].map(([seq, turn]) => [seq, turn.result(this.#isHeld)]));
  }

  take(event: AgentEvent): void {
    const { seq, kind } = event;
    const at = textOrNothing(event.at);
    if (kind === 'message' && Number.isSafeInteger(seq)) {
      this.#add(seq, at, event.invocationId);
    } else if (kind === 'status') this.#takeStatus(event, at);
    else {
      const turn = this.#turnOf(event);
      if (!turn || !this.#open.has(turn)) return;
      if (kind === 'reply' || kind === 'error' || kind === 'refused') this.#end(turn, event, at);
      else turn.take(event, at);
    }
  }

  #add(seq: number, at: string | undefined, name: unknown): void {
    const turn = new StepsSoFar(at);
    // After a restore the message of an open turn comes again.
    const former = typeof name === 'string' ? this.#names.get(name) : undefined;
    if (former) this.#open.delete(former);
    this.#turns.set(seq, turn);
    if (typeof name === 'string') this.#names.set(name, turn);
    this.#open.add(turn);
    this.#beginFirst(at);
  }

  #turnOf(event: AgentEvent): StepsSoFar | undefined {
    const { replyTo, invocationId } = event as { replyTo?: unknown; invocationId?: unknown };
    if (typeof invocationId === 'string') {
      const named = this.#names.get(invocationId);
      if (named) return named;
    }
    return typeof replyTo === 'number' ? this.#turns.get(replyTo) : undefined;
  }

  #takeStatus(event: AgentEvent & { kind: 'status' }, at: string | undefined): void {
    const { status, reason } = event;
    const [first] = this.#open;
    this.#isHeld = status === 'paused' || status === 'archived';
    if (status === 'failing')
      first?.fail(typeof reason === 'string' ? reason : 'no reason given', at);
    else if (status === 'running') first?.workAgain();
    this.#beginFirst(at);
  }

  #end(turn: StepsSoFar, event: AgentEvent, at: string | undefined): void {
    turn.end(event, at);
    this.#open.delete(turn);
    this.#beginFirst(at);
  }

  #beginFirst(at: string | undefined): void {
    const [first] = this.#open;
    if (!this.#isHeld) first?.begin(at);
  }
}

/** The steps of one turn while its events are read. */
class StepsSoFar {
  readonly #askedAt: string | undefined;
  readonly #steps: RunStep[] = [];
  /** By the id of the call. */
  readonly #calls = new Map<string, RunStep>();
  #model: RunStep | undefined;
  #beganAt: string | undefined;
  #hasBegun = false;
  #hasEnded = false;
  /** From when on the model is at it. */
  #freeAt: string | undefined;
  #failures = 0;
  #failing: string | undefined;

  constructor(askedAt: string | undefined) {
    this.#askedAt = askedAt;
  }

  result(isHeld: boolean): TurnSteps {
    const steps = this.#steps.map((step) => ({ ...step }));
    const atWork = this.#hasBegun && !this.#hasEnded && !this.#model && this.#calls.size === 0;
    if (atWork && !isHeld) steps.push(this.#newStep('model', 'model', this.#freeAt));
    else if (!this.#hasBegun && !this.#hasEnded) {
      steps.push(this.#newStep('queue', 'queue', this.#askedAt));
    }
    const [beganAt, failures, failing] = [this.#beganAt, this.#failures, this.#failing];
    return { steps, beganAt, failures, failing: this.#hasEnded ? undefined : failing };
  }

  begin(at: string | undefined): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#beganAt = at;
    this.#freeAt = at;
    if (this.#askedAt === at) return;
    const waited = this.#newStep('queue', 'queue', this.#askedAt);
    this.#steps.push(close(waited, 'done', at));
  }

  take(event: AgentEvent, at: string | undefined): void {
    const { kind } = event;
    const isSaid = kind === 'word' || kind === 'reasoning' || kind === 'data';
    if (!isSaid && kind !== 'tool' && kind !== 'decision') return;
    this.begin(at);
    this.#failing = undefined;
    if (isSaid) this.#generates();
    else if (kind === 'tool') this.#takeCall(event, at);
    else this.#takeDecision(event, at);
  }

  fail(reason: string, at: string | undefined): void {
    this.begin(at);
    if (this.#calls.size === 0) this.#generates();
    this.#closeModel('failed', at, reason);
    this.#failures += 1;
    this.#failing = reason;
    this.#freeAt = at;
  }

  workAgain(): void {
    this.#failing = undefined;
  }

  end(event: AgentEvent, at: string | undefined): void {
    const { stopped, message } = event as { stopped?: unknown; message?: unknown };
    const state = event.kind !== 'reply' ? 'failed' : isObject(stopped) ? 'stopped' : 'done';
    const error = typeof message === 'string' ? message : undefined;
    if (this.#hasBegun) {
      if (this.#calls.size === 0) this.#generates();
      this.#closeModel(state, at, error);
      for (const step of this.#calls.values())
        close(step, state === 'done' ? 'done' : 'stopped', at);
    }
    this.#calls.clear();
    this.#hasEnded = true;
  }

  #takeCall(event: AgentEvent & { kind: 'tool' }, at: string | undefined): void {
    const { id, name, state, error, url } = event;
    if (typeof id !== 'string' || typeof name !== 'string') return;
    const open = this.#calls.get(id);
    if (state === 'waiting' || state === 'called') {
      // The calls of one step come together.
      if (this.#calls.size === 0) this.#generates();
      this.#closeModel('done', at);
      const isChild = state === 'called' && typeof url === 'string';
      const kind = state === 'waiting' ? 'person' : isChild ? 'agent' : 'tool';
      // The agent of a call is known a moment after the call.
      if (open?.kind === kind || (open?.kind === 'tool' && isChild)) open.kind = kind;
      else {
        if (open) close(open, 'done', at);
        this.#open(kind, name, id, at);
      }
      const step = this.#calls.get(id);
      if (step && typeof url === 'string') step.url = url;
    } else if (state === 'done' || state === 'failed' || state === 'denied') {
      if (!open) return;
      if (typeof url === 'string') open.url = url;
      this.#closeCall(open, state, at, typeof error === 'string' ? error : undefined);
    }
  }

  #takeDecision(event: AgentEvent & { kind: 'decision' }, at: string | undefined): void {
    const open = this.#calls.get(event.call);
    if (open?.kind !== 'person') return;
    const isApproved = event.approved === true;
    this.#closeCall(open, isApproved ? 'done' : 'denied', at);
    if (isApproved) this.#open('tool', open.name, event.call, at);
  }

  #open(kind: RunStep['kind'], name: string, call: string, at: string | undefined): void {
    const step = { ...this.#newStep(kind, name, at), call };
    this.#calls.set(call, step);
    this.#steps.push(step);
  }

  #closeCall(step: RunStep, state: RunStep['state'], at: string | undefined, error?: string): void {
    close(step, state, at, error);
    if (step.call !== undefined) this.#calls.delete(step.call);
    if (this.#calls.size === 0) this.#freeAt = at;
  }

  #generates(): void {
    if (this.#model) return;
    this.#model = this.#newStep('model', 'model', this.#freeAt);
    this.#steps.push(this.#model);
  }

  #closeModel(state: RunStep['state'], at: string | undefined, error?: string): void {
    if (this.#model) close(this.#model, state, at, error);
    this.#model = undefined;
    this.#freeAt = at;
  }

  #newStep(kind: RunStep['kind'], name: string, beganAt: string | undefined): RunStep {
    const attempt = this.#failures + 1;
    const nothing = { endedAt: undefined, call: undefined, url: undefined, error: undefined };
    return { kind, name, state: 'open', beganAt, attempt, ...nothing };
  }
}

function close(
  step: RunStep,
  state: RunStep['state'],
  at: string | undefined,
  error?: string,
): RunStep {
  return Object.assign(step, { state, endedAt: at, ...(error !== undefined && { error }) });
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
