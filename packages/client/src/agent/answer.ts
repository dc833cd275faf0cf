import type { Context } from '@restatedev/restate-sdk';
import type { GatewayAccess } from './gateway-client.ts';
import type { PastTurn } from './generation.ts';
import type { Json } from './json.ts';
import type { Message } from './message.ts';
import type { NewEvent } from './timeline.ts';
import { TurnRun, type AnswerRules } from './turn-run.ts';

/** The message of a turn, and the model and tools that answer it. */
export interface AnswerOptions extends AnswerRules, GatewayAccess {
  /** The URL of the agent: the parent of the children that it spawns. */
  url: string;
  message: Message;
  /** The `seq` of the message. */
  replyTo: number;
  /** Writes events to the timeline, each once. False: the turn is over, and nothing more is wanted. */
  record: (events: NewEvent[]) => Promise<boolean | void>;
  turns?: PastTurn[];
  args?: Json;
}

/**
 * Answers one message with a model, within the caller's own handler, which blocks its entity meanwhile. Nothing can wait here: a call that
 * needs a person or another agent ends the turn with an error.
 */
export async function answer(ctx: Context, options: AnswerOptions): Promise<void> {
  const { replyTo, record, turns = [], ...rest } = options;
  const run = new TurnRun(ctx, {
    ...rest,
    turns,
    turn: { id: ctx.request().id, seq: replyTo, index: 0, calls: 0 },
    written: [],
    write: async ({ events, isParked }) => {
      const message = 'a call waits, which only an agent made with defineAgent can';
      const all = isParked ? [{ kind: 'error', message, replyTo }] : events;
      return all.length === 0 || (await record(all)) !== false;
    },
  });
  await run.run();
}
