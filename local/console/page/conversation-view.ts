import type {
  Invocation,
  Note,
  ToolCall,
  Turn,
  TurnPart,
} from '../../../packages/client/src/index.ts';
import { agentLink, type AgentAddress } from './agent-address.ts';
import { decisionForm } from './decision-form.ts';
import { byId, element } from './element.ts';
import { decisionWords, noteText, plain, traceOf, type Event } from './event-text.ts';
import { markdown } from './markdown.ts';
import { copyButton } from './notice.ts';
import { plainText } from './plain-text.ts';
import type { Sent } from './outbox.ts';
import { duration, nextTry, timeElement } from './times.ts';
import { VirtualList } from './virtual-list.ts';

export type Entry = Turn | Note | Sent;

export interface ConversationViewOptions {
  scroller: HTMLElement;
  /** The event of a number. */
  eventOf: (seq: number | undefined) => Event | undefined;
  /** The unfinished invocation of that id, of this agent. */
  invocationOf: (id: string | undefined) => Invocation | undefined;
  /** Whose conversation it is. */
  agentOf: () => AgentAddress | undefined;
  onAgain: (key: string) => void;
  onForget: (key: string) => void;
}

const REPLY_STATES: Record<Turn['state'], string> = {
  sending: '',
  queued: 'waits for its turn',
  waiting: 'not answered yet',
  writing: 'writing…',
  asking: 'waits for a decision',
  done: '',
  stopped: 'stopped',
  failed: 'failed',
  refused: 'refused',
};

/** Shows what was said. Only the visible part of a long conversation is in the page. */
export class ConversationView {
  readonly #options: ConversationViewOptions;
  readonly #list: VirtualList<Entry>;
  /** What each line shows: an entry that has changed is another object. */
  readonly #versions = new WeakMap<HTMLElement, Entry | string>();
  readonly #parts = new WeakMap<TurnPart, HTMLElement>();

  constructor(options: ConversationViewOptions) {
    this.#options = options;
    this.#list = new VirtualList<Entry>({
      scroller: options.scroller,
      list: byId('conversation'),
      keyOf: ({ key }) => key,
      estimatePx: 84,
      render: ({ key }) => element('li', { dataset: { key } }),
      update: (line, entry) => this.#update(line, entry),
    });
  }

  get isAtEnd(): boolean {
    return this.#list.isAtEnd;
  }

  show(entries: readonly Entry[]): void {
    this.#list.show(entries);
  }

  clear(): void {
    this.#list.clear();
  }

  scrollToEnd(): void {
    this.#list.scrollToEnd();
  }

  #update(line: HTMLElement, entry: Entry): void {
    // An unchanged entry keeps its elements, and with them a selection of text.
    const version = entry.kind === 'sent' ? `${entry.state} ${this.#sentText(entry)}` : entry;
    if (this.#versions.get(line) === version) return;
    this.#versions.set(line, version);
    line.className = `item ${entry.kind}`;
    const focused = line.contains(document.activeElement) ? document.activeElement : null;
    line.replaceChildren(...this.#partsOf(line, entry));
    if (focused instanceof HTMLElement) focused.focus();
  }

  /** An entry that cannot be shown must not hide the others. */
  #partsOf(line: HTMLElement, entry: Entry): Node[] {
    try {
      if (entry.kind === 'turn') return this.#turnParts(entry);
      return entry.kind === 'sent' ? this.#sentParts(line, entry) : noteParts(line, entry);
    } catch (error) {
      const why = `This cannot be shown: ${(error as Error).message}`;
      return [element('p', { className: 'failure' }, why), plainText(plain(entry))];
    }
  }

  #turnParts(turn: Turn): Node[] {
    const { message, seq, beganAt } = turn;
    const event = this.#options.eventOf(seq);
    const parts: Node[] = [];
    if (message) {
      const ids = idButtons(message.requestId, traceOf(event));
      const text = message.text || message.content.map(plain).join('\n');
      parts.push(block('message', [who('Message'), timeElement(beganAt), ...ids], text));
    }
    if (turn.state !== 'sending') parts.push(replyBlock(turn, (part) => this.#partElement(part)));
    return parts;
  }

  /** A part that has not changed keeps its element, and with it what was typed into it. */
  #partElement(part: TurnPart): HTMLElement {
    const made = this.#parts.get(part) ?? partElement(part, this.#options.agentOf());
    this.#parts.set(part, made);
    return made;
  }

  #sentParts(line: HTMLElement, sent: Sent): Node[] {
    line.dataset.state = sent.state;
    const isMessage = sent.what === 'message';
    const head: Node[] = [who(isMessage ? 'Message' : sent.what), timeElement(sent.at)];
    head.push(...idButtons(sent.key, undefined));
    if (sent.invocationId) head.push(copyButton('Copy invocation', sent.invocationId));
    const said = element('p', { className: 'state', dataset: { testid: 'sent-state' } });
    said.textContent = this.#sentText(sent);
    return [
      block('message', head, isMessage ? sent.text : '', isMessage ? 'sent-message' : 'sent-verb'),
      said,
      element('p', { className: 'actions' }, ...this.#sentActions(sent)),
    ];
  }

  #sentActions({ key, state }: Sent): Node[] {
    const made = (label: string, act: (key: string) => void): HTMLElement => {
      const button = element('button', { type: 'button', className: 'small' }, label);
      button.addEventListener('click', () => act(key));
      return button;
    };
    const { onAgain, onForget } = this.#options;
    const again = state === 'accepted' || state === 'sending' ? [] : [made('Send again', onAgain)];
    return state === 'accepted'
      ? []
      : [...again, made(state === 'sending' ? 'Do not send' : 'Remove', onForget)];
  }

  #sentText({ state, why = '', invocationId }: Sent): string {
    if (state === 'sending') return why ? `Not delivered yet: ${why} Trying again…` : 'Sending…';
    if (state === 'refused') return `Refused: ${why}`;
    if (state === 'unsent') return `Not known to be delivered: ${why} Sent again, it arrives once.`;
    if (state === 'ended') return 'Its invocation has ended, and the agent wrote nothing of it.';
    const invocation = this.#options.invocationOf(invocationId);
    const waits = `Accepted by Restate, not taken by the agent yet`;
    if (!invocation) return `${waits}.`;
    const { status, tries, lastFailure, nextTryAt } = invocation;
    if (lastFailure === undefined) return `${waits} (${status}).`;
    const [first] = lastFailure.split('\n');
    return `${waits}: attempt ${tries} failed: ${first} ${nextTry(nextTryAt)}`.trim();
  }
}

function replyBlock(turn: Turn, shown: (part: TurnPart) => HTMLElement): HTMLElement {
  const { state, ahead, parts, beganAt, endedAt, stoppedBy, error } = turn;
  const isOver = endedAt !== undefined;
  const others = ahead === 1 ? '1 other' : `${ahead} others`;
  const head = [
    who('Agent'),
    ...(isOver ? [timeElement(endedAt)] : []),
    element('span', { className: 'took' }, isOver ? duration(beganAt, endedAt) : ''),
    element(
      'span',
      { className: 'state', dataset: { testid: 'reply-state' } },
      state === 'queued' ? `waits for ${others}` : REPLY_STATES[state],
    ),
  ];
  const isEmpty = parts.length === 0 && state === 'done';
  const empty = element('p', { className: 'dim' }, 'An empty reply.');
  return element(
    'div',
    { className: 'reply', dataset: { testid: 'reply', state } },
    element('p', { className: 'head' }, ...head),
    ...parts.map(shown),
    ...(isEmpty ? [textElement(empty)] : []),
    ...(stoppedBy ? [element('p', { className: 'stopped' }, stopText(stoppedBy))] : []),
    ...(error === undefined
      ? []
      : [element('pre', { className: 'failure', tabIndex: 0 }, plainText(error))]),
  );
}

function partElement(part: TurnPart, agent: AgentAddress | undefined): HTMLElement {
  switch (part.type) {
    case 'text':
      return textElement(markdown(part.text));
    case 'reasoning':
      return element('div', { className: 'reasoning' }, plainText(part.text));
    case 'tool':
      return isAsking(part) && agent
        ? element(
            'div',
            { className: 'asking' },
            toolLine(part),
            decisionForm({ agent: `${agent.type}/${agent.id}`, call: part.id, name: part.name }),
          )
        : toolLine(part);
    case 'data':
      return element(
        'div',
        { className: 'tool' },
        element('code', {}, plainText(plain(part.data))),
      );
  }
}

function isAsking({ state, decision }: ToolCall): boolean {
  return state === 'waiting' && !decision;
}

function textElement(said: Node): HTMLElement {
  return element(
    'div',
    { className: 'body md', dir: 'auto', dataset: { testid: 'reply-text' } },
    said,
  );
}

function stopText({ verb, reason }: NonNullable<Turn['stoppedBy']>): string {
  const by = verb === 'stop' ? 'Stopped' : `Stopped by ${verb}`;
  const what = verb === 'withdraw' ? 'Withdrawn' : by;
  return reason ? `${what}: ${reason}.` : `${what}.`;
}

function toolLine({ name, state, input, output, error, url, decision }: ToolCall): HTMLElement {
  const data = [input, error ?? output].filter((part) => part !== undefined).map(plain);
  return element(
    'p',
    { className: 'tool', dataset: { state, testid: 'tool' } },
    element('b', {}, name),
    ` ${state === 'waiting' && !decision ? 'waits for a decision' : state} `,
    element('code', {}, plainText(data.join(' → '))),
    ...(decision ? [` ${decisionWords({ ...decision })}`] : []),
    ...(url === undefined ? [] : [' ', agentLink(url)]),
  );
}

function block(className: string, head: Node[], text: string, testid = className): HTMLElement {
  const body = element('div', { className: 'body md', dir: 'auto' });
  if (text !== '') body.append(markdown(text));
  return element(
    'div',
    { className, dataset: { testid } },
    element('p', { className: 'head' }, ...head),
    ...(text === '' ? [] : [body]),
  );
}

function who(name: string): HTMLElement {
  return element('span', { className: 'who' }, name);
}

function idButtons(requestId: string | undefined, trace: string | undefined): Node[] {
  return [
    ...(requestId ? [copyButton('Copy request', requestId)] : []),
    ...(trace ? [copyButton('Copy trace', trace)] : []),
  ];
}

function noteParts(line: HTMLElement, note: Note): Node[] {
  line.dataset.what = note.what;
  line.dataset.testid = 'note';
  const event = note.event as Event | undefined;
  const { text, url } = noteText(note);
  return [
    element('span', { className: 'what' }, note.what),
    element('span', { className: 'said' }, plainText(text), ...(url ? [' ', agentLink(url)] : [])),
    event?.at === undefined ? element('span') : timeElement(event.at),
  ];
}
