import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Pool, type Dispatcher } from 'undici';
import { InjectConfig, type GatewayConfig } from '../config/gateway-config.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { upstreamTimeout } from '../proxy/upstream-error.ts';
import { classifyFailure } from './runtime-failure.ts';
import { interpretAnswer, type AcceptedCommand } from './runtime-answer.ts';

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
}

/** For how long a connection that cannot be made is tried again; nothing has been sent by then. */
const CONNECT_RETRY_MS = 2_000;
const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 500;
const MAX_ANSWER_BYTES = 1_048_576;

/** Sends commands to the runtime's ingress over a pool of kept connections. */
@Injectable()
export class RuntimeClient implements OnModuleDestroy {
  private readonly pool: Pool;
  private readonly basePath: string;
  private readonly authorization: string | undefined;
  private readonly budgetMs: number;

  constructor(@InjectConfig() { runtime, timeouts }: GatewayConfig) {
    const url = new URL(runtime.ingressUrl);
    this.basePath = url.pathname.replace(/\/$/, '');
    this.authorization = runtime.token && `Bearer ${runtime.token}`;
    this.budgetMs = timeouts.responseMs;
    this.pool = new Pool(url.origin, { connect: { timeout: timeouts.connectMs }, pipelining: 1 });
  }

  async onModuleDestroy(): Promise<void> {
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
    const startedAtMs = performance.now();
    const elapsedMs = (): number => performance.now() - startedAtMs;
    for (let attempt = 0; ; attempt++) {
      const leftMs = this.budgetMs - elapsedMs();
      // Where another attempt may follow, one takes at most half of what is left.
      const timeoutMs = Math.max(1, command.isRepeatable ? leftMs / 2 : leftMs);
      try {
        return await this.attempt(command, timeoutMs);
      } catch (error) {
        const failure = classifyFailure(error);
        const mayRetry = failure.nothingSent
          ? elapsedMs() < Math.min(CONNECT_RETRY_MS, this.budgetMs)
          : failure.isTransient && command.isRepeatable;
        const waitMs = backoffMs(attempt);
        if (!mayRetry || elapsedMs() + waitMs + MIN_ATTEMPT_MS > this.budgetMs) throw failure.error;
        await sleep(waitMs);
      }
    }
  }

  private async attempt(command: RuntimeCommand, timeoutMs: number): Promise<AcceptedCommand> {
    // One clock over the whole attempt: undici's own timeouts are coarse, and each has its phase.
    const clock = new AbortController();
    const timer = setTimeout(() => clock.abort(upstreamTimeout(this.budgetMs)), timeoutMs);
    try {
      const answer = await this.pool.request({
        method: 'POST',
        path: `${this.basePath}/${command.service}/${encodeURIComponent(command.key)}/${command.handler}/send`,
        headers: {
          ...command.headers,
          ...(this.authorization && { authorization: this.authorization }),
        },
        body: command.body,
        signal: clock.signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      return interpretAnswer(answer.statusCode, answer.headers, await readText(answer.body));
    } finally {
      clearTimeout(timer);
    }
  }
}

/** An attempt shorter than this is not worth beginning. */
const MIN_ATTEMPT_MS = 10;

/** Exponential, with full jitter over its upper half. */
function backoffMs(attempt: number): number {
  const ceilingMs = Math.min(FIRST_BACKOFF_MS * 2 ** attempt, MAX_BACKOFF_MS);
  return ceilingMs * (0.5 + Math.random() / 2);
}

async function readText(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) {
      throw new GatewayError('upstream_invalid_response', 'The runtime gave too long an answer.');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length).toString('utf8');
}
