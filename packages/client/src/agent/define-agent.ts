import {
  CancelledError,
  handlers,
  object,
  serde,
  service,
  TerminalError,
} from '@restatedev/restate-sdk';
import type { Context, ServiceDefinition, VirtualObjectDefinition } from '@restatedev/restate-sdk';
import { AgentEntity, type Work, type Write } from './agent-entity.ts';
import { answer, type AnswerOptions } from './answer.ts';
import { catalogRowWriter } from './catalog-row.ts';
import { command, type AgentOptions } from './entity.ts';
import { retryForever } from './retry-forever.ts';
import type { NewEvent } from './timeline.ts';
import { traceOf } from './trace.ts';

/** An agent with a model, and how it answers. */
export interface AgentDefinition
  extends
    Omit<AgentOptions, 'rowService'>,
    Pick<AnswerOptions, 'generate' | 'tools' | 'batchMs' | 'maxToolCalls'> {
  /** The entity type. */
  name: string;
  /** The most messages that wait. Default 20. */
  maxWaiting?: number;
}

/** What `defineAgent` makes, to be served. */
export interface Agent {
  name: string;
  /** The services of Restate that make the agent: all of them belong to one deployment. */
  services: (VirtualObjectDefinition<string, unknown> | ServiceDefinition<string, unknown>)[];
}

const DEFAULT_MAX_WAITING = 20;

/**
 * An agent that answers each message with `generate`. An invocation of its own answers a message, and gives its events
 * to the entity, whose handlers are short. So a command is applied at once, whatever the answer is doing. Throws a
 * TypeError for an address that is not http or https.
 */
export function defineAgent(definition: AgentDefinition): Agent {
  const { name, maxWaiting = DEFAULT_MAX_WAITING } = definition;
  const options = optionsOf(definition);
  const entity = new AgentEntity(options, `${name}Turn`, maxWaiting);
  const { catalogUrl, rowService } = options;
  const services: Agent['services'] = [
    object({
      name,
      options: { retryPolicy: retryForever, enableLazyState: true },
      handlers: {
        spawn: command(entity.spawn),
        wake: command(entity.wake),
        control: command(entity.control),
        write: handlers.object.exclusive(
          {
            ingressPrivate: true,
            journalRetention: 0,
            input: serde.json,
            output: serde.json,
            // A cancelled answer also cancels its calls. One that is being recorded is recorded to its end.
            explicitCancellation: true,
          },
          entity.write,
        ),
      },
    }),
    turnService(definition),
  ];
  if (catalogUrl !== undefined) services.push(catalogRowWriter(catalogUrl, rowService));
  return { name, services };
}

/** Answers one message in each invocation. */
function turnService(definition: AgentDefinition) {
  const run = async (ctx: Context, { key, number, ...turn }: Work): Promise<void> => {
    const write = (events: NewEvent[]) =>
      ctx.genericCall<Write, boolean>({
        service: definition.name,
        method: 'write',
        key,
        parameter: { number, replyTo: turn.replyTo, events },
        inputSerde: serde.json,
        outputSerde: serde.json,
        headers: traceOf(ctx),
      });
    try {
      await answer(ctx, { ...definition, ...turn, record: write });
    } catch (error) {
      if (error instanceof CancelledError || !(error instanceof TerminalError)) throw error;
      await write([{ kind: 'error', message: error.message, replyTo: turn.replyTo }]);
    }
  };
  const options = { retryPolicy: retryForever, ingressPrivate: true, journalRetention: 0 };
  return service({ name: `${definition.name}Turn`, options, handlers: { run } });
}

function optionsOf(definition: AgentDefinition): AgentOptions {
  const { name, apiKey, streamsUrl, catalogUrl } = definition;
  return {
    gatewayUrl: checkedUrl('gatewayUrl', definition.gatewayUrl),
    apiKey,
    ...(streamsUrl !== undefined && { streamsUrl }),
    ...(catalogUrl && { catalogUrl: checkedUrl('catalogUrl', catalogUrl) }),
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
