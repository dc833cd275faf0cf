import { RetryableError, type Context } from '@restatedev/restate-sdk';
import { validated, type StandardSchema } from '../standard-schema.ts';
import { CommandRefused, post } from './courier.ts';
import { detailOf, messageOf, publicWords, type PublicReason } from './failure.ts';
import type { GatewayAccess } from './gateway-client.ts';
import { isObject, jsonOf, type Json } from './json.ts';
import type { Call } from './turn-store.ts';

/** What a tool is given beside its input. */
export interface ToolContext {
  agent: ToolAgent;
  /** The arguments of the spawn. */
  args?: Json;
  /** The call: its id on the timeline, and its number in the turn (1, 2, 3 …). */
  call: { id: string; number: number };
  /** The same at every attempt of this call: an idempotency key for the requests of the tool. */
  key: string;
  /** Aborted when the answer is stopped or this attempt ends; the reason is a `TurnStopped` or an `AttemptEnded`. */
  signal: AbortSignal;
}

/** The agent in which a tool runs. */
export interface ToolAgent {
  /** `/t/<tenant>/a/<type>/<id>`. */
  url: string;
  tenant: string;
  type: string;
  id: string;
  /**
   * Sends this agent a message after `delayMs` milliseconds, up to a year; it survives every restart. A tool that runs again asks for the
   * same reminder again, unless `key` tells them apart. @returns the id to withdraw it with. Rejects with an Error where the gateway
   * refuses it.
   */
  remind: (message: Json, options: { delayMs: number; key?: string }) => Promise<string>;
  /** Withdraws a reminder that has not come yet. */
  withdraw: (id: string) => Promise<void>;
}

/**
 * A tool as a function. It may run again after a crash. What it returns must be data that JSON can hold. If it throws, the model gets
 * the error. A `RetryableError` of Restate is recorded, and the call is tried again.
 */
// Each tool has an input of its own, which only its author knows.
// eslint-disable-next-line typescript/no-explicit-any
export type ToolFunction = (input: any, context: ToolContext) => unknown;

/** What every tool may say of its calls. */
export interface ToolRules {
  /** Judges each input before the tool runs, also one that an approver changed. The model hears what is wrong. */
  input?: StandardSchema<unknown>;
  /** Whether a call waits for a person's decision. Where the function throws, the call fails and nothing runs. */
  // eslint-disable-next-line typescript/no-explicit-any
  approval?: true | ((input: any) => boolean | Promise<boolean>);
  /** How long a call waits for a decision or for another agent, in milliseconds. Without it there is no end. */
  waitMs?: number;
}

/** A tool with rules. */
export interface ToolDefinition extends ToolRules {
  run: ToolFunction;
}

/** A tool that is an agent, made by `agentTool`. */
export interface AgentTool extends ToolRules {
  agent: ChildOptions;
}

/** Which agent a tool is. */
export interface ChildOptions {
  type: string;
  /** Its id, or that for an input and a call of this agent. By default each call has an agent of its own. */
  // eslint-disable-next-line typescript/no-explicit-any
  id?: string | ((input: any, context: Pick<ToolContext, 'agent' | 'call'>) => string);
  /** The arguments of its spawn. */
  args?: Json;
  /** The message for an input: text, or what `send` takes as JSON. */
  // eslint-disable-next-line typescript/no-explicit-any
  message: (input: any) => Json;
}

/** What `defineAgent` takes as a tool. */
export type Tool = ToolFunction | ToolDefinition | AgentTool;

/**
 * A tool that is an agent: it spawns a child, sends it a message, and the call ends with what the child says. The child's turn is stopped
 * with the turn that waits for it. The child must be made with `defineAgent`.
 */
export function agentTool({
  type,
  id,
  args,
  message,
  ...rules
}: ChildOptions & ToolRules): AgentTool {
  const child = {
    type,
    message,
    ...(id !== undefined && { id }),
    ...(args !== undefined && { args }),
  };
  return { ...rules, agent: child };
}

export type ToolOutcome =
  | { output: Json; url?: string }
  /** `error` is for the model, `reason` for the timeline. */
  | { error: string; reason?: string }
  | { again: { reason: string; detail: string } };

/** What is known of a call before it runs. */
export type Judgement = { waits: boolean } | { error: string };

/** Whether a call may run, must wait, or is wrong. Never rejects. */
export async function judge(tool: Tool | undefined, { name, input }: Call): Promise<Judgement> {
  if (!tool) return { error: `there is no tool ${name}` };
  const { approval } = rulesOf(tool);
  try {
    const valid = await validInput(tool, input);
    if ('wrong' in valid) return { error: valid.wrong };
    const waits = typeof approval === 'function' ? await approval(valid.value) : approval === true;
    if (typeof waits !== 'boolean') throw new TypeError('the approval is no boolean');
    return { waits };
  } catch (error) {
    return { error: `whether the call needs an approval cannot be said: ${messageOf(error)}` };
  }
}

/** Calls a tool. Never rejects, and gives nothing that Restate could not store. */
export async function callTool(
  tool: ToolFunction | ToolDefinition,
  { name, input }: Call,
  context: ToolContext,
  publicReason: PublicReason | undefined,
): Promise<ToolOutcome> {
  const run = typeof tool === 'function' ? tool : tool.run;
  try {
    const valid = await validInput(tool, input);
    if ('wrong' in valid) return { error: valid.wrong };
    const returned = await run(valid.value, context);
    const output = jsonOf(returned ?? null);
    const url = name === 'spawn' && isObject(output) ? output.url : undefined;
    return { output, ...(typeof url === 'string' && { url }) };
  } catch (error) {
    const known = error instanceof CommandRefused ? error.message : '';
    const reason = publicWords(publicReason, error, known);
    if (error instanceof RetryableError) {
      return { again: { reason: reason || `the tool ${name} failed`, detail: detailOf(error) } };
    }
    return { error: messageOf(error), ...(reason !== '' && { reason }) };
  }
}

/** The input as the tool's schema has it. */
export async function validInput(
  tool: Tool,
  input: Json | undefined,
): Promise<{ value: unknown } | { wrong: string }> {
  const { input: schema } = rulesOf(tool);
  if (!schema) return { value: input };
  const result = await validated(schema, input);
  return 'value' in result ? result : { wrong: `the input is wrong: ${result.wrong}` };
}

export function rulesOf(tool: Tool): ToolRules {
  return typeof tool === 'function' ? {} : tool;
}

/** The tool that spawns a child through the gateway, `{type, id?, args?}`, with the agent `parent` as its parent. */
export function spawnTool(
  ctx: Pick<Context, 'request'>,
  access: GatewayAccess,
  parent: string,
): ToolFunction {
  return async (input: Json | undefined, { key, signal }) => {
    const { type, id, args } = isObject(input) ? input : {};
    // The gateway derives the id of the child from the key, so a repeated call spawns no second child.
    const command = { path: '/api/spawn', body: { type, id, args, parent }, key };
    const answer = await post(ctx, access, command, signal).catch((error: unknown) => {
      throw RetryableError.from(error);
    });
    if (typeof answer === 'string') throw new CommandRefused(answer);
    return { url: answer.url };
  };
}
