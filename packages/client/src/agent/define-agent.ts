import { handlers, object, serde, service, TerminalError } from '@restatedev/restate-sdk';
import { CancelledError, InvocationIdParser } from '@restatedev/restate-sdk';
import type { Context, ServiceDefinition, VirtualObjectDefinition } from '@restatedev/restate-sdk';
import { AgentEntity } from './agent-entity.ts';
import { catalogRowWriter } from './catalog-row.ts';
import { deliver, type Letter } from './courier.ts';
import { command, type AgentOptions } from './entity.ts';
import { retryForever } from './retry-forever.ts';
import { traceOf } from './trace.ts';
import { TurnRun, type AnswerRules } from './turn-run.ts';
import type { EntitySettings, Work, Write } from './work.ts';

/** An agent with a model, and how it answers. */
export interface AgentDefinition extends Omit<AgentOptions, 'rowService'>, AnswerRules {
  /** The entity type. */
  name: string;
  /** The most messages that wait. Default 20. */
  maxWaiting?: number;
  /**
   * How long Restate keeps the idempotency keys of commands, so how long an `ask` can be repeated, in milliseconds. Default 86,400,000 (a day).
   */
  keyRetentionMs?: number;
}

/** What `defineAgent` makes, to be served. */
export interface Agent {
  name: string;
  /** The services of Restate that make the agent: all of them belong to one deployment. */
  services: (VirtualObjectDefinition<string, unknown> | ServiceDefinition<string, unknown>)[];
}

const DEFAULT_MAX_WAITING = 20;
const DAY_MS = 86_400_000;

/**
 * An agent that answers each message with `generate`. An invocation of its own answers a message, and gives its events
 * to the entity, whose handlers are short. So a command is applied at once, whatever the answer is doing. Throws a
 * TypeError for an address that is not http or https.
 */
export function defineAgent(definition: AgentDefinition): Agent {
  const { name, maxWaiting = DEFAULT_MAX_WAITING, keyRetentionMs = DAY_MS } = definition;
  const options = optionsOf(definition);
  const turnService = `${name}Turn`;
  const settings: EntitySettings = { ...options, turnService, name, maxWaiting, keyRetentionMs };
  const entity = new AgentEntity(settings);
  const { catalogUrl, catalogToken, rowService } = options;
  const own = {
    ingressPrivate: true,
    // A cancelled answer also cancels its calls. One that is being recorded is recorded to its end.
    explicitCancellation: true,
    input: serde.json,
    output: serde.json,
  };
  const services: Agent['services'] = [
    object({
      name,
      options: {
        retryPolicy: retryForever,
        enableLazyState: true,
        // The journals have what was said.
        journalRetention: 0,
        idempotencyRetention: keyRetentionMs,
      },
      handlers: {
        spawn: command(entity.spawn),
        wake: command(entity.wake),
        control: command(entity.control),
        write: handlers.object.exclusive(own, entity.write),
        gone: handlers.object.exclusive(own, entity.gone),
        expire: handlers.object.exclusive(own, entity.expire),
      },
    }),
    turnServiceOf(definition, options, turnService),
  ];
  if (catalogUrl !== undefined) {
    services.push(catalogRowWriter(catalogUrl, rowService, catalogToken));
  }
  return { name, services };
}

/** `run` answers one message, or continues with it. `watch` sees that it is gone. `deliver` sends a command to another agent. */
function turnServiceOf(definition: AgentDefinition, access: AgentOptions, name: string) {
  const { name: entity } = definition;
  const run = async (ctx: Context, { key, number, ...turn }: Work): Promise<void> => {
    const write = (given: Omit<Write, 'number'>) =>
      ctx.genericCall<Write, boolean>({
        service: entity,
        method: 'write',
        key,
        parameter: { number, ...given },
        inputSerde: serde.json,
        outputSerde: serde.json,
        headers: traceOf(ctx),
      });
    await new TurnRun(ctx, { ...definition, ...access, ...turn, write }).run();
  };
  const watch = async (ctx: Context, given: { key: string; run: string; number: number }) => {
    try {
      await ctx.attach(InvocationIdParser.fromString(given.run), serde.binary);
    } catch (error) {
      // It was killed, or Restate does not know it.
      if (error instanceof CancelledError || !(error instanceof TerminalError)) throw error;
    }
    ctx.genericSend({
      service: entity,
      method: 'gone',
      key: given.key,
      parameter: { number: given.number },
      inputSerde: serde.json,
    });
  };
  return service({
    name,
    // Restate keeps for a day how each answer ended, but not its journal, which has what was said.
    options: {
      retryPolicy: retryForever,
      ingressPrivate: true,
      journalRetention: 0,
      idempotencyRetention: DAY_MS,
    },
    handlers: {
      run,
      watch,
      deliver: (ctx: Context, given: Letter) => deliver(ctx, access, given),
    },
  });
}

function optionsOf(definition: AgentDefinition): AgentOptions {
  const { name, apiKey, streamsUrl, catalogUrl, catalogToken } = definition;
  return {
    gatewayUrl: checkedUrl('gatewayUrl', definition.gatewayUrl),
    apiKey,
    ...(streamsUrl !== undefined && { streamsUrl }),
    ...(catalogUrl && { catalogUrl: checkedUrl('catalogUrl', catalogUrl) }),
    ...(catalogToken && { catalogToken }),
    rowService: `${name}Row`,
  };
}

/** Without a slash at its end. */
function checkedUrl(setting: string, text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new TypeError(`${setting} must be an http or https URL, such as http://localhost:8787.`);
  }
  return text.replace(/\/+$/, '');
}
