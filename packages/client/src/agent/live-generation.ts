import { TerminalError } from '@restatedev/restate-sdk';
import type { ToolRequest, WrittenPart } from './generation.ts';
import { isTooDeep, type Json } from './json.ts';

/** What came since the step before. `text` comes before everything else. */
export interface Step {
  text: string;
  tool?: ToolRequest;
  isEnd?: boolean;
  /** The message of an error. */
  failure?: string;
  /** The error is final. */
  isFinal?: boolean;
}

type Ending = Omit<Step, 'text'>;

/** So many characters make a step without waiting, and stop the generator until a step takes them. */
const MAX_STEP_LENGTH = 64 * 1_024;
/** A step without anything new ends after this time: Restate takes a handler that reports nothing for a minute for stuck. */
const LONGEST_STEP_MS = 20_000;

/**
 * A generator of this process. It runs ahead of the steps that record its text, so each step takes all that came
 * meanwhile.
 */
export class LiveGeneration {
  readonly #generate: (signal: AbortSignal) => AsyncIterable<string | ToolRequest>;
  readonly #batchMs: number;
  readonly #abort = new AbortController();
  #isRunning = false;
  #text = '';
  #ending: Ending | undefined;
  /** Continues the generator after a tool, with its output. */
  #resume: ((output: Json | undefined) => void) | undefined;
  #changed = Promise.withResolvers<void>();

  constructor(
    generate: (signal: AbortSignal) => AsyncIterable<string | ToolRequest>,
    batchMs: number,
    attemptEnded: AbortSignal,
  ) {
    this.#generate = generate;
    this.#batchMs = batchMs;
    attemptEnded.addEventListener('abort', () => this.stop(), { once: true });
    if (attemptEnded.aborted) this.stop();
  }

  stop(): void {
    this.#abort.abort();
    this.#end({ failure: 'stopped' });
  }

  /** Waits for the first piece, and then at most `batchMs` for more. Never rejects. */
  async next(last: WrittenPart | undefined): Promise<Step> {
    if (!this.#isRunning) void this.#run();
    // A call that no step has taken yet has not been answered.
    if (!this.#ending) this.#resume?.(last?.type === 'tool' ? last.output : undefined);
    await this.#until(() => this.#text !== '' || this.#ending !== undefined, LONGEST_STEP_MS);
    const isFull = () => this.#text.length >= MAX_STEP_LENGTH || this.#ending !== undefined;
    if (this.#text !== '') await this.#until(isFull, this.#batchMs);
    const text = this.#text.slice(0, MAX_STEP_LENGTH);
    this.#text = this.#text.slice(MAX_STEP_LENGTH);
    this.#notify();
    return this.#text === '' ? { text, ...this.#takeEnding() } : { text };
  }

  #takeEnding(): Ending | undefined {
    const ending = this.#ending;
    if (!this.#abort.signal.aborted) this.#ending = undefined;
    if (ending && !ending.tool) this.#isRunning = false;
    return ending;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      while (await this.#runOnce());
      this.#end({ isEnd: true });
    } catch (error) {
      const failure = error instanceof Error ? error.message || error.name : String(error);
      this.#end({ failure, isFinal: error instanceof TerminalError });
    }
  }

  /** @returns whether the last piece was a call of a tool, so the model has not seen its result yet. */
  async #runOnce(): Promise<boolean> {
    const { signal } = this.#abort;
    const iterator = this.#generate(signal)[Symbol.asyncIterator]();
    let isAfterTool = false;
    let output: Json | undefined;
    try {
      for (;;) {
        const { done, value } = await iterator.next(output);
        output = undefined;
        if (done || signal.aborted) return isAfterTool && !signal.aborted;
        isAfterTool = typeof value !== 'string';
        if (typeof value === 'string') await this.#say(value);
        else output = await this.#call(value);
      }
    } finally {
      if (signal.aborted) void iterator.return?.();
    }
  }

  async #say(text: string): Promise<void> {
    this.#text += text;
    this.#notify();
    const hasRoom = () => this.#text.length < MAX_STEP_LENGTH || this.#abort.signal.aborted;
    while (!hasRoom()) await this.#changed.promise;
  }

  #call({ tool, input, id }: ToolRequest): Promise<Json | undefined> {
    if (input !== undefined && isTooDeep(input))
      throw new TypeError(`the input of ${tool} is nested too deep`);
    const { promise, resolve } = Promise.withResolvers<Json | undefined>();
    this.#resume = resolve;
    this.#end({
      tool: { tool, ...(input !== undefined && { input }), ...(id !== undefined && { id }) },
    });
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
