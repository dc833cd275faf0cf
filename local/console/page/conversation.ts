import type { TimelineEvent as NumberedEvent } from '../../../packages/client/src/index.ts';

/** An event with fields of its own. */
export interface TimelineEvent extends NumberedEvent {
  // oxlint-disable-next-line typescript/no-explicit-any -- what it is depends on the kind
  [name: string]: any;
}

interface ItemBase {
  key: string;
  /** The time of its first event. */
  seq: number | undefined;
  at: string | undefined;
}

/** A message to the agent. */
export interface MessageItem extends ItemBase {
  kind: 'message';
  text: string;
}

/** The agent's reply to a message: its words as they arrive, and then the whole. */
export interface ReplyItem extends ItemBase {
  kind: 'reply';
  replyTo: number | undefined;
  words: string[];
  /** The whole reply, once it is complete. */
  text: string | undefined;
  state: 'writing' | 'done' | 'interrupted' | 'failed';
  /** The time of its last event. */
  endedAt: string | undefined;
}

/** Anything else that happened. */
export interface NoteItem extends ItemBase {
  kind: 'note';
  /** The kind of the event, or `gap`. */
  what: string;
  text: string;
  /** The URL of an agent that the event mentions. */
  agentUrl: string | undefined;
}

export type ConversationItem = MessageItem | ReplyItem | NoteItem;

/** Fields that are shown elsewhere or are of no interest to a reader. */
const STANDARD_FIELDS = new Set(['seq', 'at', 'kind', 'requestId', 'replyTo']);

/** A timeline as a conversation. The events are those of docs/agents.md; of other kinds all fields are shown. */
export class Conversation {
  readonly items: ConversationItem[] = [];
  readonly #replies = new Map<number, ReplyItem>();
  readonly #messages = new Map<number, MessageItem>();
  #unnumbered = 0;

  add(event: TimelineEvent): void {
    const { seq, at, kind, replyTo } = event;
    const base = {
      key: typeof seq === 'number' ? String(seq) : `x${(this.#unnumbered += 1)}`,
      seq: typeof seq === 'number' ? seq : undefined,
      at: typeof at === 'string' ? at : undefined,
    };
    if (kind === 'message') {
      const item: MessageItem = { ...base, kind, text: contentText(event) };
      if (item.seq !== undefined) this.#messages.set(item.seq, item);
      this.items.push(item);
    } else if (kind === 'word' && typeof event.text === 'string') {
      const reply = this.#replyTo(replyTo, base);
      reply.words.push(event.text);
      reply.endedAt = base.at;
    } else if (kind === 'reply') {
      const reply = this.#replyTo(replyTo, base);
      reply.text = contentText(event);
      reply.state = event.stopped === undefined ? 'done' : 'interrupted';
      reply.endedAt = base.at;
    } else if (kind === 'interrupted' && typeof replyTo === 'number') {
      const reply = this.#replyTo(replyTo, base);
      reply.state = 'interrupted';
      reply.endedAt = base.at;
    } else {
      const reply = kind === 'error' ? this.#replies.get(Number(replyTo)) : undefined;
      if (reply) Object.assign(reply, { state: 'failed', endedAt: base.at });
      this.items.push(noteOf(event, base));
    }
  }

  /** Missing numbers of the timeline. */
  addGap(expectedSeq: number, receivedSeq: number): void {
    const last = receivedSeq - 1;
    const text =
      last === expectedSeq
        ? `Event ${expectedSeq} is missing.`
        : `Events ${expectedSeq} to ${last} are missing.`;
    this.items.push({
      key: `gap${expectedSeq}`,
      seq: undefined,
      at: undefined,
      kind: 'note',
      what: 'gap',
      text,
      agentUrl: undefined,
    });
  }

  /** The message that a reply answers. */
  messageOf({ replyTo }: ReplyItem): MessageItem | undefined {
    return replyTo === undefined ? undefined : this.#messages.get(replyTo);
  }

  #replyTo(replyTo: unknown, base: ItemBase): ReplyItem {
    const to = typeof replyTo === 'number' ? replyTo : undefined;
    const known = to === undefined ? undefined : this.#replies.get(to);
    if (known) return known;
    const reply: ReplyItem = {
      ...base,
      kind: 'reply',
      replyTo: to,
      words: [],
      text: undefined,
      state: 'writing',
      endedAt: undefined,
    };
    if (to !== undefined) this.#replies.set(to, reply);
    this.items.push(reply);
    return reply;
  }
}

/** The text of a reply so far. */
export function replyText({ text, words }: ReplyItem): string {
  return text ?? words.join('');
}

function noteOf(event: TimelineEvent, base: ItemBase): NoteItem {
  const what = typeof event.kind === 'string' ? event.kind : 'event';
  const mayHaveAgent = what === 'child' || what === 'tool';
  const agentUrl = mayHaveAgent && typeof event.url === 'string' ? event.url : undefined;
  return { ...base, kind: 'note', what, text: noteText(event), agentUrl };
}

function noteText(event: TimelineEvent): string {
  const { kind, verb, reason, status, attempt, message } = event;
  if (kind === 'status' || kind === 'control') {
    const why = [attempt && `attempt ${attempt}`, reason].filter(Boolean).join(': ');
    return [verb, why && `(${why})`, '→', status].filter(Boolean).join(' ');
  }
  if (kind === 'tool') return toolText(event);
  if ((kind === 'refused' || kind === 'rejected') && typeof reason === 'string')
    return `A command was refused: ${reason}.`;
  if (kind === 'error' && typeof message === 'string') return message;
  if (kind === 'child') return 'It has spawned';
  const entries = Object.entries(event).filter(([name]) => !STANDARD_FIELDS.has(name));
  return entries.map(([name, value]) => `${name}: ${plain(value)}`).join(', ');
}

function toolText({ name, state, input, output, error, url }: TimelineEvent): string {
  const data = state === 'called' ? input : (error ?? (url === undefined ? output : undefined));
  return [name, state, data === undefined ? '' : plain(data)].filter(Boolean).map(String).join(' ');
}

/** Text parts unchanged, others as JSON. Some agents write only `text`. */
export function contentText({ content, text }: Record<string, unknown>): string {
  if (Array.isArray(content)) {
    return content.map((part: unknown) => partText(part)).join('\n');
  }
  return typeof text === 'string' ? text : content === undefined ? '' : plain(content);
}

function partText(part: unknown): string {
  const { type, text } = (part ?? {}) as Record<string, unknown>;
  return type === 'text' && typeof text === 'string' ? text : plain(part);
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
