import type { APIError, LiveState } from '../../../packages/client/src/index.ts';
import { byId } from './element.ts';

/** A part of this page that reads, and its server behind the gateway. */
export type Part = 'catalog' | 'timeline';

const SERVERS: Record<Part, string> = {
  catalog: 'the catalog engine',
  timeline: 'the history store',
};

/** The line at the top: how the reads of this page are going, what is wrong, and when the next try is. */
export class StatusLine {
  readonly #line = byId('connection');
  readonly #text = byId('connection-text');
  readonly #retry = byId('connection-retry');
  readonly #gatewayUrl: string;
  readonly #states = new Map<Part, LiveState>();
  #retryAtMs = 0;

  constructor(gatewayUrl: string) {
    this.#gatewayUrl = gatewayUrl;
    setInterval(() => this.#countDown(), 500);
  }

  report(part: Part, state: LiveState): void {
    this.#states.set(part, state);
    this.#show();
  }

  forget(part: Part): void {
    this.#states.delete(part);
    this.#show();
  }

  #show(): void {
    const states = [...this.#states];
    const failed = states.find(([, state]) => state.name === 'waiting' && !isAbsent(state.error));
    if (failed) {
      const [part, state] = failed;
      if (state.name !== 'waiting') return;
      this.#retryAtMs = Date.now() + state.retryInMs;
      this.#say('failing', this.#problem(part, state.error));
    } else {
      this.#retryAtMs = 0;
      // After a failure the status stays until there is a response.
      const isConnecting = states.some(([, state]) => state.name === 'connecting');
      if (isConnecting && this.#line.dataset.state === 'failing') return;
      this.#say(isConnecting ? 'connecting' : 'live', isConnecting ? 'Connecting…' : 'Live');
    }
    this.#countDown();
  }

  #problem(part: Part, error: APIError): string {
    const { status, code, detail } = error;
    if (code === 'credential_unavailable') {
      return `No read token: ${detail.replace(/^The credential is not available: /, '')}.`;
    }
    if (status === undefined) return `The gateway at ${this.#gatewayUrl} does not answer.`;
    if (status === 401 || status === 403) return `The gateway refuses the read token: ${detail}`;
    if (code.startsWith('upstream_')) return `${upper(SERVERS[part])} is not well: ${detail}`;
    return `The gateway answers ${status}: ${detail}`;
  }

  #say(state: string, text: string): void {
    // Setting the same text again would make screen readers repeat it.
    if (this.#text.textContent === text && this.#line.dataset.state === state) return;
    this.#line.dataset.state = state;
    this.#text.textContent = text;
  }

  #countDown(): void {
    const seconds = Math.ceil((this.#retryAtMs - Date.now()) / 1_000);
    const isWaiting = this.#retryAtMs > 0;
    this.#retry.textContent = !isWaiting
      ? ''
      : seconds > 0
        ? `Next try in ${seconds} s.`
        : 'Trying again…';
  }
}

/** The timeline of an agent that has not written yet is no error. */
export function isAbsent({ status }: APIError): boolean {
  return status === 404;
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
