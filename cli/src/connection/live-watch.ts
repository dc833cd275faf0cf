import type { APIError, LiveState } from '../../../client/src/index.ts';
import { CliError } from '../cli-error.ts';
import { EXIT } from '../exit-codes.ts';
import type { Notices } from '../output/notices.ts';
import type { Connection } from './connection.ts';
import { failureInWords, failureOf, isUntrusted } from './failure.ts';

export interface LiveWatchOptions {
  /** How long the very first answer may take, tries included, in milliseconds. */
  firstContactMs: number;
  notices: Pick<Notices, 'say'>;
  interrupted: AbortSignal;
}

/**
 * The library tries again by itself and without end. This says when the gateway is lost and when it is back, and gives up
 * where it was never there.
 */
export class LiveWatch {
  /** Aborts for an interrupt, and where going on is of no use. */
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
    if (state.name === 'live') this.answered();
  };

  /** Something was read. */
  answered(): void {
    if (this.#isLost) this.#options.notices.say('Connected again.');
    this.#hasAnswered = true;
    this.#isLost = false;
  }

  /** Throws the error to end with, where it gave up; after a 401 with this hint. */
  throwIfGivenUp(hintAfter401?: string): void {
    const error = this.#refused;
    if (error) throw failureOf(error, this.#connection, hintAfter401);
    this.#giveUp.signal.throwIfAborted();
  }

  #failed(error: APIError): void {
    const { credential } = this.#connection;
    const isRefused = error.status === 401 && credential?.reread() !== true;
    // A key that was renewed in its file is tried at once, and a timeline that is yet to come is no outage.
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
