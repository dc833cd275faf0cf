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

/** An open turn: the seq of its message, and what was said. */
interface Held {
  replyTo: number;
  said: string;
}

/** The turns that wait for a stop, by their names, the latest last, and where each turn begins. */
type Holding = Entity & { held?: Record<string, Held>; begins?: Record<string, string> };

/**
 * What the agent does when it is asked where a turn begins: it says so, says another place or none, or is silent. `unknown`: it
 * is of a time when turns had no names, and it takes the question for a message that it cannot read.
 */
export type Locates = 'place' | 'end' | 'nonsense' | 'no place' | 'silent' | 'unknown';

/**
 * An agent that does what a message says: `say a b` writes these words and a reply, `slow a b` with a pause before each
 * word, `hold a b` waits for a stop or an interrupt after them. `fail`, `refuse`, `archived` and `silent` end without a reply,
 * and `throw` is retried forever. `behind`, `paused` and `trouble` write why no answer begins, and `thinks`, `asks` and `gives`
 * begin without a word.
 */
export function answeringAgent(name: string, options: AgentOptions, locates: Locates = 'place') {
  return object({
    name,
    options: { retryPolicy: retryForever },
    handlers: {
      spawn: command(async (ctx) => void (await openEntity(ctx, options))),
      wake: command(async (ctx, body) => {
        const self = await openEntity<Holding>(ctx, options);
        const message = new TextDecoder().decode(body);
        const agent = new Answering(ctx, options, self, locates);
        await (message.startsWith('{')
          ? agent.obey(JSON.parse(message) as Record<string, unknown>)
          : agent.receive(message));
      }),
      control: command(async (ctx, body) => {
        const self = await openEntity<Holding>(ctx, options);
        const control = readControl(body);
        if (control?.verb !== 'interrupt') throw new TerminalError('only an interrupt');
        const last = Object.keys(self.held ?? {}).at(-1);
        if (last !== undefined) await new Answering(ctx, options, self, locates).end(last, control);
      }),
    },
  });
}

class Answering {
  readonly #ctx: ObjectContext;
  readonly #options: AgentOptions;
  readonly #self: Holding;
  readonly #locates: Locates;
  readonly #named: { invocationId?: string; requestId?: string };

  constructor(ctx: ObjectContext, options: AgentOptions, self: Holding, locates: Locates) {
    this.#ctx = ctx;
    this.#options = options;
    this.#self = self;
    this.#locates = locates;
    const { invocationId, ...request } = requestIdOf(ctx);
    this.#named = { ...(locates !== 'unknown' && { invocationId }), ...request };
  }

  /** A body with a kind of its own. */
  async obey({ kind, invocationId, reason }: Record<string, unknown>): Promise<void> {
    const id = String(invocationId);
    if (this.#locates === 'unknown') {
      return this.#write({ kind: 'error', message: 'no message', ...this.#named });
    }
    if (kind === 'stop') {
      const why = typeof reason === 'string' ? { reason } : {};
      return this.#self.held?.[id] ? this.end(id, { verb: 'stop', ...why }) : undefined;
    }
    if (kind !== 'locate' || this.#locates === 'silent') return;
    const offset = {
      place: this.#self.begins?.[id],
      end: this.#locates === 'end' ? await this.#endOfTimeline() : undefined,
      nonsense: 'nonsense',
      'no place': undefined,
    }[this.#locates];
    await this.#write({ kind: 'located', invocationId: id, ...(offset && { offset }) });
  }

  /** Ends a turn that waits. */
  async end(id: string, stopped: { verb: string; reason?: string }): Promise<void> {
    const { replyTo = 0, said = '' } = this.#self.held?.[id] ?? {};
    delete this.#self.held?.[id];
    const by = { ...stopped, ...this.#named };
    await this.#write({ ...replyOf(replyTo, said), stopped: by });
  }

  async receive(message: string): Promise<void> {
    const [verb = '', ...words] = message.split(' ');
    if (verb === 'throw') throw new Error('the model is away');
    if (verb === 'silent') return;
    if (verb === 'refuse' || verb === 'archived') {
      const reason = verb === 'archived' ? 'archived' : 'inbox full';
      return this.#write({ kind: 'refused', reason, ...this.#named });
    }
    const replyTo = this.#self.timeline.nextSeq;
    const id = this.#ctx.request().id.toString();
    this.#self.begins = { ...this.#self.begins, [id]: await this.#endOfTimeline() };
    const begins = WITHOUT_WORDS[verb];
    const holds = verb === 'hold' || verb === 'behind' || begins !== undefined;
    const said = begins ? '' : words.join(' ');
    if (holds) this.#self.held = { ...this.#self.held, [id]: { replyTo, said } };
    const content = [{ type: 'text', text: message }];
    const ahead = verb === 'behind' ? { ahead: Number(words[0]) } : {};
    await this.#write({ kind: 'message', content, ...this.#named, ...ahead });
    if (verb === 'fail') return this.#write({ kind: 'error', replyTo, message: 'no model' });
    if (begins) return this.#write({ ...begins, ...('replyTo' in begins && { replyTo }) });
    if (verb === 'behind') return;
    for (const [index, word] of words.entries()) {
      if (verb === 'slow') await this.#ctx.sleep(10);
      await this.#write({ kind: 'word', replyTo, index, text: `${index === 0 ? '' : ' '}${word}` });
    }
    if (!holds) await this.#write(replyOf(replyTo, said));
  }

  #write(event: NewEvent): Promise<void> {
    return record(this.#ctx, this.#options, this.#self, [event]);
  }

  #endOfTimeline(): Promise<string> {
    const { gatewayUrl, streamsUrl = `${gatewayUrl}/streams` } = this.#options;
    const url = `${streamsUrl}${this.#self.timeline.stream}`;
    return this.#ctx.run('end of the timeline', async () => {
      const { headers } = await fetch(url, { method: 'HEAD' });
      return headers.get('stream-next-offset') ?? '-1';
    });
  }
}

/** What these messages write in place of words. */
const WITHOUT_WORDS: Record<string, NewEvent> = {
  paused: { kind: 'status', status: 'paused', verb: 'pause' },
  trouble: { kind: 'status', status: 'failing', attempt: 2, reason: 'the model is away' },
  thinks: { kind: 'reasoning', replyTo: 0, text: 'Hm.' },
  asks: { kind: 'tool', replyTo: 0, id: 'x.1', name: 'refund', state: 'waiting', input: 90 },
  gives: { kind: 'data', replyTo: 0, data: { order: 7 } },
};

function replyOf(replyTo: number, said: string): NewEvent {
  return { kind: 'reply', replyTo, content: [{ type: 'text', text: said }] };
}
