import { setTimeout as sleep } from 'node:timers/promises';
import { awakeMs } from '../platform/clock/awake-clock.ts';
import { ClientGone } from '../platform/http/client-gone.ts';
import { maySendAgain } from '../proxy/upstream/send-again.ts';
import {
  FailedAttempt,
  isCut,
  type RunningAttempt,
  type RuntimeAnswer,
} from './runtime-attempt.ts';
import type { RuntimeOutage } from './runtime-outage.ts';
import type { SlowStart } from './slow-start.ts';

const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 500;
/** With less time left than this, no other attempt begins. */
const MIN_LEFT_MS = 50;
/** The statuses of a proxy before the runtime, while the runtime itself does not answer. */
const PROXY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/** The runtime's own errors are shorter. A longer one is the page of a proxy. */
const MAX_KEPT_TEXT = 1_024;

/** What all commands share. */
export interface AttemptsParts {
  outage: RuntimeOutage;
  slowStart: SlowStart;
  /** The time for all attempts at a command that has reached the runtime. */
  budgetMs: number;
  /** The longest time that a command waits for a runtime that is away. */
  outageWaitMs: number;
}

/** The properties of a command that its attempts depend on. */
export interface AttemptedCommand {
  /** Whether the runtime would recognize a repetition. Only then is a retry safe. */
  isRepeatable: boolean;
  /** Whether the client has disconnected before its response. */
  clientHasGone: () => boolean;
}

/**
 * The attempts at one command. A repeatable one is sent again after each failure that may pass, any other one only
 * while nothing of it was sent. The budget begins again after an outage, if the runtime has nothing of the command yet.
 */
export class CommandAttempts {
  private readonly parts: AttemptsParts;
  private readonly command: AttemptedCommand;
  private readonly begin: (timeoutMs: number) => RunningAttempt;
  /** The end of the budget, of the time in which this process runs. */
  private endsAtMs = 0;
  /** Until when it waits for a runtime that is away. A second outage does not prolong it. */
  private waitsUntilMs: number | undefined;
  /** The failure for the client. "Nothing was sent" would be untrue after an attempt that the runtime may have. */
  private failure: FailedAttempt | undefined;
  private failures = 0;

  /** `begin` starts an attempt that takes at most `timeoutMs`. */
  constructor(
    parts: AttemptsParts,
    command: AttemptedCommand,
    begin: (timeoutMs: number) => RunningAttempt,
  ) {
    this.parts = parts;
    this.command = command;
    this.begin = begin;
  }

  /** Rejects with a `FailedAttempt`, or `ClientGone`. */
  async answer(): Promise<RuntimeAnswer> {
    const { outage, slowStart, budgetMs } = this.parts;
    this.endsAtMs = awakeMs() + budgetMs;
    for (;;) {
      const mustWait = outage.isUnderWay;
      if (mustWait && !(await this.isRuntimeBack())) return this.outcome();
      try {
        if (mustWait || this.failure) this.stopForClientGone();
        return await this.openAttempts();
      } catch (failure) {
        if (!(failure instanceof FailedAttempt)) throw failure;
        if (!this.mayFollow(failure)) return this.outcome();
      } finally {
        if (mustWait) slowStart.leave();
      }
      if (outage.isUnderWay) continue;
      const waitMs = this.backoffMs();
      if (!this.hasTimeIn(waitMs)) return this.outcome();
      await sleep(waitMs);
    }
  }

  /** Waits for the end of the outage, and enters the slow start. Resolves with false if it takes too long. */
  private async isRuntimeBack(): Promise<boolean> {
    const { outage, slowStart, budgetMs, outageWaitMs } = this.parts;
    this.waitsUntilMs ??= performance.now() + outageWaitMs;
    for (;;) {
      const untilMs = this.isUnsent
        ? this.waitsUntilMs
        : Math.min(this.waitsUntilMs, performance.now() + this.leftMs - MIN_LEFT_MS);
      this.failure ??= new FailedAttempt('nowhere', false, outage.cause);
      if (!(await outage.wait(untilMs))) return false;
      await slowStart.enter();
      if (!outage.isUnderWay) break;
      slowStart.leave();
    }
    if (this.isUnsent) this.endsAtMs = awakeMs() + budgetMs;
    return true;
  }

  /**
   * Begins an attempt, which stays open to the end of the budget. If the command is repeatable, another one runs beside
   * it from half of the budget on. The first answer counts. Rejects with the last failure when none is open any more.
   */
  private openAttempts(): Promise<RuntimeAnswer> {
    const { outage, budgetMs } = this.parts;
    return new Promise((resolve, reject) => {
      const attempts = new Set<RunningAttempt>();
      let nextTimer: NodeJS.Timeout | undefined;
      const settle = (finish: () => void): void => {
        clearTimeout(nextTimer);
        const others = [...attempts];
        attempts.clear();
        for (const other of others) other.cancel();
        finish();
      };
      const begin = (): void => {
        const attempt = this.begin(Math.max(1, this.leftMs));
        attempts.add(attempt);
        attempt.answer.then(
          (answer) => {
            if (!this.isFinal(answer)) {
              fail(attempt, new FailedAttempt('answered', false, undefined, essence(answer)));
            } else if (attempts.delete(attempt)) settle(() => resolve(answer));
          },
          (failure: FailedAttempt) => fail(attempt, failure),
        );
      };
      const fail = (attempt: RunningAttempt, failure: FailedAttempt): void => {
        // A canceled attempt fails, too, and nothing may follow it.
        if (!attempts.delete(attempt)) return;
        this.note(failure);
        if (attempts.size === 0) settle(() => reject(failure));
        else if (this.mayFollow(failure)) beginIn(this.backoffMs());
      };
      const beginIn = (waitMs: number): void => {
        if (!this.hasTimeIn(waitMs)) return;
        const next = (): void => {
          if (outage.isUnderWay) beginIn(MAX_BACKOFF_MS);
          else if (this.hasTimeIn(0)) begin();
        };
        nextTimer = setTimeout(next, waitMs);
      };
      begin();
      const untilHalfMs = this.leftMs - budgetMs / 2;
      if (this.command.isRepeatable && untilHalfMs > 0) beginIn(untilHalfMs);
    });
  }

  /** Whether the runtime would give this answer again. */
  private isFinal({ status }: RuntimeAnswer): boolean {
    if (!this.command.isRepeatable) return true;
    // Restate answers before it has loaded its services, and then knows none of them.
    return !PROXY_STATUSES.has(status) && !(status === 404 && this.parts.outage.isJustOver);
  }

  private mayFollow(failure: FailedAttempt): boolean {
    const { reached, answer } = failure;
    const mayPass = answer !== undefined || isCut(failure);
    const { isRepeatable } = this.command;
    return !this.parts.outage.isStopped && maySendAgain({ reached, isRepeatable, mayPass });
  }

  private note(failure: FailedAttempt): void {
    this.failures++;
    if (failure.reached !== 'nowhere' || this.isUnsent) this.failure = failure;
  }

  /** Whether the runtime cannot have any of the command. */
  private get isUnsent(): boolean {
    return this.failure === undefined || this.failure.reached === 'nowhere';
  }

  /** Exponential backoff, with jitter over its upper half. */
  private backoffMs(): number {
    const ceilingMs = Math.min(FIRST_BACKOFF_MS * 2 ** (this.failures - 1), MAX_BACKOFF_MS);
    return ceilingMs * (0.5 + Math.random() / 2);
  }

  private hasTimeIn(waitMs: number): boolean {
    return waitMs <= this.leftMs - MIN_LEFT_MS;
  }

  private get leftMs(): number {
    return this.endsAtMs - awakeMs();
  }

  private outcome(): RuntimeAnswer {
    if (this.failure?.answer) return this.failure.answer;
    throw this.failure;
  }

  /**
   * Throws `ClientGone` if the client has disconnected and the runtime could not recognize its next try. Nothing of
   * the command was sent yet, and sending it now could make it run twice.
   */
  private stopForClientGone(): void {
    if (!this.command.isRepeatable && this.command.clientHasGone()) throw new ClientGone();
  }
}

/** What is needed of an answer that waits through further attempts. No budget counts it meanwhile. */
function essence({ status, headers, text }: RuntimeAnswer): RuntimeAnswer {
  return {
    status,
    headers: { 'transfer-encoding': headers['transfer-encoding'] },
    text: text.length > MAX_KEPT_TEXT ? '' : text,
  };
}
