import { CliError } from '../cli-error.ts';
import { EXIT } from '../exit-codes.ts';
import type { Notices } from '../output/notices.ts';
import type { Connection } from './connection.ts';
import { gatewayFetch } from './gateway-fetch.ts';
import { finalNetworkError, networkErrorInWords } from './network-error.ts';
import { refusalInWords, refusalOf } from './refusal.ts';
import { withStallGuard } from './stall-guard.ts';

export interface WatchOptions {
  /** How long the very first answer may take, tries included, in milliseconds. */
  firstContactMs: number;
  /** How long an answer under way may be silent, in milliseconds. */
  silenceMs: number;
  notices: Pick<Notices, 'say'>;
}

/**
 * What the clients ask the gateway with. They try again by themselves, without end and without a word;
 * this says when the gateway is lost and when it is back, and gives up where it was never there.
 */
export class WatchedGateway {
  readonly fetch: typeof fetch;
  /** Aborts, with the `CliError` to end with, where going on is of no use. */
  readonly givenUp: AbortSignal;
  readonly #connection: Connection;
  readonly #options: WatchOptions;
  readonly #giveUp = new AbortController();
  readonly #startedAtMs = performance.now();
  #hasAnswered = false;
  #isLost = false;

  constructor(connection: Connection, options: WatchOptions) {
    this.#connection = connection;
    this.#options = options;
    this.givenUp = this.#giveUp.signal;
    const fetchNow = withStallGuard(gatewayFetch(connection), options.silenceMs);
    this.fetch = (input, init) => this.#watch(fetchNow, input, init);
  }

  async #watch(
    fetchNow: typeof fetch,
    input: Parameters<typeof fetch>[0],
    init: RequestInit | undefined,
  ): Promise<Response> {
    try {
      const response = await fetchNow(input, init);
      if (response.status < 500 && response.status !== 429) this.#answered();
      else this.#failed(refusalInWords(await readRefusal(response.clone())));
      return response;
    } catch (error) {
      if (init?.signal?.aborted !== true) {
        const final = finalNetworkError(error, this.#connection.url);
        if (final) this.#giveUp.abort(final);
        else this.brokeOff(error);
      }
      throw error;
    }
  }

  /** Also for a body that broke off, which `fetch` does not see. */
  brokeOff(error: unknown): void {
    const { url } = this.#connection;
    this.#failed(`The gateway at ${url} cannot be reached: ${networkErrorInWords(error)}.`);
  }

  #answered(): void {
    if (this.#isLost) this.#options.notices.say('Connected again.');
    this.#hasAnswered = true;
    this.#isLost = false;
  }

  #failed(reason: string): void {
    const waitedMs = performance.now() - this.#startedAtMs;
    if (!this.#hasAnswered && waitedMs >= this.#options.firstContactMs) {
      const hint = 'Is this the right address? agent-gateway doctor tells more.';
      this.#giveUp.abort(new CliError(EXIT.unreachable, reason, hint));
      return;
    }
    if (!this.#isLost) this.#options.notices.say(`${reason} Trying again.`);
    this.#isLost = true;
  }
}

async function readRefusal(response: Response): Promise<ReturnType<typeof refusalOf>> {
  const text = await response.text().catch(() => '');
  return refusalOf({ status: response.status, headers: response.headers, text });
}
