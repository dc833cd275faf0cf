import { serde, type Context, type ObjectContext } from '@restatedev/restate-sdk';
import { secretText } from '../secret-text.ts';
import { describe, request, type GatewayAccess } from './gateway-client.ts';
import type { ChildOutcome } from './input.ts';
import { traceOf } from './trace.ts';
import type { Caller } from './turn-state.ts';
import type { Part } from './turn-store.ts';

/** A command for another agent. */
export interface Delivery {
  /** The path on the gateway. */
  path: string;
  body: unknown;
  /** The idempotency key. */
  key: string;
}

/** A command that is sent under each of its keys, one after the other. */
export interface Letter extends Omit<Delivery, 'key'> {
  keys: string[];
}

/**
 * Sends a command to the gateway until it has an answer, in an invocation of its own, so that no entity waits for another one. What the
 * gateway refuses is logged and given up.
 */
export async function deliver(
  ctx: Context,
  access: GatewayAccess,
  { keys, ...given }: Letter,
): Promise<void> {
  for (const key of keys) {
    const answer = await ctx.run(`post ${given.path}`, () => post(ctx, access, { ...given, key }));
    if (typeof answer === 'string') ctx.console.error(`${given.path} refused: ${answer}`);
  }
}

/** The gateway refused a command, in words that readers may see. */
export class CommandRefused extends Error {
  override name = 'CommandRefused';
}

/** What the gateway says of an accepted command. */
export interface Accepted {
  /** The URL of the agent. */
  url: string;
  invocationId: string;
}

/** @returns what was accepted, or why it was refused. Throws an Error for what may work later. */
export async function post(
  ctx: Pick<Context, 'request'>,
  { gatewayUrl, apiKey }: GatewayAccess,
  { path, body, key }: Delivery,
  signal = ctx.request().attemptCompletedSignal,
): Promise<Accepted | string> {
  const headers = {
    ...traceOf(ctx),
    authorization: `Bearer ${secretText(apiKey)}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await request(`${gatewayUrl}${path}`, init, signal);
  if (answer.status === 202) return acceptedIn(answer.text);
  if (answer.status < 400 || !answer.headers.has('x-request-id')) {
    throw new Error(`POST ${path}: ${describe(answer)}`);
  }
  return describe(answer);
}

function acceptedIn(text: string): Accepted {
  const { url, restate } = JSON.parse(text) as { url: string; restate: { invocationId: string } };
  return { url, invocationId: restate.invocationId };
}

/** The path of a command to the agent of a URL `/t/<tenant>/a/<type>/<id>`. */
export function sendPath(url: string): string {
  return `/api${url}/send`;
}

/** The idempotency key of the message that asks a child. */
export function askKey(call: string): string {
  return `ask ${call}`;
}

/** Sends what an entity has to say to others. */
export class Courier {
  readonly #ctx: ObjectContext;
  readonly #service: string;

  constructor(ctx: ObjectContext, service: string) {
    this.#ctx = ctx;
    this.#service = service;
  }

  /** Tells the agent that waits how a turn ended. */
  reply(caller: Caller, agent: string, turn: string, outcome: ChildOutcome): void {
    const body = { kind: 'result', call: caller.call, agent, invocationId: turn, ...outcome };
    this.#deliver({ path: sendPath(caller.url), body, keys: [`result ${turn}`] });
  }

  /**
   * Stops the turns in which children work on calls that nobody waits for any more. The message that begins one may still be on its way: the
   * stop first takes that message's key, so that it comes before the stop or never.
   */
  stopChildren(written: readonly Part[]): void {
    for (const part of written) {
      if (part.type !== 'tool' || !part.child || part.state !== 'called') continue;
      const { id: call, child } = part;
      const body = { kind: 'stop', call, reason: 'nobody waits for it any more' };
      this.#deliver({ path: sendPath(child.url), body, keys: [askKey(call), `stop ${call}`] });
    }
  }

  forget(child: string, key: string): void {
    const body = { kind: 'forget', children: true };
    this.#deliver({ path: sendPath(child), body, keys: [key] });
  }

  #deliver(parameter: Letter): void {
    this.#ctx.genericSend<Letter>({
      service: this.#service,
      method: 'deliver',
      parameter,
      inputSerde: serde.json,
      headers: traceOf(this.#ctx),
    });
  }
}
