import { CancelledError, type Context } from '@restatedev/restate-sdk';
import { entityOf } from '../address.ts';
import type { AgentStatus, Stop, Usage } from '../events.ts';
import type { WaitLimit, Write } from './work.ts';
import { askKey, CommandRefused, post, sendPath } from './courier.ts';
import { messageOf, type PublicReason } from './failure.ts';
import type { GatewayAccess } from './gateway-client.ts';
import { writeText, writtenText } from './generation.ts';
import type { Generate, Generation, PastTurn } from './generation.ts';
import { isObject, jsonOf, type Json } from './json.ts';
import { LiveGeneration, type RequestedCall, type Said, type Step } from './live-generation.ts';
import type { StepFailure } from './live-generation.ts';
import type { Message } from './message.ts';
import type { NewEvent } from './timeline.ts';
import { callTool, judge, rulesOf, spawnTool, validInput } from './tools.ts';
import type {
  AgentTool,
  ChildOptions,
  Tool,
  ToolAgent,
  ToolDefinition,
  ToolFunction,
} from './tools.ts';
import { MAX_CHAIN, type Turn } from './turn-state.ts';
import { callOf, callsOf, hasEnded, partOf, type Call, type Part } from './turn-store.ts';

/** How an agent answers. */
export interface AnswerRules {
  generate: Generate;
  tools?: Record<string, Tool>;
  /** How long text is collected for one event, in milliseconds. Default 80. */
  batchMs?: number;
  /** The most calls of tools in a turn. Default 50. */
  maxToolCalls?: number;
  /** A model that sends nothing for so long has failed, in milliseconds. Time in tools does not count. Default 120,000. */
  idleTimeoutMs?: number;
  /** A turn that fails for so long ends, in milliseconds. Default 3,600,000. */
  retryForMs?: number;
  /** What readers may know of an error. By default the timeline says only that the model or the tool failed. */
  publicReason?: PublicReason;
}

/** A turn, and what an invocation does to answer it. */
export interface RunOptions extends AnswerRules, GatewayAccess {
  /** The URL of the agent. */
  url: string;
  turn: Pick<Turn, 'id' | 'seq' | 'index' | 'calls' | 'caller' | 'usage' | 'failingSince'>;
  message: Message;
  turns: PastTurn[];
  written: Part[];
  args?: Json;
  /** Records what happened. @returns false if the invocation is to end. */
  write: (given: Omit<Write, 'number'>) => Promise<boolean>;
}

/** The reason of a signal whose answer was stopped. */
export class TurnStopped extends Error {
  override name = 'TurnStopped';
}

/** The reason of a signal whose attempt ended: another one continues with the answer. */
export class AttemptEnded extends Error {
  override name = 'AttemptEnded';
}

const DEFAULT_BATCH_MS = 80;
const DEFAULT_MAX_TOOL_CALLS = 50;
const DEFAULT_IDLE_TIMEOUT_MS = 120_000;
const DEFAULT_RETRY_FOR_MS = 3_600_000;
/** The event of a longer reply would not fit into a request of 1 MiB. */
const MAX_REPLY_LENGTH = 256 * 1_024;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;

/**
 * One invocation that answers a turn, or continues with it. Each batch of text, each call of a tool and each failure is a step in
 * the journal and an event. After a crash, `generate` continues after the text that the journal has. It ends with the turn, or when all
 * that is left waits: then what waits is in the state of the agent, and another invocation continues. A cancellation ends the answer with
 * what it has.
 */
export class TurnRun {
  readonly #ctx: Context;
  readonly #options: RunOptions;
  readonly #written: Part[];
  readonly #tools: Record<string, Tool>;
  readonly #stop = new AbortController();
  readonly #live: LiveGeneration;
  #index: number;
  #calls: number;
  #usage: Usage | undefined;
  /** The failed attempts since something worked. */
  #failures: number;
  #failingSince: number | undefined;

  constructor(ctx: Context, options: RunOptions) {
    this.#ctx = ctx;
    this.#options = options;
    const { turn, written, tools = {}, url, publicReason } = options;
    this.#written = structuredClone(written);
    this.#index = turn.index;
    this.#calls = Math.max(turn.calls, callsOf(this.#written).length);
    this.#usage = turn.usage;
    this.#failingSince = turn.failingSince;
    this.#failures = turn.failingSince === undefined ? 0 : 1;
    this.#tools = { spawn: spawnTool(ctx, options, url), ...tools };
    const { attemptCompletedSignal: attempt } = ctx.request();
    const end = (): void => this.#stop.abort(new AttemptEnded('this attempt ended'));
    attempt.addEventListener('abort', end, { once: true });
    if (attempt.aborted) end();
    const { batchMs = DEFAULT_BATCH_MS, idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS } = options;
    const generate = (signal: AbortSignal) => options.generate(this.#generation(signal));
    this.#live = new LiveGeneration(generate, this.#stop.signal, {
      batchMs,
      idleTimeoutMs,
      ...(publicReason && { publicReason }),
    });
  }

  async run(): Promise<void> {
    try {
      await this.#answer();
    } catch (error) {
      if (!(error instanceof CancelledError)) throw error;
      this.#stop.abort(new TurnStopped('the answer was stopped'));
      await this.#write([this.#replyEvent({ verb: 'interrupt' })]);
    } finally {
      this.#stop.abort(new AttemptEnded('the answer has ended'));
    }
  }

  async #answer(): Promise<void> {
    let outputs: (Json | undefined)[] = [];
    // What an earlier invocation left: calls that were cut off, or decided meanwhile.
    if (!(await this.#settle())) return;
    for (;;) {
      const results = outputs;
      const step = await this.#ctx.run('generate', () => this.#live.next(results));
      if (!(await this.#tell(step))) return;
      if (step.isEnd || step.failure?.isFinal) return;
      if (step.failure && !(await this.#failing(step.failure))) return;
      if (!step.calls) continue;
      const calls = await this.#begin(step.calls);
      if (!calls || !(await this.#settle())) return;
      outputs = calls.map(({ id }) => callOf(this.#written, id)?.output);
    }
  }

  /** Records what was said, and how it ended. @returns whether the answer continues. */
  async #tell({ said, isEnd, failure, calls }: Step): Promise<boolean> {
    const events: NewEvent[] = [];
    for (const one of said) this.#say(one, events);
    const works = events.length > 0 || isEnd || calls;
    const again = this.#failures > 0 && works ? this.#worksAgain() : undefined;
    if (again) events.unshift(again.event);
    const isTooLong = writtenText(this.#texts()).length > MAX_REPLY_LENGTH;
    if (isTooLong) {
      events.push(this.#errorEvent(`the reply is longer than ${MAX_REPLY_LENGTH} characters`));
    } else if (isEnd) events.push(this.#replyEvent());
    else if (failure?.isFinal) {
      this.#log(failure);
      events.push(this.#errorEvent(failure.reason));
      return this.#write(events, {
        failure: { attempt: this.#failures + 1, error: failure.detail },
      });
    }
    if (events.length === 0) return true;
    return (await this.#write(events, again && { failure: null })) && !isTooLong;
  }

  #say(said: Said, events: NewEvent[]): void {
    const replyTo = this.#options.turn.seq;
    if ('text' in said) {
      if (said.text === '') return;
      events.push({ kind: 'word', replyTo, index: this.#index, text: said.text });
      this.#index += 1;
      writeText(this.#written as { type: 'text'; text: string }[], said.text);
    } else if ('usage' in said) this.#usage = sum(this.#usage, said.usage);
    else if ('reasoning' in said) events.push({ kind: 'reasoning', replyTo, text: said.reasoning });
    else events.push({ kind: 'data', replyTo, data: said.data });
  }

  /** Notes calls, each with whether it may run or waits. Undefined: the turn is over. */
  async #begin(requests: RequestedCall[]): Promise<Call[] | undefined> {
    const { turn, maxToolCalls = DEFAULT_MAX_TOOL_CALLS } = this.#options;
    if (this.#calls + requests.length > maxToolCalls) {
      await this.#write([this.#errorEvent(`more than ${maxToolCalls} calls of tools`)]);
      return undefined;
    }
    const calls = requests.map(({ tool: name, input, id }): Call => {
      this.#calls += 1;
      return {
        // The name of the turn ends with what no other turn has.
        type: 'tool',
        id: `${turn.id.slice(-8)}.${this.#calls}`,
        number: this.#calls,
        name,
        ...(id !== undefined && { modelId: id }),
        ...(input !== undefined && { input }),
        state: 'called',
      };
    });
    for (const call of calls) {
      const tool = this.#toolOf(call);
      const judged = await this.#ctx.run(`judge ${call.name}`, () => judge(tool, call));
      if ('error' in judged) call.error = judged.error;
      else if (judged.waits) call.state = 'waiting';
      this.#written.push(call);
    }
    const events = calls.map((call) => this.#callEvent(call, { input: call.input }));
    const limits = calls
      .filter(({ state }) => state === 'waiting')
      .flatMap((call) => this.#limitOf(call));
    return (await this.#write(events, { calls, limits })) ? calls : undefined;
  }

  /** Runs the calls that may run. @returns false if the answer does not continue here: it is over, or a call waits. */
  async #settle(): Promise<boolean> {
    const open = callsOf(this.#written).filter(
      (call) => !hasEnded(call) || call.state === 'called',
    );
    for (const call of open) {
      if (call.state === 'waiting') continue;
      if (call.state === 'approved') {
        call.state = 'called';
        if (!(await this.#write([this.#callEvent(call)], { calls: [call] }))) return false;
      }
      if (!(await this.#perform(call))) return false;
    }
    if (callsOf(this.#written).every(hasEnded)) return true;
    await this.#write([], { isParked: true });
    return false;
  }

  async #perform(call: Call): Promise<boolean> {
    const tool = this.#toolOf(call);
    if (call.error !== undefined || !tool) {
      return tool
        ? this.#finish(call, { error: call.error ?? '' })
        : this.#refuse(call, `there is no tool ${call.name}`);
    }
    return isAgent(tool) ? this.#ask(tool, call) : this.#run(tool, call);
  }

  async #run(tool: ToolFunction | ToolDefinition, call: Call): Promise<boolean> {
    const { args, url, publicReason, turn } = this.#options;
    for (;;) {
      const context = {
        ...this.#place(call),
        ...(args !== undefined && { args }),
        key: `${url}#${turn.id}.${call.number}`,
        signal: this.#stop.signal,
      };
      const outcome = await this.#ctx.run(`tool ${call.name}`, () =>
        callTool(tool, call, context, publicReason),
      );
      if (!('again' in outcome)) return this.#finish(call, outcome);
      if (!(await this.#failing({ ...outcome.again, isFinal: false }))) return false;
    }
  }

  /** Sends the message of a call to its child. The result comes to the agent, and another invocation continues. */
  async #ask(tool: AgentTool, call: Call): Promise<boolean> {
    const { url, turn } = this.#options;
    if (call.child?.turn !== undefined) return true;
    const chain = [...(turn.caller?.chain ?? []), url];
    const sent = await this.#ctx.run(`ask ${tool.agent.type}`, () => this.#childOf(tool, call));
    if ('error' in sent) return this.#finish(call, sent);
    const { child, message } = sent;
    if (chain.includes(child)) {
      return this.#refuse(call, `${child} waits for this answer, so it would never reply`);
    }
    if (chain.length >= MAX_CHAIN) {
      return this.#refuse(call, `more than ${MAX_CHAIN} agents would wait for each other`);
    }
    if (!call.child) {
      call.child = { url: child };
      const more = { calls: [call], limits: this.#limitOf(call) };
      if (!(await this.#write([this.#callEvent(call, { url: child })], more))) return false;
    }
    const caller = { url, call: call.id, chain };
    const outcome = await this.#ctx.run(`send to ${child}`, () =>
      this.#send(tool.agent, child, { kind: 'message', content: message, caller }, call),
    );
    if ('error' in outcome) return this.#finish(call, outcome);
    call.child.turn = outcome.turn;
    return this.#write([], { calls: [call] });
  }

  async #childOf(
    tool: AgentTool,
    call: Call,
  ): Promise<{ child: string; message: Json } | { error: string }> {
    const { url, turn } = this.#options;
    const { type, id, message } = tool.agent;
    try {
      const valid = await validInput(tool, call.input);
      if ('wrong' in valid) return { error: valid.wrong };
      const own =
        typeof id === 'function'
          ? id(valid.value, this.#place(call))
          : (id ?? `${turn.id}-${call.number}`);
      // It is the one that was asked before, also where the id is another one each time.
      const child = call.child?.url ?? `/t/${entityOf(url).tenant ?? ''}/a/${type}/${own}`;
      // Throws for one that is no entity.
      entityOf(child);
      const text = jsonOf(message(valid.value));
      return {
        child,
        message: isObject(text) && 'content' in text ? (text.content as Json) : text,
      };
    } catch (error) {
      return { error: `the message to the agent cannot be made: ${messageOf(error)}` };
    }
  }

  /** Spawns the child, and sends it the message. Throws an Error for what may work later. */
  async #send(
    { type, args }: ChildOptions,
    child: string,
    body: object,
    { id }: Call,
  ): Promise<{ turn: string } | { error: string }> {
    const { url: parent } = this.#options;
    const { tenant = '', id: childId } = entityOf(child);
    const spawn = { type, id: childId, parent, ...(args !== undefined && { args }) };
    const { signal } = this.#stop;
    const spawned = await post(
      this.#ctx,
      this.#options,
      { path: `/api/t/${tenant}/spawn`, body: spawn, key: `spawn ${id}` },
      signal,
    );
    if (typeof spawned === 'string') return { error: `${child} cannot be spawned: ${spawned}` };
    const answer = await post(
      this.#ctx,
      this.#options,
      { path: sendPath(child), body, key: askKey(id) },
      signal,
    );
    if (typeof answer === 'string') return { error: `${child} cannot be asked: ${answer}` };
    return { turn: answer.invocationId };
  }

  /** Ends a call with a sentence that readers may see. */
  #refuse(call: Call, reason: string): Promise<boolean> {
    return this.#finish(call, { error: reason, reason });
  }

  /** Records the result of a call. */
  #finish(
    call: Call,
    outcome: { output: Json; url?: string } | { error: string; reason?: string },
  ): Promise<boolean> {
    const again = this.#failures > 0 ? this.#worksAgain() : undefined;
    const events = again ? [again.event] : [];
    if ('output' in outcome) {
      call.state = 'done';
      call.output = outcome.output;
      if (outcome.url !== undefined) call.child = { url: outcome.url };
      events.push(this.#callEvent(call, outcome));
    } else {
      call.state = 'failed';
      call.error = outcome.error;
      const { reason } = outcome;
      events.push(this.#callEvent(call, reason === undefined ? {} : { error: reason }));
    }
    return this.#write(events, { calls: [call], ...(again && { failure: null }) });
  }

  /** Records the failure and waits before the next attempt. @returns whether the answer continues. */
  async #failing(failure: StepFailure): Promise<boolean> {
    this.#log(failure);
    this.#failures += 1;
    const attempt = this.#failures;
    const now = await this.#ctx.date.now();
    const since = (this.#failingSince ??= now);
    const { retryForMs = DEFAULT_RETRY_FOR_MS } = this.#options;
    const more = { failure: { attempt, error: failure.detail } };
    if (now - since >= retryForMs) {
      await this.#write([this.#errorEvent(`${failure.reason}, again and again`)], more);
      return false;
    }
    const continues = await this.#write(
      [status('failing', { reason: failure.reason, attempt })],
      more,
    );
    const waitMs = Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LONGEST_RETRY_MS);
    if (continues) await this.#ctx.sleep(waitMs, 'before the next attempt');
    return continues;
  }

  #worksAgain(): { event: NewEvent } {
    this.#failures = 0;
    this.#failingSince = undefined;
    return { event: status('running') };
  }

  #log({ reason, detail }: StepFailure): void {
    this.#ctx.console.error(`${this.#options.url}: ${reason}: ${detail}`);
  }

  #callEvent({ id, name, state }: Call, more: { [name: string]: unknown } = {}): NewEvent {
    const known = Object.entries(more).filter(([, value]) => value !== undefined);
    const { seq: replyTo } = this.#options.turn;
    return { kind: 'tool', replyTo, id, name, state, ...Object.fromEntries(known) };
  }

  #limitOf(call: Call): WaitLimit[] {
    const tool = this.#toolOf(call);
    const afterMs = tool && rulesOf(tool).waitMs;
    return afterMs === undefined ? [] : [{ call: call.id, state: call.state, afterMs }];
  }

  #replyEvent(stopped?: Stop): NewEvent {
    const text = writtenText(this.#texts());
    const content = text === '' ? [] : [{ type: 'text', text }];
    const { seq: replyTo } = this.#options.turn;
    const stop = stopped && { stopped };
    return { kind: 'reply', replyTo, content, ...stop, ...this.#usageField() };
  }

  /** The end of a turn that failed for good. */
  #errorEvent(message: string): NewEvent {
    const { seq: replyTo } = this.#options.turn;
    return { kind: 'error', message, replyTo, ...this.#usageField() };
  }

  #usageField(): { usage?: Usage } {
    return this.#usage ? { usage: this.#usage } : {};
  }

  #write(events: NewEvent[], more: Omit<Write, 'number' | 'events'> = {}): Promise<boolean> {
    const usage = this.#usageField();
    return this.#options.write({ calls: [], ...more, ...usage, events });
  }

  #toolOf({ name }: Call): Tool | undefined {
    return Object.hasOwn(this.#tools, name) ? this.#tools[name] : undefined;
  }

  /** Where a call is: in which agent, and which one of its turn. */
  #place(call: Call) {
    return { agent: this.#agent(call), call: { id: call.id, number: call.number } };
  }

  #agent({ id: call }: Call): ToolAgent {
    const { url } = this.#options;
    const { tenant = '', type, id } = entityOf(url);
    const command = async (body: object, key: string): Promise<string> => {
      const answer = await post(this.#ctx, this.#options, { path: sendPath(url), body, key });
      if (typeof answer === 'string') throw new CommandRefused(answer);
      return answer.invocationId;
    };
    return {
      url,
      tenant,
      type,
      id,
      remind: (message, { delayMs, key = '' }) =>
        command({ kind: 'remind', content: message, delayMs }, `remind ${call} ${key}`.trim()),
      withdraw: async (reminder) => {
        await command({ kind: 'withdraw', invocationId: reminder }, `withdraw ${reminder}`);
      },
    };
  }

  #texts() {
    return this.#written.filter((part) => part.type === 'text');
  }

  #generation(signal: AbortSignal): Generation {
    const { message, turns, args } = this.#options;
    const written = this.#written.map(partOf);
    return { message, turns, ...(args !== undefined && { args }), written, signal };
  }
}

function isAgent(tool: Tool): tool is AgentTool {
  return typeof tool === 'object' && 'agent' in tool;
}

function status(name: AgentStatus, more: { reason?: string; attempt?: number } = {}): NewEvent {
  return { kind: 'status', status: name, ...more };
}

function sum(before: Usage | undefined, more: Usage): Usage {
  const total: Usage = { ...before };
  for (const [name, value] of Object.entries(more)) total[name] = (total[name] ?? 0) + (value ?? 0);
  return total;
}
