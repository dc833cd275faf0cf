import { setTimeout as sleep } from 'node:timers/promises';
import { awakeMs } from '../platform/clock/awake-clock.ts';
import { ClientGone } from '../platform/http/client-gone.ts';
import { maySendAgain } from '../proxy/upstream/send-again.ts';
import { retryAfterMs } from './runtime-answer.ts';
import { FailedAttempt, isCut, RuntimeAnswer } from './runtime-attempt.ts';
import type { RuntimeOutage, WaitingCommand } from './runtime-outage.ts';
import type { RuntimeSilence } from './runtime-silence.ts';

const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 500;
/** With less time left than this, no other attempt begins. */
const MIN_LEFT_MS = 50;

/** The runtime's own errors are shorter. A longer one is the page of a proxy. */
const MAX_KEPT_TEXT = 1_024;

/** What all commands share. */
export interface AttemptsParts {
  outage: RuntimeOutage;
  silence: RuntimeSilence;
  /** The time for all attempts at a command that has reached the runtime. */
  budgetMs: number;
  /** The longest time that a command waits for a runtime that is away. */
  outageWaitMs: number;
  /** Whether an answer is of what stands before the runtime, and says nothing about the command. */
  isRefusal: (answer: RuntimeAnswer) => boolean;
}

/** The properties of a command that its attempts depend on. */
export interface AttemptedCommand extends WaitingCommand {
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
  private readonly attempt: (timeoutMs: number) => Promise<RuntimeAnswer>;
  /** The end of the budget, of the time in which this process runs. */
  private endsAtMs = 0;
  /** Until when it waits for a runtime that is away. A second outage does not prolong it. */
  private waitsUntilMs: number | undefined;
  /** The failure for the client. "Nothing was sent" would be untrue after an attempt that the runtime may have. */
  private failure: FailedAttempt | undefined;
  private failures = 0;

  /** `attempt` makes an attempt that takes at most `timeoutMs`. It rejects with a `FailedAttempt`. */
  constructor(
    parts: AttemptsParts,
    command: AttemptedCommand,
    attempt: (timeoutMs: number) => Promise<RuntimeAnswer>,
  ) {
    this.parts = parts;
    this.command = command;
    this.attempt = attempt;
  }

  /** Rejects with a `FailedAttempt`, or `ClientGone`. */
  async answer(): Promise<RuntimeAnswer> {
    const { outage, budgetMs } = this.parts;
    this.endsAtMs = awakeMs() + budgetMs;
    for (;;) {
      const mustWait = outage.isUnderWay;
      const turn = mustWait ? await this.turn() : 'go';
      if (turn === 'late') return this.outcome();
      try {
        if (mustWait || this.failure) this.stopForClientGone();
        const answer = await this.tellOutage(this.attempt(Math.max(1, this.leftMs)));
        if (this.isFinal(answer)) return answer;
        this.note(new FailedAttempt('answered', false, undefined, essence(answer)));
      } catch (failure) {
        if (!(failure instanceof FailedAttempt)) throw failure;
        this.note(failure);
        if (!this.mayFollow(failure)) return this.outcome();
      } finally {
        if (turn === 'probe') outage.probed(this.command);
      }
      if (outage.isStopped) return this.outcome();
      if (outage.isUnderWay) continue;
      const waitMs = this.backoffMs();
      if (waitMs > this.leftMs - MIN_LEFT_MS) return this.outcome();
      await sleep(waitMs);
    }
  }

  /** Waits for the end of the outage, or for the turn to probe the runtime. */
  private async turn(): Promise<'go' | 'probe' | 'late'> {
    const { outage, budgetMs, outageWaitMs } = this.parts;
    this.waitsUntilMs ??= performance.now() + outageWaitMs;
    for (;;) {
      const untilMs = this.isUnsent
        ? this.waitsUntilMs
        : Math.min(this.waitsUntilMs, performance.now() + this.leftMs - MIN_LEFT_MS);
      this.failure ??= new FailedAttempt('nowhere', false, outage.cause);
      const turn = await outage.wait(this.command, untilMs);
      if (turn === 'go' && outage.isUnderWay) continue;
      if (turn !== 'late' && this.isUnsent) this.endsAtMs = awakeMs() + budgetMs;
      return turn;
    }
  }

  private async tellOutage(attempt: Promise<RuntimeAnswer>): Promise<RuntimeAnswer> {
    const { outage, isRefusal, silence } = this.parts;
    const sentAtMs = performance.now();
    const ended = silence.sent(this.command.entity);
    const answer = await attempt.finally(ended);
    if (answer.status < 300) outage.accepted();
    if (isRefusal(answer)) outage.refused(this.command.entity, retryAfterMs(answer));
    else outage.answered(sentAtMs);
    return answer;
  }

  /** Whether the runtime would give this answer again. */
  private isFinal(answer: RuntimeAnswer): boolean {
    if (!this.command.isRepeatable) return true;
    // Restate answers before it has loaded its services, and then knows none of them.
    const isUnloaded = answer.status === 404 && this.parts.outage.isJustOver;
    return !this.parts.isRefusal(answer) && !isUnloaded;
  }

  private mayFollow(failure: FailedAttempt): boolean {
    const { reached } = failure;
    const { isRepeatable } = this.command;
    return maySendAgain({ reached, isRepeatable, mayPass: isCut(failure) });
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
function essence({ status, header, text }: RuntimeAnswer): RuntimeAnswer {
  const headers = ['transfer-encoding', 'x-restate-error-source', 'retry-after'].flatMap((name) => {
    const value = header(name);
    return value === undefined ? [] : [name, value];
  });
  return new RuntimeAnswer(status, headers, text.length > MAX_KEPT_TEXT ? '' : text);
}
