import { conversation, textOf } from '../../../packages/client/src/index.ts';
import type {
  Conversation,
  EntityRow,
  Invocation,
  LiveState,
} from '../../../packages/client/src/index.ts';
import type { AgentAddress } from './agent-address.ts';
import { AgentHead } from './agent-head.ts';
import { failureOf, type Failure } from './agent-list.ts';
import { ConversationView } from './conversation-view.ts';
import { byId } from './element.ts';
import { plain, type Event } from './event-text.ts';
import { EventsView } from './events-view.ts';
import { commandGateway, ONCE, readGateway, streamPrefix, type Settings } from './gateway.ts';
import { InvocationList, isFailing } from './invocation-list.ts';
import type { Outbox } from './outbox.ts';
import { Outcomes } from './outcomes.ts';
import { isAbsent } from './status-line.ts';

export interface AgentViewOptions {
  settings: Settings;
  outbox: Outbox;
  onState: (state: LiveState) => void;
}

type View = 'conversation' | 'events' | 'invocations';

/** The kinds of events that screen readers announce. Every word would be too much. */
const ANNOUNCED = new Set(['reply', 'error', 'refused']);
/** Events that arrive together are drawn together. */
const BATCH_MS = 16;
const INVOCATIONS_EVERY_MS = 2_000;
/** One look may come between the end of an invocation and its last event. */
const LOOKS_BEFORE_END = 2;

/** One agent: its state, its timeline as a conversation and as events, and its invocations. */
export class AgentView {
  readonly #options: AgentViewOptions;
  readonly #head = new AgentHead();
  readonly #outcomes: Outcomes;
  readonly #scroller = byId('timeline-scroll');
  readonly #conversationView: ConversationView;
  readonly #eventsView = new EventsView(this.#scroller);
  readonly #invocationList = new InvocationList(byId('agent-invocations'));
  readonly #note = byId('timeline-empty');
  readonly #newest = byId('newest');
  readonly #follow = byId<HTMLInputElement>('follow');
  readonly #announcer = byId('announcer');
  #agent: AgentAddress | undefined;
  #conversation: Conversation = conversation([]);
  #view: View = 'conversation';
  #stop = new AbortController();
  #pending: Event[] = [];
  #bySeq = new Map<number, Event>();
  #isAbsent = false;
  #isLive = false;
  #invocations: readonly Invocation[] = [];
  /** How often the invocation of an accepted message was not among the unfinished ones. */
  readonly #misses = new Map<string, number>();
  #row: EntityRow | undefined;
  #isKnown: boolean | undefined;
  #known: Failure | undefined;

  constructor(options: AgentViewOptions) {
    this.#options = options;
    const { outbox } = options;
    this.#outcomes = new Outcomes(outbox);
    this.#conversationView = new ConversationView({
      scroller: this.#scroller,
      eventOf: (seq) => this.#bySeq.get(seq ?? -1),
      invocationOf: (id) => this.#invocations.find((one) => one.id === id),
      onAgain: (key) => outbox.again(key),
      onForget: (key) => outbox.forget(key),
    });
    this.#newest.addEventListener('click', () => this.#setFollow(true));
    this.#follow.addEventListener('input', () => this.#setFollow(this.#follow.checked));
    this.#scroller.addEventListener('wheel', () => this.#onScroll(), { passive: true });
    this.#scroller.addEventListener('scroll', () => this.#onScroll(), { passive: true });
    for (const tab of document.querySelectorAll<HTMLButtonElement>('#views button')) {
      tab.addEventListener('click', () => this.show(tab.dataset.view as View));
    }
    byId('failure-invocations').addEventListener('click', () => this.show('invocations'));
  }

  /** Watches this agent from now on, from the start of its timeline. */
  open(agent: AgentAddress): void {
    this.close();
    this.#agent = agent;
    this.#conversation = conversation([]);
    this.#conversationView.clear();
    this.#eventsView.clear();
    this.#bySeq = new Map();
    this.#invocations = [];
    this.#misses.clear();
    this.#invocationList.show([]);
    this.#isAbsent = false;
    this.#isLive = false;
    this.#isKnown = undefined;
    this.#announcer.textContent = '';
    this.#setFollow(true);
    this.#say('Reading the timeline…');
    this.#head.open(agent);
    this.show('conversation');
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    void this.#read(agent, signal);
    void this.#followInvocations(agent, signal);
  }

  close(): void {
    this.#stop.abort();
    this.#pending = [];
    this.#agent = undefined;
  }

  /** The agent's row, undefined if the catalog has none, and what the list knows of its failure. */
  showRow(
    row: EntityRow | undefined,
    failure: Failure | undefined,
    rows: readonly EntityRow[],
  ): void {
    this.#row = row;
    this.#isKnown = row !== undefined;
    this.#known = failure;
    this.#head.showRelations(row, rows);
    this.#showHead();
    this.#showAbsence();
  }

  /** Why no command is possible now, or undefined. */
  setCommandsOff(reason: string | undefined): void {
    this.#head.setCommandsOff(reason);
  }

  /** Draws again after a change of what was sent. */
  showSent(): void {
    if (!this.#agent) return;
    if (this.#view === 'conversation') this.#showConversation();
    if (this.#follow.checked) this.#toEnd();
  }

  show(view: View): void {
    this.#view = view;
    for (const tab of document.querySelectorAll<HTMLButtonElement>('#views button')) {
      tab.setAttribute('aria-pressed', String(tab.dataset.view === view));
    }
    byId('agent').dataset.shows = view;
    for (const each of ['conversation', 'events', 'agent-invocations']) {
      byId(each).hidden = each.replace('agent-', '') !== view;
    }
    if (view === 'events') this.#eventsView.add([]);
    else if (view === 'conversation') this.#showConversation();
    this.#showNote();
    if (this.#follow.checked) this.#toEnd();
  }

  async #read(agent: AgentAddress, signal: AbortSignal): Promise<void> {
    const { settings, onState } = this.#options;
    const read = readGateway(settings, streamPrefix(settings, agent)).timeline(
      `${agent.type}/${agent.id}`,
      {
        signal,
        onState: (state) => {
          if (signal.aborted) return;
          onState(state);
          this.#onState(state);
        },
      },
    );
    await read
      .subscribe((event) => this.#take(event))
      .catch((error: unknown) => {
        if (!signal.aborted) this.#say(`This timeline cannot be read: ${(error as Error).message}`);
      });
  }

  async #followInvocations(agent: AgentAddress, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!document.hidden) {
        const call = { ...ONCE, signal, agent: `${agent.type}/${agent.id}` };
        // The status line says what is wrong.
        const found = await commandGateway.invocations.list(call).catch(() => undefined);
        if (signal.aborted) return;
        if (found) this.#showInvocations(found);
      }
      await new Promise((resolve) => setTimeout(resolve, INVOCATIONS_EVERY_MS));
    }
  }

  #showInvocations(found: readonly Invocation[]): void {
    this.#invocations = found;
    this.#invocationList.show(found);
    const tab = byId('show-invocations');
    tab.textContent = found.length === 0 ? 'Invocations' : `Invocations ${found.length}`;
    tab.classList.toggle('bad', found.some(isFailing));
    this.#endSent();
    this.#showHead();
    this.showSent();
    this.#showNote();
  }

  #endSent(): void {
    const { outbox } = this.#options;
    if (!this.#agent || !this.#isLive) return;
    for (const { key, state, invocationId } of outbox.of(this.#agent)) {
      if (state !== 'accepted') continue;
      const isOpen = this.#invocations.some(({ id }) => id === invocationId);
      const misses = isOpen ? 0 : (this.#misses.get(key) ?? 0) + 1;
      this.#misses.set(key, misses);
      if (misses > LOOKS_BEFORE_END) outbox.end(key);
    }
  }

  #showHead(): void {
    const failing = this.#invocations.filter(isFailing).toSorted((a, b) => b.tries - a.tries)[0];
    const failure = failing ? failureOf(failing) : this.#known;
    this.#head.showState(this.#row, failure, this.#isKnown);
  }

  #onState(state: LiveState): void {
    this.#isLive = state.name === 'live';
    if (state.name === 'waiting') {
      this.#isAbsent = isAbsent(state.error);
      // An agent that has written nothing is up to date.
      this.#isLive = this.#isAbsent;
      if (!this.#isAbsent) this.#say('The timeline cannot be read now: see above.');
      this.#showAbsence();
    } else if (state.name === 'live') {
      this.#isAbsent = false;
      this.#say('No events yet.');
    }
  }

  #showAbsence(): void {
    if (!this.#isAbsent) return;
    this.#say(
      this.#isKnown === false && !this.#known
        ? 'There is no such agent.'
        : 'Nothing is written on this timeline yet.',
    );
  }

  #take(given: unknown): void {
    // Anyone with an API key may append, and not everyone appends objects.
    const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
    const event = (isObject ? given : { kind: 'value', value: given }) as Event;
    if (this.#pending.length === 0) setTimeout(() => this.#draw(), BATCH_MS);
    this.#pending.push(event);
  }

  #draw(): void {
    const events = this.#pending;
    this.#pending = [];
    if (events.length === 0) return;
    for (const event of events) {
      this.#bySeq.set(event.seq, event);
      if (ANNOUNCED.has(event.kind)) this.#announcer.textContent = announcement(event);
    }
    this.#conversation = conversation(events, this.#conversation);
    if (this.#agent) this.#outcomes.take(this.#agent, events, this.#conversation);
    this.#eventsView.add(events);
    byId('show-events').textContent = `Events ${this.#eventsView.count}`;
    if (this.#view === 'conversation') this.#showConversation();
    this.#showNote();
    if (this.#follow.checked) this.#toEnd();
    else this.#newest.hidden = false;
  }

  #showConversation(): void {
    if (!this.#agent) return;
    const sent = this.#options.outbox.of(this.#agent);
    this.#conversationView.show([...this.#conversation.items, ...sent]);
    this.#showNote();
  }

  #say(text: string): void {
    this.#note.textContent = text;
    this.#showNote();
  }

  #showNote(): void {
    const sent = this.#agent ? this.#options.outbox.of(this.#agent).length : 0;
    const isInvocations = this.#view === 'invocations';
    byId('no-invocations').hidden = !isInvocations || this.#invocations.length > 0;
    this.#note.hidden = isInvocations || this.#eventsView.count + sent > 0;
  }

  /** A reader who scrolls up stays there, and one who scrolls to the end follows again. */
  #onScroll(): void {
    if (this.#view === 'invocations') return;
    const isAtEnd =
      this.#view === 'events' ? this.#eventsView.isAtEnd : this.#conversationView.isAtEnd;
    if (isAtEnd === this.#follow.checked) return;
    this.#follow.checked = isAtEnd;
    if (isAtEnd) this.#newest.hidden = true;
  }

  #setFollow(follows: boolean): void {
    this.#follow.checked = follows;
    if (follows) this.#toEnd();
  }

  #toEnd(): void {
    this.#newest.hidden = true;
    if (this.#view === 'conversation') this.#conversationView.scrollToEnd();
    else if (this.#view === 'events') this.#eventsView.scrollToEnd();
  }
}

function announcement({ kind, content, message, reason }: Event): string {
  const said = [textOf(content), message, reason].find(
    (part) => typeof part === 'string' && part !== '',
  );
  return `${kind}: ${plain(said ?? '')}`;
}
