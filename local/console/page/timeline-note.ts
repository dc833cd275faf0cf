import type { LiveState } from '../../../packages/client/src/index.ts';
import { byId } from './element.ts';
import { isAbsent } from './status-line.ts';

/** The sentence in place of a timeline that has no events, and what the read says of it. */
export class TimelineNote {
  readonly #text = byId('timeline-empty');
  #isAbsent = false;
  #isUpToDate = false;
  #isUnknownAgent = false;

  /** Whether all events that exist have been read. */
  get isUpToDate(): boolean {
    return this.#isUpToDate;
  }

  open(): void {
    this.#isAbsent = false;
    this.#isUpToDate = false;
    this.#isUnknownAgent = false;
    this.say('Reading the timeline…');
  }

  set hidden(isHidden: boolean) {
    this.#text.hidden = isHidden;
  }

  say(text: string): void {
    this.#text.textContent = text;
  }

  /** Whether neither the catalog nor the runtime knows the agent. */
  setUnknownAgent(isUnknown: boolean): void {
    this.#isUnknownAgent = isUnknown;
    this.#sayAbsence();
  }

  onState(state: LiveState): void {
    this.#isUpToDate = state.name === 'live';
    if (state.name === 'waiting') {
      this.#isAbsent = isAbsent(state.error);
      // An agent that has written nothing is up to date.
      this.#isUpToDate = this.#isAbsent;
      if (!this.#isAbsent) this.say('The timeline cannot be read now: see above.');
      this.#sayAbsence();
    } else if (state.name === 'live') {
      this.#isAbsent = false;
      this.say('No events yet.');
    }
  }

  #sayAbsence(): void {
    if (!this.#isAbsent) return;
    this.say(
      this.#isUnknownAgent ? 'There is no such agent.' : 'Nothing is written on this timeline yet.',
    );
  }
}
