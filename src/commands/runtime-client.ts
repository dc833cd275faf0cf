import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Pool, type Dispatcher } from 'undici';
import type { RuntimeApi } from '../platform/config/environment.ts';
import { InjectConfig, type GatewayConfig } from '../platform/config/gateway-config.ts';
import type { GatewayError } from '../platform/errors/gateway-error.ts';
import { HeldBytes } from '../platform/memory/held-bytes.ts';
import type { RequestContext } from '../platform/server/request-context.ts';
import { UpstreamCalls } from '../platform/telemetry/upstream-calls.ts';
import { KEPT_BY_UNDICI } from '../proxy/upstream/connections/idle-time.ts';
import { connectorTo } from '../proxy/upstream/connections/upstream-socket.ts';
import { upstreamError } from '../proxy/upstream/upstream-error.ts';
import { Upstreams, type Upstream } from '../proxy/upstream/upstreams.ts';
import { CommandAttempts, type AttemptedCommand, type AttemptsParts } from './command-attempts.ts';
import { interpretAnswer, type AcceptedCommand, type SentCommand } from './runtime-answer.ts';
import { FailedAttempt, startAttempt, type RunningAttempt } from './runtime-attempt.ts';
import { RuntimeOutage } from './runtime-outage.ts';
import { SlowStart } from './slow-start.ts';

/** A one-way durable send. */
export interface RuntimeCommand extends AttemptedCommand {
  service: string;
  /** The virtual-object key, not encoded yet. */
  key: string;
  handler: 'spawn' | 'wake' | 'control';
  body: Buffer;
  /** All headers of the request except the credential. The runtime journals them. */
  headers: Record<string, string>;
  /** The client's request, for logs, metrics and traces. */
  context: RequestContext;
}

/** The response to a send has a hundred bytes, an error a few thousand. */
const MAX_ANSWER_BYTES = 65_536;

/** Sends commands to the runtime's ingress over a pool of kept connections. */
@Injectable()
export class RuntimeClient implements OnApplicationShutdown {
  private readonly pool: Pool;
  private readonly parts: AttemptsParts;
  private readonly upstream: Upstream;
  private readonly api: RuntimeApi;

  constructor(
    @InjectConfig() { runtime, timeouts }: GatewayConfig,
    { runtimeIngress, names }: Upstreams,
    private readonly upstreamCalls: UpstreamCalls,
    private readonly held: HeldBytes,
  ) {
    const { connectMs, outageWaitMs, responseMs } = timeouts;
    this.upstream = runtimeIngress;
    this.api = runtime.api;
    const connect = connectorTo(runtimeIngress.base, names.lookup);
    const outage = new RuntimeOutage(outageWaitMs, connectMs, connect);
    this.parts = { outage, slowStart: new SlowStart(), budgetMs: responseMs, outageWaitMs };
    this.pool = new Pool(runtimeIngress.base.origin, {
      ...KEPT_BY_UNDICI,
      connect: { timeout: connectMs, lookup: names.lookup },
      pipelining: 1,
      // Over HTTP/2 undici replays requests by itself, after a GOAWAY or a refused stream.
      allowH2: false,
      // `runtime-attempt.ts` has the timeout of the attempt.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: MAX_ANSWER_BYTES,
    });
    this.pool.on('connect', () => outage.connected());
    this.pool.on('connectionError', (_origin, _targets, error) => outage.connectFailed(error));
  }

  /** The number of commands that wait for the runtime. */
  get waitingCount(): number {
    return this.parts.outage.waitingCount + this.parts.slowStart.waitingCount;
  }

  /** How long the runtime has been away, or 0. */
  get outageSeconds(): number {
    return this.parts.outage.seconds;
  }

  /** The pool closes after the listener, because commands in flight must still get their responses. */
  async onApplicationShutdown(): Promise<void> {
    this.parts.outage.stop();
    await this.pool.destroy();
  }

  /** Resolves once the runtime has the command in its journal. Rejects with a `GatewayError`, or `ClientGone`. */
  async send(command: RuntimeCommand): Promise<AcceptedCommand> {
    const { api, upstream, parts } = this;
    command.context.upstream = upstream.name;
    const target = upstream.basePath + SEND_PATHS[api](command);
    const sent = { upstream, api, method: 'POST', target };
    const begin = (timeoutMs: number): RunningAttempt => this.attempt(command, sent, timeoutMs);
    try {
      return interpretAnswer(sent, await new CommandAttempts(parts, command, begin).answer());
    } catch (failure) {
      throw failure instanceof FailedAttempt
        ? toGatewayError(sent, failure, parts.budgetMs)
        : failure;
    }
  }

  private attempt(command: RuntimeCommand, sent: SentCommand, timeoutMs: number): RunningAttempt {
    const { upstream, target } = sent;
    const sentAtMs = performance.now();
    const call = this.upstreamCalls.begin(upstream.name, 'POST', command.context, target);
    const request = requestOf(command, sent, call.headers);
    const attempt = startAttempt(this.pool, request, timeoutMs, this.held);
    attempt.answer.then(
      ({ status }) => {
        this.parts.outage.answered(sentAtMs);
        call.answered(status);
        call.ended();
      },
      (failure: FailedAttempt) => call.failed(toGatewayError(sent, failure, timeoutMs)),
    );
    return {
      answer: attempt.answer,
      cancel: () => {
        call.ended('canceled');
        attempt.cancel();
      },
    };
  }
}

/** The paths of a send below the ingress, the ways in which Restate 1.7 takes it. */
const SEND_PATHS: Record<RuntimeApi, (command: RuntimeCommand) => string> = {
  classic: ({ service, key, handler }) => `/${service}/${encodeURIComponent(key)}/${handler}/send`,
  restate: ({ service, key, handler }) =>
    `/restate/send/${service}/${encodeURIComponent(key)}/${handler}`,
};

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
  return upstreamError(sent, {
    reached,
    cause,
    timeoutMs: isTimeout ? timeoutMs : undefined,
    retryAfterSeconds: 1,
  });
}
