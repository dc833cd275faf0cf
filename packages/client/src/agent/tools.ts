import { RetryableError, type Context } from '@restatedev/restate-sdk';
import { describe, request, type GatewayAccess } from './gateway-client.ts';
import type { ToolRequest } from './generation.ts';
import { isObject, isTooDeep, parseJson, type Json } from './json.ts';
import { traceOf } from './trace.ts';

/** What a tool is given beside its input. */
export interface ToolContext {
  /** The same at every attempt of this call: an idempotency key for the requests of the tool. */
  key: string;
  /** Aborted when the answer is stopped or this attempt ends. */
  signal: AbortSignal;
}

/**
 * A tool. It may run again after a crash. What it returns must be data that JSON can hold. If it throws, the model gets
 * the error. A `RetryableError` of Restate is recorded, and the call is tried again.
 */
// Each tool has an input of its own, which only its author knows.
// eslint-disable-next-line typescript/no-explicit-any
export type Tool = (input: any, context: ToolContext) => unknown;

export type ToolOutcome = { output?: Json; url?: string } | { error: string } | { again: string };

/** Calls a tool. Never rejects, and gives nothing that Restate could not store. */
export async function callTool(
  tool: Tool | undefined,
  call: ToolRequest,
  context: ToolContext,
): Promise<ToolOutcome> {
  if (!tool) return { error: `there is no tool ${call.tool}` };
  try {
    const returned = await tool(call.input, context);
    const output = JSON.parse(JSON.stringify(returned ?? null)) as Json;
    if (isTooDeep(output)) return { error: 'the output is nested too deep' };
    const url = call.tool === 'spawn' && isObject(output) ? output.url : undefined;
    return { output, ...(typeof url === 'string' && { url }) };
  } catch (error) {
    const message = error instanceof Error ? error.message || error.name : String(error);
    return error instanceof RetryableError ? { again: message } : { error: message };
  }
}

/** The tool that spawns a child through the gateway, `{type, id?, args?}`, with the agent `parent` as its parent. */
export function spawnTool(
  ctx: Pick<Context, 'request'>,
  { gatewayUrl, apiKey }: GatewayAccess,
  parent: string,
): Tool {
  return async (input: Json | undefined, { key, signal }) => {
    const { type, id, args } = isObject(input) ? input : {};
    const headers = {
      ...traceOf(ctx),
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      // The gateway derives the id of the child from the key, so a repeated call spawns no second child.
      'idempotency-key': key,
    };
    const body = JSON.stringify({ type, id, args, parent });
    const init = { method: 'POST', headers, body };
    const answer = await request(`${gatewayUrl}/api/spawn`, init, signal).catch(
      (error: unknown) => {
        throw RetryableError.from(error);
      },
    );
    if (answer.status !== 202) throw new Error(describe(answer));
    const accepted = parseJson(new TextEncoder().encode(answer.text));
    return { url: isObject(accepted) ? accepted.url : undefined };
  };
}
