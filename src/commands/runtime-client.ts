import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Pool, type Dispatcher } from 'undici';
import { InjectConfig, type GatewayConfig } from '../config/gateway-config.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import { ClientGone } from '../http/client-gone.ts';
import type { RequestContext } from '../server/request-context.ts';
import { UpstreamCalls } from '../telemetry/upstream-calls.ts';
import { KEPT_BY_UNDICI } from '../upstream/connections/idle-time.ts';
import { maySendAgain } from '../upstream/send-again.ts';
import { upstreamError } from '../upstream/upstream-error.ts';
import { Upstreams, type Upstream } from '../upstream/upstreams.ts';
import { interpretAnswer, type AcceptedCommand, type SentCommand } from './runtime-answer.ts';
import { RuntimeOutage } from './runtime-outage.ts';
import { attemptRequest, FailedAttempt, type RuntimeAnswer } from './runtime-attempt.ts';

/** A one-way durable send. */
export interface RuntimeCommand {
  service: string;
  /** The virtual-object key, not encoded yet. */
  key: string;
  handler: 'spawn' | 'wake' | 'control';
  body: Buffer;
  /** All headers of the request except the credential. The runtime journals them. */
  headers: Record<string, string>;
  /** Whether the runtime would recognize a repetition. Only then is a retry safe. */
  isRepeatable: boolean;
  /** Whether the client has disconnected before its response. */
  clientHasGone: () => boolean;
  /** The client's request, for logs, metrics and traces. */
  context: RequestContext;
}

const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 500;
/** With less time left than this, no other attempt begins. */
const MIN_LEFT_MS = 50;
/** The response to a send has a hundred bytes, an error a few thousand. */
const MAX_ANSWER_BYTES = 65_536;

/** Sends commands to the runtime's ingress over a pool of kept connections. */
@Injectable()
export class RuntimeClient implements OnApplicationShutdown {
  private readonly pool: Pool;
  private readonly outage = new RuntimeOutage();
  private readonly upstream: Upstream;
  private readonly budgetMs: number;

  constructor(
    @InjectConfig() { timeouts }: GatewayConfig,
    { runtimeIngress, names }: Upstreams,
    private readonly upstreamCalls: UpstreamCalls,
  ) {
    this.upstream = runtimeIngress;
    this.budgetMs = timeouts.responseMs;
    this.pool = new Pool(runtimeIngress.base.origin, {
      ...KEPT_BY_UNDICI,
      connect: { timeout: timeouts.connectMs, lookup: names.lookup },
      pipelining: 1,
      // Over HTTP/2 undici replays requests by itself, after a GOAWAY or a refused stream.
      allowH2: false,
      // `runtime-attempt.ts` has the timeout of the attempt.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: MAX_ANSWER_BYTES,
    });
  }

  /** The pool closes after the listener, because commands in flight must still get their responses. */
  async onApplicationShutdown(): Promise<void> {
    await this.pool.destroy();
    this.outage.over();
  }

  /**
   * Resolves once the runtime has the command in its journal. Rejects with a `GatewayError`, or `ClientGone`.
   *
   * It retries within the command's budget: a repeatable command after any failed attempt, any other only while
   * nothing of it was sent.
   */
  async send(command: RuntimeCommand): Promise<AcceptedCommand> {
    const { upstream } = this;
    command.context.upstream = upstream.name;
    const sent = { upstream, method: 'POST', target: targetOf(command, upstream) };
    try {
      return interpretAnswer(sent, await this.answerTo(command, sent));
    } finally {
      this.outage.leave(command);
    }
  }

  private async answerTo(command: RuntimeCommand, sent: SentCommand): Promise<RuntimeAnswer> {
    const endsAtMs = performance.now() + this.budgetMs;
    let furthest: FailedAttempt | undefined;
    for (let attempt = 0; ; attempt++) {
      // On a busy machine a wait can take longer than requested.
      const leftMs = Math.max(1, endsAtMs - performance.now());
      // If another attempt may follow, one attempt takes at most half of the remaining time.
      const timeoutMs = command.isRepeatable ? leftMs / 2 : leftMs;
      try {
        return await this.attempt(command, sent, timeoutMs);
      } catch (failure) {
        if (!(failure instanceof FailedAttempt)) throw failure;
        // "Could not be reached" would be untrue if an earlier attempt may be with the runtime.
        if (failure.reached !== 'nowhere' || !furthest) furthest = failure;
        const lastAtMs = endsAtMs - MIN_LEFT_MS;
        if (!(await this.mayFollow(failure, command, backoffMs(attempt), lastAtMs))) {
          throw toGatewayError(sent, furthest, this.budgetMs);
        }
        stopForClientGone(command);
      }
    }
  }

  /** Resolves with true when the next attempt must begin, or with false if there is none. */
  private async mayFollow(
    { reached, isTimeout }: FailedAttempt,
    command: RuntimeCommand,
    waitMs: number,
    lastAtMs: number,
  ): Promise<boolean> {
    if (this.pool.destroyed) return false;
    const { isRepeatable } = command;
    if (!maySendAgain({ reached, isTimeout, isRepeatable })) return false;
    const leftMs = lastAtMs - performance.now();
    if (reached === 'nowhere') return this.outage.turn(command, waitMs, leftMs);
    if (waitMs > leftMs) return false;
    await sleep(waitMs);
    return true;
  }

  /** Rejects with a `FailedAttempt`. */
  private async attempt(
    command: RuntimeCommand,
    sent: SentCommand,
    timeoutMs: number,
  ): Promise<RuntimeAnswer> {
    const { upstream, target } = sent;
    const call = this.upstreamCalls.begin(upstream.name, 'POST', command.context, target);
    try {
      const options = requestOf(command, sent, call.headers);
      const answer = await attemptRequest(this.pool, options, timeoutMs, () => this.outage.over());
      call.answered(answer.status);
      call.ended();
      return answer;
    } catch (failure) {
      call.failed(
        failure instanceof FailedAttempt ? toGatewayError(sent, failure, timeoutMs) : failure,
      );
      throw failure;
    }
  }
}

/** The path of the runtime request. */
function targetOf({ service, key, handler }: RuntimeCommand, { basePath }: Upstream): string {
  return `${basePath}/${service}/${encodeURIComponent(key)}/${handler}/send`;
}

function requestOf(
  { body, headers }: RuntimeCommand,
  { upstream: { authorization }, target }: SentCommand,
  moreHeaders: Record<string, string> | undefined,
): Dispatcher.DispatchOptions {
  return {
    method: 'POST',
    path: target,
    headers: { ...headers, ...moreHeaders, ...(authorization && { authorization }) },
    body,
  };
}

function toGatewayError(
  sent: SentCommand,
  { reached, isTimeout, cause }: FailedAttempt,
  timeoutMs: number,
): GatewayError {
  return upstreamError(sent, { reached, cause, timeoutMs: isTimeout ? timeoutMs : undefined });
}

/**
 * Throws `ClientGone` if the client has disconnected and the runtime could not recognize its next try. Nothing of
 * the command was sent yet, and sending it now could make it run twice.
 */
function stopForClientGone(command: RuntimeCommand): void {
  if (!command.isRepeatable && command.clientHasGone()) throw new ClientGone();
}

/** Exponential backoff, with jitter over its upper half. */
function backoffMs(attempt: number): number {
  const ceilingMs = Math.min(FIRST_BACKOFF_MS * 2 ** attempt, MAX_BACKOFF_MS);
  return ceilingMs * (0.5 + Math.random() / 2);
}
