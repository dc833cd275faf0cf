import { TerminalError } from '@restatedev/restate-sdk';
import type { Usage } from '../events.ts';
import { detailOf, publicWords, type PublicReason } from './failure.ts';
import type { GeneratedPart, ToolRequest } from './generation.ts';
import { isObject, jsonOf, type Json } from './json.ts';

/** What was said since the step before, in order. */
export type Said = { text: string } | { reasoning: string } | { data: Json } | { usage: Usage };

/** What came since the step before. What was said comes before everything else. */
export interface Step {
  said: Said[];
  calls?: RequestedCall[];
  isEnd?: boolean;
  failure?: StepFailure;
}

/** A call as the journal keeps it. */
export type RequestedCall = Omit<ToolRequest, 'input'> & { input?: Json };

export interface StepFailure {
  /** For the readers of the timeline. */
  reason: string;
  /** For an operator. */
  detail: string;
  isFinal: boolean;
}

type Ending = Omit<Step, 'said'>;

export interface LiveOptions {
  batchMs: number;
  /** How long the model may send nothing. */
  idleTimeoutMs: number;
  publicReason?: PublicReason;
}

/** So many characters make a step without waiting, and stop the generator until a step takes them. */
const MAX_STEP_LENGTH = 64 * 1_024;
/** A step without anything new ends after this time: Restate takes a handler that reports nothing for a minute for stuck. */
const LONGEST_STEP_MS = 20_000;

/**
 * A generator of this process. It runs ahead of the steps that record its text, so each step takes all that came
 * meanwhile.
 */
export class LiveGeneration {
  readonly #generate: (signal: AbortSignal) => AsyncIterable<GeneratedPart>;
  readonly #options: LiveOptions;
  readonly #attempt: AbortSignal;
  /** Aborted when this generator is not needed any more. */
  #abort = new AbortController();
  #isRunning = false;
  #said: Said[] = [];
  #length = 0;
  #ending: Ending | undefined;
  /** Continues the generator after calls, with their outputs. */
  #resume: ((outputs: (Json | undefined)[]) => void) | undefined;
  #changed = Promise.withResolvers<void>();

  /** `attempt` is aborted when the answer is stopped or the attempt ends. */
  constructor(
    generate: (signal: AbortSignal) => AsyncIterable<GeneratedPart>,
    attempt: AbortSignal,
    options: LiveOptions,
  ) {
    this.#generate = generate;
    this.#options = options;
    this.#attempt = attempt;
    attempt.addEventListener('abort', () => this.#stop(), { once: true });
    if (attempt.aborted) this.#stop();
  }

  /**
   * Waits for the first piece, and then at most `batchMs` for more. `outputs` are those of the calls of the step before. Never rejects.
   */
  async next(outputs: (Json | undefined)[]): Promise<Step> {
    if (!this.#isRunning) void this.#run();
    // A call that no step has taken yet has not been answered.
    if (!this.#ending) this.#resume?.(outputs);
    await this.#until(() => this.#length > 0 || this.#ending !== undefined, LONGEST_STEP_MS);
    const isFull = () => this.#length >= MAX_STEP_LENGTH || this.#ending !== undefined;
    if (this.#length > 0) await this.#until(isFull, this.#options.batchMs);
    const said = this.#said;
    this.#said = [];
    this.#length = 0;
    this.#notify();
    return { said, ...this.#takeEnding() };
  }

  #stop(): void {
    this.#abort.abort(this.#attempt.reason);
    this.#end({ failure: { reason: 'stopped', detail: 'stopped', isFinal: false } });
  }

  #takeEnding(): Ending | undefined {
    const ending = this.#ending;
    if (!this.#attempt.aborted) this.#ending = undefined;
    if (ending && !ending.calls) this.#isRunning = false;
    return ending;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const abort = new AbortController();
    this.#abort = abort;
    if (this.#attempt.aborted) abort.abort(this.#attempt.reason);
    try {
      while (await this.#runOnce(abort));
      if (this.#abort === abort) this.#end({ isEnd: true });
    } catch (error) {
      // One that was given up has nothing to say.
      if (this.#abort !== abort || this.#ending?.failure) return;
      const isFinal = error instanceof TerminalError || error instanceof UnknownPart;
      const otherwise =
        error instanceof UnknownPart ? error.message : `the ${isFinal ? 'agent' : 'model'} failed`;
      const reason = publicWords(this.#options.publicReason, error, otherwise);
      this.#end({ failure: { reason, detail: detailOf(error), isFinal } });
    }
  }

  /** @returns whether the last piece was a call of a tool, so the model has not seen its result yet. */
  async #runOnce({ signal }: AbortController): Promise<boolean> {
    const iterator = this.#generate(signal)[Symbol.asyncIterator]();
    let isAfterTool = false;
    let output: Json | undefined | (Json | undefined)[];
    try {
      for (;;) {
        const { done, value } = await this.#inTime(iterator.next(output), signal);
        output = undefined;
        if (done || signal.aborted) return isAfterTool && !signal.aborted;
        const calls = callsIn(value);
        isAfterTool = calls !== undefined;
        if (!calls) await this.#say(saidIn(value), signal);
        else {
          const outputs = await this.#call(calls);
          output = Array.isArray(value) ? outputs : outputs[0];
        }
      }
    } finally {
      if (signal.aborted) void Promise.resolve(iterator.return?.()).catch(() => undefined);
    }
  }

  /** What the generator gives next. A model that sends nothing is given up. */
  async #inTime<T>(next: Promise<T>, signal: AbortSignal): Promise<T> {
    const { idleTimeoutMs } = this.#options;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const seconds = Math.round(idleTimeoutMs / 1_000);
    const abort = this.#abort;
    const timer = setTimeout(() => {
      const error = new Error(`the model sent nothing for ${seconds} s`);
      reject(error);
      abort.abort(error);
    }, idleTimeoutMs);
    const stopped = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', stopped, { once: true });
    try {
      return await Promise.race([next, late]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stopped);
      next.catch(() => undefined);
    }
  }

  async #say(said: Said, signal: AbortSignal): Promise<void> {
    const last = this.#said.at(-1);
    if ('text' in said && last && 'text' in last) last.text += said.text;
    else if ('reasoning' in said && last && 'reasoning' in last) last.reasoning += said.reasoning;
    else this.#said.push({ ...said });
    this.#length += 'text' in said ? said.text.length : JSON.stringify(said).length;
    this.#notify();
    while (this.#length >= MAX_STEP_LENGTH && !signal.aborted) await this.#changed.promise;
  }

  #call(calls: RequestedCall[]): Promise<(Json | undefined)[]> {
    const { promise, resolve } = Promise.withResolvers<(Json | undefined)[]>();
    this.#resume = resolve;
    this.#end({ calls });
    return promise;
  }

  #end(ending: Ending): void {
    this.#ending = ending;
    this.#notify();
  }

  #notify(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers<void>();
    resolve();
  }

  async #until(isTrue: () => boolean, timeoutMs: number): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      resolve();
    }, timeoutMs);
    while (!isTrue() && !isLate) await Promise.race([this.#changed.promise, late]);
    clearTimeout(timer);
  }
}

/** `generate` gave something that is no part of an answer: its author's mistake, which no other try mends. */
class UnknownPart extends Error {
  override name = 'UnknownPart';
}

/** The calls that a part asks for. Undefined for any other part. */
function callsIn(part: unknown): RequestedCall[] | undefined {
  const requests = Array.isArray(part) ? (part as unknown[]) : [part];
  if (!Array.isArray(part) && !(isObject(part) && 'tool' in part)) return undefined;
  if (requests.length === 0) throw new UnknownPart('the agent asked for an empty list of tools');
  return requests.map((request) => {
    if (!isObject(request) || typeof request.tool !== 'string') {
      throw new UnknownPart('the agent asked for a tool in a form that is not known');
    }
    const { tool, input, id } = request;
    return {
      tool,
      ...(input !== undefined && { input: storable(input, `the input of ${tool}`) }),
      ...(typeof id === 'string' && { id }),
    };
  });
}

function saidIn(part: unknown): Said {
  if (typeof part === 'string') return { text: part };
  if (isObject(part)) {
    if (typeof part.reasoning === 'string') return { reasoning: part.reasoning };
    if (isObject(part.usage)) return { usage: numbersOf(part.usage) };
    if (part.data !== undefined) return { data: storable(part.data, 'data') };
  }
  throw new UnknownPart('the agent gave a part of an answer that is not known');
}

function storable(value: unknown, what: string): Json {
  try {
    return jsonOf(value);
  } catch (cause) {
    throw new UnknownPart(`the agent gave ${what} that JSON cannot hold`, { cause });
  }
}

function numbersOf(usage: { [name: string]: unknown }): Usage {
  const numbers = Object.entries(usage).filter(([, value]) => Number.isFinite(value));
  return Object.fromEntries(numbers) as Usage;
}
