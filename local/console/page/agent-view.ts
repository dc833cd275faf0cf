import { conversation, textOf } from '../../../packages/client/src/index.ts';
import type {
  AgentFailure,
  Conversation,
  EntityRow,
  LiveState,
} from '../../../packages/client/src/index.ts';
import type { AgentAddress } from './agent-address.ts';
import { AgentHead } from './agent-head.ts';
import { AgentInvocations } from './agent-invocations.ts';
import type { Failure } from './agent-list.ts';
import { AgentRuns } from './agent-runs.ts';
import { ConversationView } from './conversation-view.ts';
import { byId } from './element.ts';
import { plain, type Event } from './event-text.ts';
import { EventsView } from './events-view.ts';
import { Follow } from './follow.ts';
import type { Settings } from './gateway.ts';
import type { Outbox } from './outbox.ts';
import { Outcomes } from './outcomes.ts';
import { TimelineNote } from './timeline-note.ts';
import { readTimeline } from './timeline-read.ts';

export interface AgentViewOptions {
  settings: Settings;
  outbox: Outbox;
  onState: (state: LiveState) => void;
}

type View = 'conversation' | 'runs' | 'events' | 'invocations';

/** The kinds of events that screen readers announce. Every word would be too much. */
const ANNOUNCED = new Set(['reply', 'error', 'refused']);

/** One agent: its state, its timeline as a conversation and as events, and its invocations. */
export class AgentView {
  readonly #options: AgentViewOptions;
  readonly #head = new AgentHead();
  readonly #outcomes: Outcomes;
  readonly #conversationView: ConversationView;
  readonly #eventsView: EventsView;
  readonly #invocations: AgentInvocations;
  readonly #runs: AgentRuns;
  readonly #note = new TimelineNote();
  readonly #follow: Follow;
  readonly #announcer = byId('announcer');
  #agent: AgentAddress | undefined;
  #conversation: Conversation = conversation([]);
  #view: View = 'conversation';
  #stop = new AbortController();
  #bySeq = new Map<number, Event>();
  #row: EntityRow | undefined;
  #isKnown: boolean | undefined;
  #known: Failure | undefined;

  constructor(options: AgentViewOptions) {
    this.#options = options;
    const { outbox } = options;
    const scroller = byId('timeline-scroll');
    this.#outcomes = new Outcomes(outbox);
    this.#invocations = new AgentInvocations(outbox);
    this.#eventsView = new EventsView(scroller);
    this.#runs = new AgentRuns(scroller);
    this.#conversationView = new ConversationView({
      scroller,
      eventOf: (seq) => this.#bySeq.get(seq ?? -1),
      invocationOf: (id) => this.#invocations.find(id),
      agentOf: () => this.#agent,
      onAgain: (key) => outbox.again(key),
      onForget: (key) => outbox.forget(key),
    });
    const followed = { conversation: this.#conversationView, events: this.#eventsView };
    this.#follow = new Follow(scroller, () =>
      this.#view === 'conversation' || this.#view === 'events' ? followed[this.#view] : undefined,
    );
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
    byId('show-events').textContent = 'Events';
    this.#runs.open(`${agent.type}/${agent.id}`);
    this.#bySeq = new Map();
    this.#invocations.clear();
    this.#isKnown = undefined;
    this.#announcer.textContent = '';
    this.#follow.set(true);
    this.#note.open();
    this.#head.open(agent);
    this.show('conversation');
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    void this.#read(agent, signal);
    void this.#invocations.watch(agent, signal, () => this.#onInvocations(agent));
  }

  close(): void {
    this.#stop.abort();
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
    this.#note.setUnknownAgent(!this.#isKnown && !failure);
  }

  setFailures(failures: readonly AgentFailure[]): void {
    this.#runs.setFailures(failures);
  }

  /** Why no command is possible now, or undefined. */
  setCommandsOff(reason: string | undefined): void {
    this.#head.setCommandsOff(reason);
  }

  /** Draws again after a change of what was sent. */
  showSent(): void {
    if (!this.#agent) return;
    if (this.#view === 'conversation') this.#showConversation();
    this.#follow.keep();
  }

  show(view: View): void {
    this.#view = view;
    for (const tab of document.querySelectorAll<HTMLButtonElement>('#views button')) {
      tab.setAttribute('aria-pressed', String(tab.dataset.view === view));
    }
    byId('agent').dataset.shows = view;
    for (const each of ['conversation', 'agent-runs', 'events', 'agent-invocations']) {
      byId(each).hidden = each.replace('agent-', '') !== view;
    }
    this.#runs.setShown(view === 'runs');
    if (view === 'events') this.#eventsView.add([]);
    else if (view === 'conversation') this.#showConversation();
    this.#showNote();
    this.#follow.keep();
  }

  async #read(agent: AgentAddress, signal: AbortSignal): Promise<void> {
    const { settings, onState } = this.#options;
    const read = {
      signal,
      onState: (state: LiveState) => {
        onState(state);
        this.#note.onState(state);
        this.#showNote();
      },
      onEvents: (events: Event[]) => this.#take(agent, events),
      onReset: () => this.open(agent),
    };
    await readTimeline(settings, agent, read).catch((error: unknown) => {
      this.#note.say(`This timeline cannot be read: ${(error as Error).message}`);
    });
  }

  #onInvocations(agent: AgentAddress): void {
    if (this.#note.isUpToDate) this.#invocations.endSent(agent);
    this.#showHead();
    this.showSent();
    this.#showNote();
  }

  #showHead(): void {
    const failure = this.#invocations.failure ?? this.#known;
    this.#head.showState(this.#row, failure, this.#isKnown);
  }

  #take(agent: AgentAddress, events: readonly Event[]): void {
    for (const event of events) {
      this.#bySeq.set(event.seq, event);
      if (ANNOUNCED.has(event.kind)) this.#announcer.textContent = announcement(event);
    }
    this.#conversation = conversation(events, this.#conversation);
    this.#outcomes.take(agent, events, this.#conversation);
    this.#eventsView.add(events);
    this.#runs.take(events);
    byId('show-events').textContent = `Events ${this.#eventsView.count}`;
    if (this.#view === 'conversation') this.#showConversation();
    this.#showNote();
    this.#follow.take();
  }

  #showConversation(): void {
    if (!this.#agent) return;
    const sent = this.#options.outbox.of(this.#agent);
    this.#conversationView.show([...this.#conversation.items, ...sent]);
    this.#showNote();
  }

  #showNote(): void {
    const sent = this.#agent ? this.#options.outbox.of(this.#agent).length : 0;
    const isInvocations = this.#view === 'invocations';
    byId('no-invocations').hidden = !isInvocations || !this.#invocations.isEmpty;
    this.#note.hidden = isInvocations || this.#eventsView.count + sent > 0;
  }
}

function announcement({ kind, content, message, reason }: Event): string {
  const said = [textOf(content), message, reason].find(
    (part) => typeof part === 'string' && part !== '',
  );
  return `${kind}: ${plain(said ?? '')}`;
}
