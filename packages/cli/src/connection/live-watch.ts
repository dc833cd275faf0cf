import type { APIError, LiveState } from '../../../client/src/index.ts';
import { CliError } from '../cli-error.ts';
import { EXIT } from '../exit-codes.ts';
import type { Notices } from '../output/notices.ts';
import type { Connection } from './connection.ts';
import { failureInWords, failureOf, isUntrusted } from './failure.ts';

export interface LiveWatchOptions {
  /** The longest time for the very first response, retries included, in milliseconds. */
  firstContactMs: number;
  notices: Pick<Notices, 'say'>;
  interrupted: AbortSignal;
}

/**
 * The library retries without end. This class reports when the gateway is lost and when it is back, and gives up if
 * it never answered.
 */
export class LiveWatch {
  /** Aborts on an interrupt, or when there is no hope. */
  readonly signal: AbortSignal;
  readonly #connection: Connection;
  readonly #options: LiveWatchOptions;
  readonly #giveUp = new AbortController();
  readonly #startedAtMs = performance.now();
  #hasAnswered = false;
  #isLost = false;
  #refused: APIError | undefined;

  constructor(connection: Connection, options: LiveWatchOptions) {
    this.#connection = connection;
    this.#options = options;
    this.signal = AbortSignal.any([options.interrupted, this.#giveUp.signal]);
  }

  readonly onState = (state: LiveState): void => {
    if (state.name === 'waiting') this.#failed(state.error);
    if (state.name === 'live') this.#caughtUp();
  };

  /** Notes that data has arrived. A read that breaks again before it has caught up is the same outage. */
  answered(): void {
    this.#hasAnswered = true;
  }

  /** Throws the error to end with if it gave up. `hint` is used after a 401. */
  throwIfGivenUp(hintAfter401?: string): void {
    const error = this.#refused;
    if (error) throw failureOf(error, this.#connection, hintAfter401);
    this.#giveUp.signal.throwIfAborted();
  }

  #caughtUp(): void {
    if (this.#isLost) this.#options.notices.say('Connected again.');
    this.#hasAnswered = true;
    this.#isLost = false;
  }

  #failed(error: APIError): void {
    const { credential } = this.#connection;
    const isRefused = error.status === 401 && credential?.reread() !== true;
    // A renewed key of a file is tried at once, and a timeline that does not exist yet is no outage.
    if ((error.status === 401 && !isRefused) || error.status === 404) return;
    if (isRefused) this.#refused = error;
    if (isRefused || isUntrusted(error)) {
      this.#giveUp.abort(failureOf(error, this.#connection));
      return;
    }
    const reason = failureInWords(error, this.#connection);
    const waitedMs = performance.now() - this.#startedAtMs;
    if (!this.#hasAnswered && waitedMs >= this.#options.firstContactMs) {
      const hint = 'Is this the right address? Try agent-gateway doctor.';
      this.#giveUp.abort(new CliError(EXIT.unreachable, reason, hint));
      return;
    }
    if (!this.#isLost) this.#options.notices.say(`${reason} Trying again.`);
    this.#isLost = true;
  }
}
