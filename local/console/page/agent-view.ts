import type { EntityRow, LiveState } from '../../../packages/client/src/index.ts';
import { agentLink, type AgentAddress } from './agent-address.ts';
import { showStatus } from './catalog-view.ts';
import type { Verb } from './commands.ts';
import { ConversationView } from './conversation-view.ts';
import { contentText, Conversation, type TimelineEvent } from './conversation.ts';
import { byId, element } from './element.ts';
import { EventsView } from './events-view.ts';
import { readGateway, type Settings } from './gateway.ts';
import { isAbsent } from './status-line.ts';

export interface AgentViewOptions {
  settings: Settings;
  onState: (state: LiveState) => void;
  /** Called for every event, in order. */
  onEvent: (event: TimelineEvent) => void;
}

/** The kinds of events that screen readers announce. Every word would be too much. */
const ANNOUNCED = new Set(['reply', 'error', 'refused', 'rejected', 'interrupted']);
/** Events that arrive together are drawn together. */
const BATCH_MS = 16;

/** One agent: its timeline as a conversation and as events, and its commands. */
export class AgentView {
  readonly #options: AgentViewOptions;
  readonly #scroller = byId('timeline-scroll');
  readonly #conversationView = new ConversationView(this.#scroller);
  readonly #eventsView = new EventsView(this.#scroller);
  readonly #note = byId('timeline-empty');
  readonly #newest = byId('newest');
  readonly #announcer = byId('announcer');
  #conversation = new Conversation();
  #isRaw = false;
  #stop = new AbortController();
  #pending: TimelineEvent[] = [];
  #isAbsent = false;
  #isKnown: boolean | undefined;
  #eventCount = 0;
  /** Events that the raw view has not received yet. */
  #held: TimelineEvent[] = [];

  constructor(options: AgentViewOptions) {
    this.#options = options;
    this.#newest.addEventListener('click', () => this.#toEnd());
    this.#scroller.addEventListener('scroll', () => {
      if (this.#view.isAtEnd) this.#newest.hidden = true;
    });
    for (const tab of document.querySelectorAll<HTMLButtonElement>('#views button')) {
      tab.addEventListener('click', () => this.#switch(tab.dataset.view === 'events'));
    }
  }

  get #view(): ConversationView | EventsView {
    return this.#isRaw ? this.#eventsView : this.#conversationView;
  }

  /** Watches this agent from now on, from the start of its timeline. */
  open({ type, id }: AgentAddress): void {
    this.close();
    const { settings } = this.#options;
    this.#conversation = new Conversation();
    this.#conversationView.clear();
    this.#eventsView.clear();
    this.#eventCount = 0;
    this.#held = [];
    this.#isAbsent = false;
    this.#isKnown = undefined;
    this.#newest.hidden = true;
    this.#announcer.textContent = '';
    this.#say('Reading the timeline…');
    byId('agent-title').replaceChildren(`${type}/`, element('b', {}, id));
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const prefix = `/streams/t/${settings.tenant}/agents/${type}/${id}`;
    const conversation = this.#conversation;
    readGateway(settings, prefix)
      .timeline(`${type}/${id}`, {
        signal,
        onState: (state) => !signal.aborted && this.#onState(state),
        onGap: ({ expectedSeq, receivedSeq }) => conversation.addGap(expectedSeq, receivedSeq),
      })
      .subscribe((event) => this.#take(event))
      .catch((error: unknown) => {
        if (!signal.aborted) this.#say(`This timeline cannot be read: ${(error as Error).message}`);
      });
  }

  close(): void {
    this.#stop.abort();
    this.#pending = [];
  }

  /** The agent's row in the catalog. Undefined if the catalog has been read and has no such row. */
  showRow(row: EntityRow | undefined): void {
    this.#isKnown = row !== undefined;
    showStatus(byId('agent-status'), row?.status ?? 'unknown');
    const reasons = verbReasons(row?.status);
    for (const button of document.querySelectorAll<HTMLButtonElement>('#verbs button')) {
      const reason = reasons[button.dataset.verb as Verb];
      button.disabled = reason !== undefined;
      button.title = reason ?? '';
    }
    const isArchived = row?.status === 'archived';
    byId<HTMLFieldSetElement>('send-fields').disabled = isArchived || !row;
    byId('send-hint').textContent = isArchived
      ? 'This agent is archived: it takes no messages.'
      : row
        ? ''
        : 'This agent is not in the catalog: spawn it first.';
    const parent = byId('agent-parent');
    parent.replaceChildren(...(row?.parent ? ['child of ', agentLink(row.parent)] : []));
    this.#showAbsence();
  }

  #onState(state: LiveState): void {
    this.#options.onState(state);
    if (state.name === 'waiting') {
      this.#isAbsent = isAbsent(state.error);
      if (!this.#isAbsent && this.#eventCount === 0)
        this.#say('The timeline cannot be read now: see above.');
      this.#showAbsence();
    } else if (state.name === 'live') {
      this.#isAbsent = false;
      if (this.#eventCount === 0) this.#say('No events yet.');
    }
  }

  #showAbsence(): void {
    if (!this.#isAbsent || this.#eventCount > 0) return;
    this.#say(
      this.#isKnown === false
        ? 'There is no such agent.'
        : 'Nothing is written on this timeline yet.',
    );
  }

  #take(event: TimelineEvent): void {
    // Anyone with an API key may append, and not everyone appends objects.
    const isObject = typeof event === 'object' && event !== null && !Array.isArray(event);
    if (this.#pending.length === 0) setTimeout(() => this.#draw(), BATCH_MS);
    this.#pending.push(
      isObject ? event : ({ kind: 'value', value: event } as unknown as TimelineEvent),
    );
  }

  #draw(): void {
    const events = this.#pending;
    this.#pending = [];
    if (events.length === 0) return;
    const follows = this.#eventCount === 0 || this.#view.isAtEnd;
    this.#eventCount += events.length;
    this.#note.hidden = true;
    for (const event of events) {
      this.#conversation.add(event);
      this.#options.onEvent(event);
      if (ANNOUNCED.has(event.kind)) this.#announcer.textContent = announcement(event);
    }
    if (this.#isRaw) this.#eventsView.add(events);
    else {
      this.#held.push(...events);
      this.#conversationView.show(this.#conversation);
    }
    if (follows) this.#toEnd();
    else this.#newest.hidden = false;
  }

  #switch(isRaw: boolean): void {
    this.#isRaw = isRaw;
    for (const tab of document.querySelectorAll<HTMLButtonElement>('#views button')) {
      tab.setAttribute('aria-pressed', String((tab.dataset.view === 'events') === isRaw));
    }
    byId('conversation').hidden = isRaw;
    byId('events').hidden = !isRaw;
    if (isRaw) this.#eventsView.add(this.#held.splice(0));
    else this.#conversationView.show(this.#conversation);
    this.#toEnd();
  }

  #say(text: string): void {
    this.#note.textContent = text;
    this.#note.hidden = this.#eventCount > 0;
  }

  #toEnd(): void {
    this.#view.scrollToEnd();
    this.#newest.hidden = true;
  }
}

/** The reason why a verb is disabled, or undefined. */
function verbReasons(status: string | undefined): Record<Verb, string | undefined> {
  const unless = (isPossible: boolean, reason: string): string | undefined =>
    isPossible ? undefined : reason;
  if (status === undefined) {
    const reason = 'This agent is not in the catalog.';
    return { interrupt: reason, pause: reason, resume: reason, archive: reason };
  }
  const isBusy = status === 'running' || status === 'failing';
  return {
    interrupt: unless(isBusy, 'It is not writing a reply.'),
    pause: unless(isBusy || status === 'idle', `It is ${status}.`),
    resume: unless(status === 'paused', 'It is not paused.'),
    archive: unless(status !== 'archived', 'It is archived.'),
  };
}

function announcement({ kind, content, message, reason }: TimelineEvent): string {
  const said = [contentText({ content }), message, reason].find(
    (part) => typeof part === 'string' && part !== '',
  );
  return `${kind}: ${String(said ?? '')}`;
}
