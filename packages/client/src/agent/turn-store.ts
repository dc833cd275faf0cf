import type { ObjectContext } from '@restatedev/restate-sdk';
import { writeText, writtenText } from './generation.ts';
import type { PastTurn, ToolResult, WrittenPart } from './generation.ts';
import type { Json } from './json.ts';
import type { Message } from './message.ts';
import type { NewEvent } from './timeline.ts';
import type { RunningTurn, StoppedTurn } from './turn-queue.ts';

/** The history that `generate` gets has at most this many characters, and this many turns. */
const MAX_HISTORY_LENGTH = 64 * 1_024;
const MAX_TURNS = 100;

const WRITTEN = 'written';
const TURNS = 'turns';

/** The messages, the answer under way and the history of an entity: values of their own, because they are large. */
export class TurnStore {
  readonly #ctx: ObjectContext;

  constructor(ctx: ObjectContext) {
    this.#ctx = ctx;
  }

  keepMessage(seq: number, message: Message): void {
    this.#ctx.set(messageKey(seq), message);
  }

  /** What an invocation needs to answer a message, or to continue with it. */
  async read(replyTo: number) {
    const message = await this.#ctx.get<Message>(messageKey(replyTo));
    const args = await this.#ctx.get<Json>('args');
    return {
      message: message ?? { content: [], text: '' },
      turns: (await this.#ctx.get<PastTurn[]>(TURNS)) ?? [],
      written: (await this.#written()).filter(isWhole),
      ...(args !== null && { args }),
    };
  }

  /** Stores what the events add to the answer. @returns whether they end it. */
  async write(turn: RunningTurn, events: NewEvent[]): Promise<boolean> {
    const written = await this.#written();
    for (const event of events) add(written, event);
    turn.index += events.filter(({ kind }) => kind === 'word').length;
    const isOver = events.some(({ kind }) => kind === 'reply' || kind === 'error');
    if (isOver) await this.#end(turn.replyTo, writtenText(written));
    else this.#ctx.set(WRITTEN, written);
    return isOver;
  }

  /** Ends a turn before its end. @returns its last event, with what was said until then. */
  async endStopped({ replyTo, stopped }: StoppedTurn, underWay?: number): Promise<NewEvent> {
    const text = replyTo === underWay ? writtenText(await this.#written()) : '';
    await this.#end(replyTo, text);
    const content = text === '' ? [] : [{ type: 'text', text }];
    return { kind: 'reply', replyTo, content, stopped };
  }

  async #written(): Promise<WrittenPart[]> {
    return (await this.#ctx.get<WrittenPart[]>(WRITTEN)) ?? [];
  }

  async #end(replyTo: number, reply: string): Promise<void> {
    const message = await this.#ctx.get<Message>(messageKey(replyTo));
    this.#ctx.clear(WRITTEN);
    this.#ctx.clear(messageKey(replyTo));
    if (reply === '') return;
    const turns = (await this.#ctx.get<PastTurn[]>(TURNS)) ?? [];
    turns.push({ message: message?.text ?? '', reply });
    this.#ctx.set(TURNS, newest(turns));
  }
}

function messageKey(seq: number): string {
  return `message ${seq}`;
}

function add(written: WrittenPart[], { kind, ...fields }: NewEvent): void {
  if (kind === 'word') writeText(written, String(fields.text));
  if (kind !== 'tool') return;
  const { id, name, input, output, error } = fields as unknown as ToolResult;
  if (fields.state === 'called') {
    written.push({ type: 'tool', id, name, ...(input !== undefined && { input }) });
    return;
  }
  const call = written.findLast((part) => part.type === 'tool' && part.id === id);
  Object.assign(call ?? {}, { output, error });
}

/** A call without a result was cut off, and is made again. */
function isWhole(part: WrittenPart): boolean {
  return part.type === 'text' || part.output !== undefined || part.error !== undefined;
}

/** As many of the newest turns as there is room for, but at least one. */
function newest(turns: PastTurn[]): PastTurn[] {
  let length = 0;
  const kept = turns.slice(-MAX_TURNS);
  const first = kept.findLastIndex((turn) => {
    length += turn.message.length + turn.reply.length;
    return length > MAX_HISTORY_LENGTH;
  });
  return kept.slice(Math.min(first + 1, kept.length - 1));
}
