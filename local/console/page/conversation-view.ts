import type { Invocation, Note, ToolCall, Turn } from '../../../packages/client/src/index.ts';
import { agentLink } from './agent-address.ts';
import { byId, element } from './element.ts';
import { noteText, plain, traceOf, type Event } from './event-text.ts';
import { markdown } from './markdown.ts';
import { copyButton } from './notice.ts';
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
  onAgain: (key: string) => void;
  onForget: (key: string) => void;
}

const REPLY_STATES: Record<Turn['state'], string> = {
  sending: '',
  waiting: 'not answered yet',
  writing: 'writing…',
  done: '',
  stopped: 'stopped',
  failed: 'failed',
  refused: 'refused',
};

/** Shows what was said. Only the visible part of a long conversation is in the page. */
export class ConversationView {
  readonly #options: ConversationViewOptions;
  readonly #list: VirtualList<Entry>;

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
    const version = this.#versionOf(entry);
    if (line.dataset.version === version) return;
    line.dataset.version = version;
    line.className = `item ${entry.kind}`;
    if (entry.kind === 'turn') line.replaceChildren(...this.#turnParts(entry));
    else if (entry.kind === 'sent') line.replaceChildren(...this.#sentParts(line, entry));
    else line.replaceChildren(...noteParts(line, entry));
  }

  #versionOf(entry: Entry): string {
    if (entry.kind === 'note') return 'note';
    if (entry.kind === 'sent') return `sent ${entry.state} ${entry.why} ${this.#sentText(entry)}`;
    return `turn ${entry.state} ${entry.text.length} ${JSON.stringify(entry.tools)}`;
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
    if (turn.state !== 'sending') parts.push(replyBlock(turn));
    return parts;
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

function replyBlock(turn: Turn): HTMLElement {
  const { state, text, tools, beganAt, endedAt, stoppedBy, error } = turn;
  const isOver = endedAt !== undefined;
  const head = [
    who('Agent'),
    ...(isOver ? [timeElement(endedAt)] : []),
    element('span', { className: 'took' }, isOver ? duration(beganAt, endedAt) : ''),
    element(
      'span',
      { className: 'state', dataset: { testid: 'reply-state' } },
      REPLY_STATES[state],
    ),
  ];
  const body = element('div', { className: 'body md', dataset: { testid: 'reply-text' } });
  if (text !== '') body.append(markdown(text));
  else if (state === 'done') body.append(element('p', { className: 'dim' }, 'An empty reply.'));
  const by = stoppedBy && [`by ${stoppedBy.verb}`, stoppedBy.reason].filter(Boolean).join(': ');
  return element(
    'div',
    { className: 'reply', dataset: { testid: 'reply', state } },
    element('p', { className: 'head' }, ...head),
    ...tools.map(toolLine),
    ...(body.hasChildNodes() ? [body] : []),
    ...(by ? [element('p', { className: 'stopped' }, `Stopped ${by}.`)] : []),
    ...(error === undefined ? [] : [element('pre', { className: 'failure', tabIndex: 0 }, error)]),
  );
}

function toolLine({ name, state, input, output, error, url }: ToolCall): HTMLElement {
  const data = [input, error ?? output].filter((part) => part !== undefined).map(plain);
  return element(
    'p',
    { className: 'tool', dataset: { state } },
    element('b', {}, name),
    ` ${state} `,
    element('code', {}, data.join(' → ')),
    ...(url === undefined ? [] : [' ', agentLink(url)]),
  );
}

function block(className: string, head: Node[], text: string, testid = className): HTMLElement {
  const body = element('div', { className: 'body md' });
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
    element('span', { className: 'said' }, text, ...(url ? [' ', agentLink(url)] : [])),
    event?.at === undefined ? element('span') : timeElement(event.at),
  ];
}
