import type { APIError, LiveState } from '../../../packages/client/src/index.ts';
import { byId, element } from './element.ts';
import { isConsoleDown } from './gateway.ts';

/** What this page reads: the gateway, and the servers behind it. */
export type Part = 'gateway' | 'catalog' | 'timeline' | 'store' | 'runtime';

const SERVERS: Record<Exclude<Part, 'gateway'>, [name: string, effect: string]> = {
  catalog: ['the catalog engine', 'The list shows what was known last.'],
  timeline: ['the history store', 'Agents keep what they write in Restate until it is back.'],
  store: ['the history store', 'Agents keep what they write in Restate until it is back.'],
  runtime: ['the runtime, Restate,', 'Messages wait here until it is back. Agents stand still.'],
};

/** In this order, because nothing is known of what is behind one that does not answer. */
const CONSOLE = 0;
const GATEWAY = 1;
const BEHIND = 2;

/** A browser that cannot connect to this machine, or to one nearby, knows by then. */
const FAILS_WITHIN_MS = 2_000;

interface Problem {
  /** Who is at fault: `CONSOLE`, `GATEWAY` or `BEHIND`. */
  place: number;
  text: string;
  /** Whether no command can reach an agent. */
  stopsCommands: boolean;
  retryAtMs: number;
}

/** The state of the reads of this page, and the line that says what is wrong, what follows, and when the next try is. */
export class StatusLine {
  readonly #line = byId('connection');
  readonly #text = byId('connection-text');
  readonly #banner = byId('banner');
  readonly #problems = byId('banner-problems');
  readonly #retry = byId('connection-retry');
  readonly #gatewayUrl: string;
  readonly #readsWithTokens: boolean;
  readonly #states = new Map<Part, Problem | 'connecting' | 'live'>();
  readonly #onCommands: (reason: string | undefined) => void;

  /** @param onCommands gets the reason why no command is possible now, or undefined */
  constructor(
    { gatewayUrl, readsWithTokens }: { gatewayUrl: string; readsWithTokens: boolean },
    onCommands: (reason: string | undefined) => void,
  ) {
    this.#gatewayUrl = gatewayUrl;
    this.#readsWithTokens = readsWithTokens;
    this.#onCommands = onCommands;
    setInterval(() => this.#countDown(), 500);
  }

  report(part: Part, state: LiveState): void {
    if (part === 'gateway' && state.name === 'live') this.#endOutage();
    if (state.name === 'waiting' && !isAbsent(state.error)) {
      this.#states.set(part, this.#problem(part, state.error, Date.now() + state.retryInMs));
    } else if (state.name !== 'connecting' || typeof this.#states.get(part) !== 'object') {
      // After a failure the problem stays until there is a response.
      this.#states.set(part, state.name === 'connecting' ? 'connecting' : 'live');
    }
    this.#show();
  }

  /**
   * A live read has no response before something changes, so that an outage was shown for 20 s after its end. Where the gateway
   * answers, a try that has not failed by now is such a read.
   */
  #endOutage(): void {
    const wasFailing = typeof this.#states.get('gateway') === 'object';
    for (const [part, state] of this.#states) {
      if (typeof state !== 'object' || state.place === BEHIND) continue;
      const isTrying = state.retryAtMs + FAILS_WITHIN_MS < Date.now();
      if (wasFailing || isTrying) this.#states.set(part, 'connecting');
    }
  }

  forget(part: Part): void {
    this.#states.delete(part);
    this.#show();
  }

  /** The causes. What follows from them is no problem of its own. */
  get #failing(): Problem[] {
    const all = [...this.#states.values()].filter((state) => typeof state === 'object');
    const first = Math.min(...all.map(({ place }) => place));
    return all.filter(({ place }) => place === first);
  }

  #show(): void {
    const failing = this.#failing;
    const texts = [...new Set(failing.map(({ text }) => text))];
    const isConnecting = [...this.#states.values()].includes('connecting');
    const state = failing.length > 0 ? 'failing' : isConnecting ? 'connecting' : 'live';
    const said = { failing: 'Not well', connecting: 'Connecting…', live: 'Live' }[state];
    // Setting the same text again would make screen readers repeat it.
    if (this.#text.textContent !== said) this.#text.textContent = said;
    this.#line.dataset.state = state;
    this.#banner.hidden = texts.length === 0;
    if (this.#problems.innerText !== texts.join('\n')) {
      this.#problems.replaceChildren(...texts.map((text) => element('li', {}, text)));
    }
    this.#onCommands(failing.find(({ stopsCommands }) => stopsCommands)?.text);
    this.#countDown();
  }

  #problem(part: Part, error: APIError, retryAtMs: number): Problem {
    const { status, code, detail } = error;
    const isOwn = part === 'gateway' || part === 'runtime' || !this.#readsWithTokens;
    const made = (place: number, text: string, stopsCommands = place < BEHIND): Problem => ({
      place,
      text,
      stopsCommands,
      retryAtMs,
    });
    if (code === 'credential_unavailable') {
      const why = detail.replace(/^The credential is not available: /, '').replace(/\.$/, '');
      return made(BEHIND, `No read token: ${why}. Nothing new is read until there is one.`);
    }
    if (isOwn && isConsoleDown(error)) {
      return made(CONSOLE, 'The console does not answer: is its process still running?');
    }
    if (part === 'gateway' || code === 'gateway_unreachable' || isUnreached(error)) {
      const text = `The gateway at ${this.#gatewayUrl} does not answer. Messages wait here until it does.`;
      return made(GATEWAY, text);
    }
    const [server, effect] = SERVERS[part];
    const isRuntime = part === 'runtime';
    if (code === 'timeout') {
      return made(BEHIND, `${upper(server)} does not answer in time. ${effect}`, isRuntime);
    }
    if (status === 401 || status === 403) {
      return made(BEHIND, `The gateway refuses to read: ${detail}`);
    }
    if (code.startsWith('upstream_')) {
      return made(BEHIND, `${upper(server)} is not well: ${detail} ${effect}`, isRuntime);
    }
    return made(BEHIND, `The gateway answers ${status}: ${detail}`);
  }

  #countDown(): void {
    const at = Math.min(...this.#failing.map(({ retryAtMs }) => retryAtMs));
    if (at === Infinity) return;
    const seconds = Math.ceil((at - Date.now()) / 1_000);
    this.#retry.textContent = seconds > 0 ? `Next try in ${seconds} s.` : 'Trying again…';
  }
}

/** The timeline of an agent that has not written yet is no error. */
export function isAbsent({ status }: APIError): boolean {
  return status === 404;
}

function isUnreached({ status, code }: APIError): boolean {
  return status === undefined && code !== 'timeout';
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
