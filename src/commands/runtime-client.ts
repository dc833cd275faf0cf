import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Pool, type Dispatcher } from 'undici';
import { InjectConfig, type GatewayConfig } from '../config/gateway-config.ts';
import type { RequestContext } from '../request/request-context.ts';
import { UpstreamCalls } from '../telemetry/upstream-calls.ts';
import { interpretAnswer, type AcceptedCommand } from './runtime-answer.ts';
import { attemptRequest, FailedAttempt, type RuntimeAnswer } from './runtime-attempt.ts';

/** A one-way durable send. */
export interface RuntimeCommand {
  service: string;
  /** Virtual-object key, not yet encoded. */
  key: string;
  handler: 'spawn' | 'wake' | 'control';
  body: Buffer;
  /** All of the request's headers but the credential: the runtime journals them. */
  headers: Record<string, string>;
  /** Whether the runtime would recognize a repetition, so that it may be sent again. */
  isRepeatable: boolean;
  /** The client's request, for logs, metrics and traces. */
  context: RequestContext;
}

/** For how long a connection that cannot be made is tried again; nothing has been sent by then. */
const CONNECT_RETRY_MS = 2_000;
const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 500;
/** With less time left than this another attempt is not worth beginning. */
const MIN_LEFT_MS = 50;
const MAX_ANSWER_BYTES = 1_048_576;

/** Sends commands to the runtime's ingress over a pool of kept connections. */
@Injectable()
export class RuntimeClient implements OnApplicationShutdown {
  private readonly pool: Pool;
  private readonly basePath: string;
  private readonly authorization: string | undefined;
  private readonly budgetMs: number;

  constructor(
    @InjectConfig() { runtime, timeouts }: GatewayConfig,
    private readonly upstreamCalls: UpstreamCalls,
  ) {
    const url = new URL(runtime.ingressUrl);
    this.basePath = url.pathname.replace(/\/$/, '');
    this.authorization = runtime.ingressToken && `Bearer ${runtime.ingressToken}`;
    this.budgetMs = timeouts.responseMs;
    this.pool = new Pool(url.origin, {
      connect: { timeout: timeouts.connectMs },
      pipelining: 1,
      // Over HTTP/2 undici replays requests by itself, after a GOAWAY or a refused stream.
      allowH2: false,
      // The attempt has a clock of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: MAX_ANSWER_BYTES,
    });
  }

  /** After the listener has closed: a command under way must still get its answer. */
  async onApplicationShutdown(): Promise<void> {
    await this.pool.destroy();
  }

  /**
   * Resolves once the runtime has the command in its journal. Rejects with a `GatewayError`.
   *
   * A connection that could not be made is tried again for up to two seconds, as nothing was sent.
   * A repeatable command is also tried again when it may have been sent, for as long as its time
   * allows; any other is sent at most once.
   */
  async send(command: RuntimeCommand): Promise<AcceptedCommand> {
    command.context.upstream = 'runtime-ingress';
    const startedAtMs = performance.now();
    const elapsedMs = (): number => performance.now() - startedAtMs;
    let furthest: FailedAttempt | undefined;
    for (let attempt = 0; ; attempt++) {
      // A wait on a busy machine may take longer than was asked for.
      const leftMs = Math.max(1, this.budgetMs - elapsedMs());
      // Where another attempt may follow, one takes at most half of what is left.
      const timeoutMs = command.isRepeatable ? leftMs / 2 : leftMs;
      try {
        return interpretAnswer(await this.attempt(command, timeoutMs));
      } catch (failure) {
        if (!(failure instanceof FailedAttempt)) throw failure;
        // "Could not be reached" would be untrue if an earlier attempt may be with the runtime.
        if (failure.reached !== 'nowhere' || !furthest) furthest = failure;
        const waitMs = backoffMs(attempt);
        const nextAtMs = elapsedMs() + waitMs;
        const mayRepeat =
          failure.reached === 'nowhere'
            ? nextAtMs < CONNECT_RETRY_MS
            : command.isRepeatable && failure.isTransient;
        if (!mayRepeat || nextAtMs + MIN_LEFT_MS > this.budgetMs || this.pool.destroyed) {
          throw furthest.toGatewayError(this.budgetMs);
        }
        await sleep(waitMs);
      }
    }
  }

  /** Rejects with a `FailedAttempt`. */
  private async attempt(command: RuntimeCommand, timeoutMs: number): Promise<RuntimeAnswer> {
    const path = this.path(command);
    const call = this.upstreamCalls.begin('runtime-ingress', 'POST', command.context, path);
    try {
      const options = this.request(path, command, call.headers);
      const answer = await attemptRequest(this.pool, options, timeoutMs);
      call.answered(answer.status);
      call.ended();
      return answer;
    } catch (failure) {
      call.failed(failure instanceof FailedAttempt ? failure.toGatewayError(timeoutMs) : failure);
      throw failure;
    }
  }

  private path({ service, key, handler }: RuntimeCommand): string {
    return `${this.basePath}/${service}/${encodeURIComponent(key)}/${handler}/send`;
  }

  private request(
    path: string,
    command: RuntimeCommand,
    moreHeaders: Record<string, string> | undefined,
  ): Dispatcher.DispatchOptions {
    const { body } = command;
    const headers = { ...command.headers, ...moreHeaders };
    return {
      method: 'POST',
      path,
      headers: { ...headers, ...(this.authorization && { authorization: this.authorization }) },
      body,
    };
  }
}

/** Exponential, with jitter over its upper half. */
function backoffMs(attempt: number): number {
  const ceilingMs = Math.min(FIRST_BACKOFF_MS * 2 ** attempt, MAX_BACKOFF_MS);
  return ceilingMs * (0.5 + Math.random() / 2);
}
