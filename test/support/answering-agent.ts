import { object, TerminalError, type ObjectContext } from '@restatedev/restate-sdk';
import {
  command,
  openEntity,
  readControl,
  record,
  requestIdOf,
  retryForever,
  type AgentOptions,
  type Entity,
  type NewEvent,
} from '../../packages/client/src/agent/index.ts';

/** The seq and the words of a reply that waits for an interrupt. */
type Held = Entity & { held?: { replyTo: number; said: string } };

/**
 * An agent that does what a message says: `say a b` writes these words and a reply, `slow a b` with a pause before each
 * word, `hold a b` waits for an interrupt after them. `fail`, `refuse`, `archived` and `silent` end without a reply, and
 * `throw` is retried forever.
 */
export function answeringAgent(name: string, options: AgentOptions) {
  return object({
    name,
    options: { retryPolicy: retryForever },
    handlers: {
      spawn: command(async (ctx) => void (await openEntity(ctx, options))),
      wake: command(async (ctx, body) => {
        const self = await openEntity<Held>(ctx, options);
        await receive(ctx, options, self, new TextDecoder().decode(body));
      }),
      control: command(async (ctx, body) => {
        const self = await openEntity<Held>(ctx, options);
        const control = readControl(body);
        if (control?.verb !== 'interrupt') throw new TerminalError('only an interrupt');
        const { held } = self;
        if (!held) return;
        delete self.held;
        const stopped = { ...control, ...requestIdOf(ctx) } as NewEvent['stopped'];
        await record(ctx, options, self, [{ ...replyOf(held.replyTo, held.said), stopped }]);
      }),
    },
  });
}

async function receive(
  ctx: ObjectContext,
  options: AgentOptions,
  self: Held,
  message: string,
): Promise<void> {
  const [verb, ...words] = message.split(' ');
  const write = (...events: NewEvent[]) => record(ctx, options, self, events);
  if (verb === 'throw') throw new Error('the model is away');
  if (verb === 'silent') return;
  if (verb === 'refuse' || verb === 'archived') {
    const reason = verb === 'archived' ? 'archived' : 'inbox full';
    return write({ kind: 'refused', reason, ...requestIdOf(ctx) });
  }
  const replyTo = self.timeline.nextSeq;
  const content = [{ type: 'text', text: message }];
  await write({ kind: 'message', content, ...requestIdOf(ctx) });
  if (verb === 'fail') return write({ kind: 'error', replyTo, message: 'no model' });
  for (const [index, word] of words.entries()) {
    if (verb === 'slow') await ctx.sleep(10);
    await write({ kind: 'word', replyTo, index, text: `${index === 0 ? '' : ' '}${word}` });
  }
  if (verb !== 'hold') return write(replyOf(replyTo, words.join(' ')));
  self.held = { replyTo, said: words.join(' ') };
  return write({ kind: 'status', status: 'running' });
}

function replyOf(replyTo: number, said: string): NewEvent {
  return { kind: 'reply', replyTo, content: [{ type: 'text', text: said }] };
}
