import type { APIError, LiveState } from '../../../packages/client/src/index.ts';
import { byId, element } from './element.ts';
import { isConsoleDown } from './gateway.ts';

/** What this page reads: each is a server behind the gateway. */
export type Part = 'catalog' | 'timeline' | 'store' | 'runtime';

const SERVERS: Record<Part, [name: string, effect: string]> = {
  catalog: ['the catalog engine', 'The list shows what was known last.'],
  timeline: ['the history store', 'Agents keep what they write in Restate until it is back.'],
  store: ['the history store', 'Agents keep what they write in Restate until it is back.'],
  runtime: ['the runtime, Restate,', 'Messages wait here until it is back. Agents stand still.'],
};

interface Problem {
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
    if (state.name === 'waiting' && !isAbsent(state.error)) {
      this.#states.set(part, this.#problem(part, state.error, Date.now() + state.retryInMs));
    } else if (state.name !== 'connecting' || typeof this.#states.get(part) !== 'object') {
      // After a failure the problem stays until there is a response.
      this.#states.set(part, state.name === 'connecting' ? 'connecting' : 'live');
    }
    this.#show();
  }

  forget(part: Part): void {
    this.#states.delete(part);
    this.#show();
  }

  get #failing(): Problem[] {
    return [...this.#states.values()].filter((state) => typeof state === 'object');
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
    const [server, effect] = SERVERS[part];
    const { status, code, detail } = error;
    const isOwn = part === 'runtime' || !this.#readsWithTokens;
    const made = (text: string, stopsCommands = false): Problem => ({
      text,
      stopsCommands,
      retryAtMs,
    });
    if (code === 'credential_unavailable') {
      const why = detail.replace(/^The credential is not available: /, '').replace(/\.$/, '');
      return made(`No read token: ${why}. Nothing new is read until there is one.`);
    }
    if (isOwn && isConsoleDown(error)) {
      return made('The console does not answer: is its process still running?', true);
    }
    if (code === 'timeout') {
      return made(`${upper(server)} does not answer in time. ${effect}`, part === 'runtime');
    }
    if (status === undefined || code === 'gateway_unreachable') {
      const text = `The gateway at ${this.#gatewayUrl} does not answer. Messages wait here until it does.`;
      return made(text, true);
    }
    if (status === 401 || status === 403) return made(`The gateway refuses to read: ${detail}`);
    if (code.startsWith('upstream_')) {
      return made(`${upper(server)} is not well: ${detail} ${effect}`, part === 'runtime');
    }
    return made(`The gateway answers ${status}: ${detail}`);
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

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
