import { handlers, object, serde, TerminalError } from '@restatedev/restate-sdk';
import type { ObjectContext } from '@restatedev/restate-sdk';
import {
  command,
  findEntity,
  keepRow,
  openEntity,
  readControl,
  readMessage,
  readSpawn,
  record,
  requestIdOf,
  retryForever,
} from '../../packages/client/src/agent/index.ts';
import type { AgentOptions, NewEvent } from '../../packages/client/src/agent/index.ts';
import { spawnChild } from './child.ts';
import { begin, control as applyControl, receive, sayWord } from './conversation.ts';
import type { Assistant } from './conversation.ts';
import { planReply } from './reply.ts';

const NAME = 'assistant';

export interface AssistantOptions extends AgentOptions {
  /** The pause between two words of a streamed reply. */
  wordDelayMs: number;
}

/**
 * An agent that says its reply word by word, each word an event. Restate runs one invocation of an entity at a
 * time, so a handler that said a whole reply would delay an interrupt until its end. Here every word is an
 * invocation: `step` says one word and sends itself the next, and other messages run in between. Messages that
 * arrive during a reply wait in the entity's inbox.
 */
export function assistantAgent(options: AssistantOptions) {
  return object({
    name: NAME,
    options: { retryPolicy: retryForever },
    handlers: {
      spawn: command(async (ctx, body) => {
        const spawn = readSpawn(body);
        if (!spawn) throw new TerminalError('not a spawn', { errorCode: 400 });
        await openEntity(ctx, options, spawn);
      }),

      wake: command(async (ctx, body) => {
        const self = await openEntity<Assistant>(ctx, options);
        await change(ctx, options, self, () => receive(self, readMessage(body), requestIdOf(ctx)));
      }),

      control: command(async (ctx, body) => {
        const verb = readControl(body);
        const self = await findEntity<Assistant>(ctx, options);
        if (!verb || !self) throw new TerminalError('nothing to control', { errorCode: 404 });
        await change(ctx, options, self, () => applyControl(self, verb, requestIdOf(ctx)));
      }),

      step: handlers.object.exclusive(
        { ingressPrivate: true, journalRetention: 0 },
        async (ctx: ObjectContext, step: number) => {
          const self = await findEntity<Assistant>(ctx, options);
          if (self?.status !== 'running' || step !== nextStepOf(self)) return;
          const opening = self.reply ? [] : await open(ctx, options, self);
          self.nextStep = step + 1;
          await change(ctx, options, self, () => [...opening, ...sayWord(self)]);
        },
      ),
    },
  });
}

/** Decides, stores the events, updates the row, and ensures that a reply continues. */
async function change(
  ctx: ObjectContext,
  options: AssistantOptions,
  self: Assistant,
  decide: () => NewEvent[],
): Promise<void> {
  const statusBefore = self.status;
  await record(ctx, options, self, decide());
  if (self.status !== statusBefore) await keepRow(ctx, options, self);
  // A step is sent even if one is already on its way. Of two with the same number the later one does nothing. So a
  // reply continues even if an operator has killed its step.
  if (self.status === 'running') {
    ctx.genericSend({
      service: NAME,
      method: 'step',
      key: ctx.key,
      parameter: nextStepOf(self),
      inputSerde: serde.json,
      delay: options.wordDelayMs,
    });
  }
}

/** Begins the reply to the oldest message in the inbox. */
async function open(
  ctx: ObjectContext,
  options: AssistantOptions,
  self: Assistant,
): Promise<NewEvent[]> {
  const question = self.inbox?.[0];
  if (!question) return [];
  const { words, child } = planReply(question.text, new Date(await ctx.date.now()));
  if (!child) {
    begin(self, words);
    return [];
  }
  const spawned = await spawnChild(ctx, options, self.url, child);
  if ('refusal' in spawned) {
    begin(self, ['I', 'cannot', 'spawn', 'that.']);
    return [{ kind: 'error', message: `child refused: ${spawned.refusal}`, replyTo: question.seq }];
  }
  begin(self, [...words, spawned.url]);
  return [{ kind: 'child', url: spawned.url, replyTo: question.seq }];
}

function nextStepOf(self: Assistant): number {
  return self.nextStep ?? 0;
}
