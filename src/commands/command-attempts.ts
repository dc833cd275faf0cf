import { setTimeout as sleep } from 'node:timers/promises';
import { awakeMs } from '../platform/clock/awake-clock.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { ClientGone } from '../platform/http/client-gone.ts';
import { maySendAgain } from '../proxy/upstream/send-again.ts';
import { upstreamError } from '../proxy/upstream/upstream-error.ts';
import {
  interpretAnswer,
  isRefusal,
  retryAfterMs,
  type AcceptedCommand,
  type SentCommand,
} from './runtime-answer.ts';
import type { FailedAttempt, RuntimeAnswer } from './runtime-attempt.ts';
import type { RuntimeOutage, WaitingCommand } from './runtime-outage.ts';

const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 500;
/** With less time left than this, no other attempt begins. */
const MIN_LEFT_MS = 50;

/** What all commands share. */
export interface AttemptsParts {
  outage: RuntimeOutage;
  /** The time for all attempts at a command that has reached the runtime. */
  budgetMs: number;
  /** The longest time that a command waits for a runtime that is away. */
  outageWaitMs: number;
}

/** The properties of a command that its attempts depend on. */
export interface AttemptedCommand extends SentCommand, WaitingCommand {
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
  private readonly send: (timeoutMs: number) => Promise<RuntimeAnswer | FailedAttempt>;
  /** The end of the budget, of the time in which this process runs. */
  private endsAtMs = 0;
  /** Until when it waits for a runtime that is away. A second outage does not prolong it. */
  private waitsUntilMs: number | undefined;
  /** The failure for the client. "Nothing was sent" would be untrue after an attempt that the runtime may have. */
  private failure: FailedAttempt | undefined;

  /** `send` makes an attempt that takes at most `timeoutMs`. */
  constructor(parts: AttemptsParts, command: AttemptedCommand, send: CommandAttempts['send']) {
    this.parts = parts;
    this.command = command;
    this.send = send;
  }

  /** Rejects with a `GatewayError`, or `ClientGone`. */
  async accepted(): Promise<AcceptedCommand> {
    const { outage, budgetMs } = this.parts;
    const { isRepeatable, clientHasGone } = this.command;
    this.endsAtMs = awakeMs() + budgetMs;
    for (let backoffMs = FIRST_BACKOFF_MS; ; backoffMs = Math.min(2 * backoffMs, MAX_BACKOFF_MS)) {
      const mustWait = outage.underWay !== undefined;
      if (mustWait && !(await this.hasTurn())) break;
      // Nothing of it was sent yet, and the runtime could not recognize the client's next try: it could run twice.
      if ((mustWait || this.failure) && !isRepeatable && clientHasGone()) throw new ClientGone();
      const result = await this.attempt();
      if ('invocationId' in result) return result;
      if (result.reached !== 'nowhere' || this.isUnsent) this.failure = result;
      if (!maySendAgain({ ...result, isRepeatable })) break;
      if (outage.underWay) continue;
      // With jitter over its upper half.
      const waitMs = backoffMs * (0.5 + Math.random() / 2);
      if (waitMs > this.leftMs - MIN_LEFT_MS) break;
      await sleep(waitMs);
    }
    throw this.error();
  }

  /** Waits for the end of the outage, or for the turn to probe the runtime. */
  private async hasTurn(): Promise<boolean> {
    const { outage, budgetMs, outageWaitMs } = this.parts;
    const { isUnsent } = this;
    this.waitsUntilMs ??= performance.now() + outageWaitMs;
    const budgetUntilMs = performance.now() + this.leftMs - MIN_LEFT_MS;
    const untilMs = isUnsent ? this.waitsUntilMs : Math.min(this.waitsUntilMs, budgetUntilMs);
    const cause = outage.underWay?.cause;
    this.failure ??= { reached: 'nowhere', isTimeout: false, cause, mayPass: true };
    const hasTurn = await outage.wait(this.command, untilMs);
    if (hasTurn && isUnsent) this.endsAtMs = awakeMs() + budgetMs;
    return hasTurn;
  }

  /** Makes an attempt, and tells the outage what came of it. */
  private async attempt(): Promise<AcceptedCommand | FailedAttempt> {
    const { command } = this;
    const { outage } = this.parts;
    const sentAtMs = performance.now();
    const ended = outage.sent(command);
    try {
      const answer = await this.send(Math.max(1, this.leftMs));
      if (!('status' in answer)) return answer;
      const isRefused = isRefusal(command.api, answer);
      if (answer.status < 300) outage.accepted();
      if (isRefused) outage.refused(command, retryAfterMs(answer));
      else outage.answered(sentAtMs);
      const result = interpretAnswer(command, answer);
      if (!(result instanceof GatewayError)) return result;
      // Restate answers before it has loaded its services, and then knows none of them.
      const mayPass = isRefused || (answer.status === 404 && outage.isJustOver);
      return { reached: 'answered', isTimeout: false, cause: result, mayPass };
    } finally {
      ended();
    }
  }

  /** Whether the runtime cannot have any of the command. */
  private get isUnsent(): boolean {
    return this.failure === undefined || this.failure.reached === 'nowhere';
  }

  private get leftMs(): number {
    return this.endsAtMs - awakeMs();
  }

  private error(): GatewayError {
    const { outage, budgetMs } = this.parts;
    const { reached = 'nowhere', isTimeout, cause } = this.failure ?? {};
    return upstreamError(this.command, {
      reached,
      cause,
      timeoutMs: isTimeout ? budgetMs : undefined,
      ...(reached === 'nowhere' && { retryAfterSeconds: outage.retryAfterSeconds }),
    });
  }
}
