import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { RuntimeApi } from '../contract/environment.ts';
import { InjectConfig, type GatewayConfig } from '../contract/gateway-config.ts';
import type { HeaderList } from '../platform/http/header-list.ts';
import type { StateMetric } from '../platform/metrics/state-metric.ts';
import { HeldBytes } from '../platform/memory/held-bytes.ts';
import type { RequestContext } from '../platform/server/request-context.ts';
import type { Upstream } from '../proxy/upstream/upstream.ts';
import { Upstreams } from '../proxy/upstream/upstreams.ts';
import { CommandAttempts, type AttemptedCommand, type AttemptsParts } from './command-attempts.ts';
import type { AcceptedCommand } from './runtime-answer.ts';
import { attempt } from './runtime-attempt.ts';
import { RuntimeOutage } from './runtime-outage.ts';

/** The share of a command's time after which several that wait mean silence. By then each with a key was probed in vain. */
const SILENT_SHARE = 0.5;

/** A one-way durable send. */
export interface RuntimeCommand extends Pick<
  AttemptedCommand,
  'entity' | 'isRepeatable' | 'clientHasGone'
> {
  service: string;
  /** The virtual-object key, not encoded yet. */
  key: string;
  handler: 'spawn' | 'wake' | 'control';
  body: Buffer;
  /** All headers of the request except the credential. The runtime journals them. */
  headers: HeaderList;
  /** The client's request, for logs, metrics and traces. */
  context: RequestContext;
}

/** Sends commands to the runtime's ingress. */
@Injectable()
export class RuntimeClient implements OnApplicationShutdown {
  private readonly parts: AttemptsParts;
  private readonly upstream: Upstream;
  private readonly api: RuntimeApi;

  constructor(
    @InjectConfig() { runtime, timeouts }: GatewayConfig,
    { runtimeIngress }: Upstreams,
    private readonly held: HeldBytes,
  ) {
    const { connectMs, outageWaitMs, responseMs } = timeouts;
    this.upstream = runtimeIngress;
    this.api = runtime.api;
    const outage = new RuntimeOutage(outageWaitMs, SILENT_SHARE * responseMs, () =>
      runtimeIngress.tryConnect(connectMs),
    );
    this.parts = { outage, budgetMs: responseMs, outageWaitMs };
    runtimeIngress.onConnect = (failure) => {
      if (failure) outage.connectFailed(failure);
      else outage.connected();
    };
    runtimeIngress.isSilent = () => outage.underWay?.kind === 'silence';
  }

  readonly metrics: readonly StateMetric[] = [
    {
      name: 'gateway_waiting_commands',
      help: 'Commands that wait for a runtime that cannot be connected to, or for their turn after its return.',
      read: () => this.parts.outage.waitingCount,
    },
    {
      name: 'gateway_runtime_outage_seconds',
      help: 'Time since the runtime could not be connected to any more, or accepted no command; 0 where it does.',
      read: () => {
        const startedAtMs = this.parts.outage.underWay?.startedAtMs;
        return startedAtMs === undefined ? 0 : (performance.now() - startedAtMs) / 1_000;
      },
    },
  ];

  onApplicationShutdown(): void {
    this.parts.outage.stop();
  }

  /** Resolves once the runtime has the command in its journal. Rejects with a `GatewayError`, or `ClientGone`. */
  send(command: RuntimeCommand): Promise<AcceptedCommand> {
    const { api, upstream, parts, held } = this;
    const { body, context, isRepeatable, headers } = command;
    context.upstream = upstream.name;
    const { authorization, base } = upstream;
    const target = upstream.basePath + SEND_PATHS[api](command);
    const sent = { ...command, upstream, api, method: 'POST', target };
    const request = {
      method: 'POST',
      target,
      headers: [
        'host',
        base.host,
        ...headers,
        ...(authorization ? ['authorization', authorization] : []),
      ],
      body: { bytes: body },
      context,
      isRepeatable,
      isLive: false,
      isTimedToEnd: true,
      // A refusal of what stands before the runtime is not the runtime's word.
      isJudged: false,
    };
    const attempts = new CommandAttempts(parts, sent, (timeoutMs) =>
      attempt(upstream, { ...request, timeoutMs }, held),
    );
    return attempts.accepted();
  }
}

/** The paths of a send below the ingress, the ways in which Restate 1.7 takes it. */
const SEND_PATHS: Record<RuntimeApi, (command: RuntimeCommand) => string> = {
  classic: ({ service, key, handler }) => `/${service}/${encodeURIComponent(key)}/${handler}/send`,
  restate: ({ service, key, handler }) =>
    `/restate/send/${service}/${encodeURIComponent(key)}/${handler}`,
};
