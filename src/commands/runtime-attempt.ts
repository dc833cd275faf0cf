import type { Dispatcher } from 'undici';
import type { Reached } from '../upstream/send-again.ts';

type Headers = Record<string, string | string[] | undefined>;

/** A complete response of the runtime. */
export interface RuntimeAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** An attempt without a complete response. */
export class FailedAttempt extends Error {
  readonly reached: Reached;
  readonly isTimeout: boolean;

  constructor(reached: Reached, isTimeout: boolean, cause: unknown) {
    super('the runtime gave no answer', { cause });
    this.name = 'FailedAttempt';
    this.reached = reached;
    this.isTimeout = isTimeout;
  }
}

/**
 * Sends one request and resolves with its response within `timeoutMs`. Rejects with a `FailedAttempt`, and closes
 * the connection of an attempt that timed out. Calls `onConnected` when there is a connection. It uses `dispatch`
 * because undici's `request` does not say whether anything was sent, and ignores its signal while it waits for a
 * connection. Undici calls `onRequestStart` just before it writes the first byte. An error without that call means
 * that nothing was sent, whatever its code, such as ECONNRESET for a request that waited on a kept connection which
 * the upstream closed.
 */
export function attemptRequest(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  timeoutMs: number,
  onConnected: () => void = () => undefined,
): Promise<RuntimeAnswer> {
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(options, new Attempt(timeoutMs, onConnected, resolve, reject));
  });
}

class Attempt implements Dispatcher.DispatchHandler {
  private readonly onConnected: () => void;
  private readonly resolve: (answer: RuntimeAnswer) => void;
  private readonly reject: (failure: FailedAttempt) => void;
  private readonly timer: NodeJS.Timeout;
  private reached: Reached = 'nowhere';
  private isOver = false;
  private controller: Dispatcher.DispatchController | undefined;
  private status = 0;
  private headers: Headers = {};
  private readonly chunks: Buffer[] = [];

  constructor(
    timeoutMs: number,
    onConnected: () => void,
    resolve: (answer: RuntimeAnswer) => void,
    reject: (failure: FailedAttempt) => void,
  ) {
    this.onConnected = onConnected;
    this.resolve = resolve;
    this.reject = reject;
    // One timer covers the whole attempt. Undici's timers are coarse, and each covers only one phase.
    this.timer = setTimeout(() => this.giveUp(), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Either the connection opened too late, or undici would send the request again. Neither may happen.
    if (this.isOver || this.controller) {
      controller.abort(new Error('the attempt is over'));
      return;
    }
    this.controller = controller;
    this.reached = 'sent';
    this.onConnected();
  }

  onResponseStarted(): void {
    this.reached = 'answered';
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.status = status;
    this.headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.chunks.push(chunk);
  }

  onResponseEnd(): void {
    const text = Buffer.concat(this.chunks).toString('utf8');
    this.finish(() => this.resolve({ status: this.status, headers: this.headers, text }));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.finish(() => this.reject(new FailedAttempt(this.reached, false, error)));
  }

  private giveUp(): void {
    const reason = new Error('no answer in time');
    this.finish(() => this.reject(new FailedAttempt(this.reached, true, reason)));
    this.controller?.abort(reason);
  }

  private finish(settle: () => void): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.timer);
    settle();
  }
}
