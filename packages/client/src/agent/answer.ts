import { CancelledError, type Context } from '@restatedev/restate-sdk';
import type { AgentStatus, Stop } from '../events.ts';
import type { GatewayAccess } from './gateway-client.ts';
import { writeText, writtenText } from './generation.ts';
import type { Generate, Generation, PastTurn, ToolRequest, WrittenPart } from './generation.ts';
import type { Json } from './json.ts';
import { LiveGeneration, type Step } from './live-generation.ts';
import type { Message } from './message.ts';
import type { NewEvent } from './timeline.ts';
import { callTool, spawnTool, type Tool } from './tools.ts';

/** The message of a turn, and the model and tools that answer it. */
export interface AnswerOptions extends Pick<GatewayAccess, 'gatewayUrl' | 'apiKey'> {
  /** The URL of the agent: the parent of the children that it spawns. */
  url: string;
  message: Message;
  /** The `seq` of the message. */
  replyTo: number;
  generate: Generate;
  tools?: Record<string, Tool>;
  /** Writes events to the timeline, each once. False: the turn is over, and nothing more is wanted. */
  record: (events: NewEvent[]) => Promise<boolean | void>;
  /** How long text is collected for one event, in milliseconds. Default 80. */
  batchMs?: number;
  /** The most calls of tools. Default 50. */
  maxToolCalls?: number;
  turns?: PastTurn[];
  args?: Json;
  /** What an earlier invocation has written of this answer, and the number of its `word` events. */
  written?: WrittenPart[];
  index?: number;
}

const DEFAULT_BATCH_MS = 80;
const DEFAULT_MAX_TOOL_CALLS = 50;
/** The event of a longer reply would not fit into a request of 1 MiB. */
const MAX_REPLY_LENGTH = 256 * 1_024;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;
const MAX_REASON_LENGTH = 500;

/**
 * Answers one message with a model, within one invocation. Each batch of text, each call of a tool and each failure is
 * a step in the journal and an event. After a crash, `generate` continues after the text that the journal has.
 * A cancellation of the invocation ends the answer with what it has.
 */
export async function answer(ctx: Context, options: AnswerOptions): Promise<void> {
  const turn = new Answering(ctx, options);
  try {
    await turn.run();
  } catch (error) {
    if (!(error instanceof CancelledError)) throw error;
    await turn.reply({ verb: 'interrupt' });
  } finally {
    turn.stop();
  }
}

class Answering {
  readonly #ctx: Context;
  readonly #options: AnswerOptions;
  readonly #written: WrittenPart[];
  readonly #live: LiveGeneration;
  readonly #stopped = new AbortController();
  #index: number;
  #toolCalls: number;
  /** The failed attempts since something worked. */
  #failures = 0;

  constructor(ctx: Context, options: AnswerOptions) {
    this.#ctx = ctx;
    this.#options = options;
    this.#written = structuredClone(options.written ?? []);
    this.#index = options.index ?? 0;
    this.#toolCalls = this.#written.filter(({ type }) => type === 'tool').length;
    const batchMs = options.batchMs ?? DEFAULT_BATCH_MS;
    const { attemptCompletedSignal } = ctx.request();
    const generate = (signal: AbortSignal) => options.generate(this.#generation(signal));
    this.#live = new LiveGeneration(generate, batchMs, attemptCompletedSignal);
  }

  async run(): Promise<void> {
    for (;;) {
      const step = await this.#ctx.run('generate', () => this.#live.next(this.#written.at(-1)));
      const events = this.#eventsOf(step);
      if (events.length > 0 && !(await this.#record(events))) return;
      if (step.isEnd || step.isFinal || (await this.#isTooLong())) return;
      if (step.tool && !(await this.#call(step.tool))) return;
      if (step.failure !== undefined && !(await this.#failing(step.failure))) return;
    }
  }

  stop(): void {
    this.#stopped.abort();
    this.#live.stop();
  }

  async reply(stopped?: Stop): Promise<void> {
    await this.#record([this.#replyEvent(stopped)]);
  }

  #eventsOf({ text, tool, isEnd, isFinal, failure }: Step): NewEvent[] {
    const { replyTo } = this.#options;
    const events: NewEvent[] = [];
    if (this.#failures > 0 && (text !== '' || tool || isEnd || isFinal))
      events.push(this.#worksAgain());
    if (text !== '') {
      events.push({ kind: 'word', replyTo, index: this.#index, text });
      this.#index += 1;
      writeText(this.#written, text);
    }
    if (isEnd) events.push(this.#replyEvent());
    if (isFinal) events.push({ kind: 'error', message: failure ?? '', replyTo });
    return events;
  }

  /** A model that does not come to an end would fill the journal. */
  async #isTooLong(): Promise<boolean> {
    const isTooLong = writtenText(this.#written).length > MAX_REPLY_LENGTH;
    const message = `the reply is longer than ${MAX_REPLY_LENGTH} characters`;
    const { replyTo } = this.#options;
    if (isTooLong) await this.#record([{ kind: 'error', message, replyTo }]);
    return isTooLong;
  }

  /** @returns whether the answer continues. */
  async #call(call: ToolRequest): Promise<boolean> {
    const { replyTo, tools = {}, maxToolCalls = DEFAULT_MAX_TOOL_CALLS, url } = this.#options;
    this.#toolCalls += 1;
    if (this.#toolCalls > maxToolCalls) {
      await this.#record([
        { kind: 'error', message: `more than ${maxToolCalls} calls of tools`, replyTo },
      ]);
      return false;
    }
    const { tool: name, input, id = `${replyTo}.${this.#toolCalls}` } = call;
    const event = { kind: 'tool', replyTo, id, name };
    if (!(await this.#record([{ ...event, state: 'called', input }]))) return false;
    const all: Record<string, Tool> = { spawn: spawnTool(this.#ctx, this.#options, url), ...tools };
    const tool = Object.hasOwn(all, name) ? all[name] : undefined;
    const key = `${url}#${replyTo}.${this.#toolCalls}`;
    for (;;) {
      const context = { key, signal: this.#signal() };
      const outcome = await this.#ctx.run(`tool ${name}`, () => callTool(tool, call, context));
      if ('again' in outcome) {
        if (!(await this.#failing(outcome.again))) return false;
        continue;
      }
      const known = { id, name, ...(input !== undefined && { input }) };
      this.#written.push({ type: 'tool', ...known, ...outcome });
      const state = 'error' in outcome ? 'failed' : 'done';
      const again = this.#failures > 0 ? [this.#worksAgain()] : [];
      return this.#record([...again, { ...event, state, ...outcome }]);
    }
  }

  /** Records the failure and waits before the next attempt. @returns whether the answer continues. */
  async #failing(reason: string): Promise<boolean> {
    this.#failures += 1;
    const attempt = this.#failures;
    const goesOn = await this.#record([
      status('failing', { reason: reason.slice(0, MAX_REASON_LENGTH), attempt }),
    ]);
    const waitMs = Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LONGEST_RETRY_MS);
    if (goesOn) await this.#ctx.sleep(waitMs, 'before the next attempt');
    return goesOn;
  }

  #worksAgain(): NewEvent {
    this.#failures = 0;
    return status('running');
  }

  #replyEvent(stopped?: Stop): NewEvent {
    const text = writtenText(this.#written);
    const content = text === '' ? [] : [{ type: 'text', text }];
    return { kind: 'reply', replyTo: this.#options.replyTo, content, ...(stopped && { stopped }) };
  }

  async #record(events: NewEvent[]): Promise<boolean> {
    return (await this.#options.record(events)) !== false;
  }

  #signal(): AbortSignal {
    return AbortSignal.any([this.#stopped.signal, this.#ctx.request().attemptCompletedSignal]);
  }

  #generation(signal: AbortSignal): Generation {
    const { message, turns = [], args } = this.#options;
    return { message, turns, ...(args !== undefined && { args }), written: this.#written, signal };
  }
}

function status(name: AgentStatus, more: { reason?: string; attempt?: number } = {}): NewEvent {
  return { kind: 'status', status: name, ...more };
}
