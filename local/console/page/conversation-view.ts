import { agentLink } from './agent-address.ts';
import {
  replyText,
  type Conversation,
  type ConversationItem,
  type MessageItem,
  type NoteItem,
  type ReplyItem,
} from './conversation.ts';
import { byId, element } from './element.ts';
import { markdown } from './markdown.ts';
import { duration, timeElement } from './times.ts';
import { VirtualList } from './virtual-list.ts';

const SNIPPET_LENGTH = 60;

/** Shows a conversation. Only the visible part of a long one is in the page. */
export class ConversationView {
  readonly #list: VirtualList<ConversationItem>;
  #conversation: Conversation | undefined;

  constructor(scroller: HTMLElement) {
    this.#list = new VirtualList<ConversationItem>({
      scroller,
      list: byId('conversation'),
      keyOf: ({ key }) => key,
      estimatePx: 84,
      render: ({ kind, key }) =>
        element('li', { className: `item ${kind}`, dataset: { testid: kind, key } }),
      update: (line, item) => this.#update(line, item),
    });
  }

  get isAtEnd(): boolean {
    return this.#list.isAtEnd;
  }

  show(conversation: Conversation): void {
    this.#conversation = conversation;
    this.#list.show(conversation.items);
  }

  clear(): void {
    this.#list.clear();
  }

  scrollToEnd(): void {
    this.#list.scrollToEnd();
  }

  #update(line: HTMLElement, item: ConversationItem): void {
    // An unchanged item keeps its elements, and with them a selection of text.
    const version = item.kind === 'reply' ? `${item.state} ${item.words.length}` : 'shown';
    if (line.dataset.version === version) return;
    line.dataset.version = version;
    if (item.seq !== undefined) line.dataset.seq = String(item.seq);
    if (item.kind === 'message') line.replaceChildren(...messageParts(item));
    else if (item.kind === 'note') line.replaceChildren(...noteParts(line, item));
    else line.replaceChildren(...this.#replyParts(line, item));
  }

  #replyParts(line: HTMLElement, reply: ReplyItem): Node[] {
    line.dataset.state = reply.state;
    const message = this.#conversation?.messageOf(reply);
    const states = { writing: 'writing…', done: '', interrupted: 'stopped', failed: 'failed' };
    const took = duration(message?.at ?? reply.at, reply.endedAt);
    const head = element(
      'p',
      { className: 'head' },
      element('span', { className: 'who' }, 'Agent'),
      timeElement(reply.endedAt ?? reply.at),
      element('span', { className: 'took' }, reply.state === 'writing' ? '' : took),
      element(
        'span',
        { className: 'state', dataset: { testid: 'reply-state' } },
        states[reply.state],
      ),
    );
    const body = element('div', { className: 'body md', dataset: { testid: 'reply-text' } });
    body.append(markdown(replyText(reply)));
    return [head, ...this.#answers(message), body];
  }

  /** The button that leads from a reply to its message. */
  #answers(message: MessageItem | undefined): Node[] {
    if (!message) return [];
    const text =
      message.text.length > SNIPPET_LENGTH
        ? `${message.text.slice(0, SNIPPET_LENGTH)}…`
        : message.text;
    const button = element(
      'button',
      { type: 'button', className: 'answers', dataset: { testid: 'answers' } },
      `↳ ${text}`,
    );
    button.setAttribute('aria-label', `Go to the message that this answers: ${text}`);
    button.addEventListener('click', () => {
      const index = this.#conversation?.items.indexOf(message) ?? -1;
      const line = this.#list.reveal(index);
      if (!line) return;
      line.tabIndex = -1;
      line.focus();
    });
    return [button];
  }
}

function messageParts({ at, text }: MessageItem): Node[] {
  const head = element(
    'p',
    { className: 'head' },
    element('span', { className: 'who' }, 'Message'),
    timeElement(at),
  );
  const body = element('div', { className: 'body md' });
  body.append(markdown(text));
  return [head, body];
}

function noteParts(line: HTMLElement, { what, at, text, agentUrl }: NoteItem): Node[] {
  line.dataset.what = what;
  return [
    element('span', { className: 'what' }, what),
    element('span', { className: 'said' }, text, ...(agentUrl ? [' ', agentLink(agentUrl)] : [])),
    at === undefined ? element('span') : timeElement(at),
  ];
}
