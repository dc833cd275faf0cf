import type { Dispatcher } from 'undici';
import { AwakeTimer } from '../platform/clock/awake-timer.ts';
import { PIECE_OVERHEAD_BYTES, type HeldBytes } from '../platform/memory/held-bytes.ts';
import type { Reached } from '../proxy/upstream/send-again.ts';

type Headers = Record<string, string | string[] | undefined>;

/** A complete response of the runtime. */
export interface RuntimeAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** An attempt without a response, or with one that may be another one next time. */
export class FailedAttempt extends Error {
  readonly reached: Reached;
  readonly isTimeout: boolean;
  readonly answer: RuntimeAnswer | undefined;

  constructor(reached: Reached, isTimeout: boolean, cause: unknown, answer?: RuntimeAnswer) {
    super('the attempt brought no answer', { cause });
    this.name = 'FailedAttempt';
    this.reached = reached;
    this.isTimeout = isTimeout;
    this.answer = answer;
  }
}

/** The errors of undici and Node for a connection that ended before the response was complete. */
const CUT_CODES: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

/** Whether a response was cut. An invalid one would come again. */
export function isCut({ reached, cause }: FailedAttempt): boolean {
  return reached === 'answered' && CUT_CODES.has((cause as { code?: unknown } | undefined)?.code);
}

/** An attempt under way. */
export interface RunningAttempt {
  /** Rejects with a `FailedAttempt`. */
  answer: Promise<RuntimeAnswer>;
  /** Ends it and closes its connection. */
  cancel(): void;
}

/**
 * Sends one request, whose response must be complete within `timeoutMs`. The connection of an attempt that timed out
 * is closed. It uses `dispatch` because undici's `request` does not say whether anything was sent, and ignores its
 * signal while it waits for a connection. Undici calls `onRequestStart` just before it writes the first byte. An
 * error without that call means that nothing was sent, whatever its code, such as ECONNRESET for a request that
 * waited on a kept connection which the upstream closed.
 */
export function startAttempt(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  timeoutMs: number,
  held: HeldBytes,
): RunningAttempt {
  const attempt = new Attempt(timeoutMs, held);
  dispatcher.dispatch(options, attempt);
  return { answer: attempt.answer, cancel: () => attempt.giveUp(false, 'the attempt is canceled') };
}

class Attempt implements Dispatcher.DispatchHandler {
  private readonly settled = Promise.withResolvers<RuntimeAnswer>();
  private readonly timer: AwakeTimer;
  private reached: Reached = 'nowhere';
  private isOver = false;
  private controller: Dispatcher.DispatchController | undefined;
  private status = 0;
  private headers: Headers = {};
  private readonly chunks: Buffer[] = [];
  private heldBytes = 0;

  constructor(
    timeoutMs: number,
    private readonly held: HeldBytes,
  ) {
    // One timer covers the whole attempt. Undici's timers are coarse, and each covers only one phase.
    this.timer = new AwakeTimer(timeoutMs, () => this.giveUp(true, 'no answer in time'));
  }

  get answer(): Promise<RuntimeAnswer> {
    return this.settled.promise;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Either the connection opened too late, or undici would send the request again. Neither may happen.
    if (this.isOver || this.controller) {
      controller.abort(new Error('the attempt is over'));
      return;
    }
    this.controller = controller;
    this.reached = 'sent';
  }

  onResponseStarted(): void {
    this.reached = 'answered';
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.status = status;
    this.headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isOver) return;
    this.chunks.push(chunk);
    const bytes = chunk.length + PIECE_OVERHEAD_BYTES;
    this.heldBytes += bytes;
    this.held.hold('answers', bytes);
  }

  onResponseEnd(): void {
    const { status, headers } = this;
    const text = Buffer.concat(this.chunks).toString('utf8');
    if (this.finish()) this.settled.resolve({ status, headers, text });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.finish()) this.settled.reject(new FailedAttempt(this.reached, false, error));
  }

  giveUp(isTimeout: boolean, why: string): void {
    if (!this.finish()) return;
    const reason = new Error(why);
    this.settled.reject(new FailedAttempt(this.reached, isTimeout, reason));
    this.controller?.abort(reason);
  }

  /** Returns false if it was over before. */
  private finish(): boolean {
    if (this.isOver) return false;
    this.isOver = true;
    this.timer.stop();
    this.held.release('answers', this.heldBytes);
    return true;
  }
}
