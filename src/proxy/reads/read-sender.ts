import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { InjectConfig, type GatewayConfig } from '../../config/gateway-config.ts';
import { LOGGER } from '../../log/log.module.ts';
import { UpstreamCalls } from '../../telemetry/upstream-calls.ts';
import type { Upstream } from '../../upstream/upstreams.ts';
import { ReadPool } from '../../upstream/connections/read-pool.ts';
import {
  UpstreamRead,
  type FaultListener,
  type ReadCall,
  type ReadObserver,
} from './upstream-read.ts';

/** Sends reads, each upstream's over connections of its own that are kept open. */
@Injectable()
export class ReadSender implements OnApplicationShutdown {
  private readonly pools = new Map<Upstream['name'], ReadPool>();

  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly calls: UpstreamCalls,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** After the listener has closed: a read under way is still to be answered. */
  onApplicationShutdown(): void {
    for (const pool of this.pools.values()) pool.close();
  }

  /** A read that its `start` sends. */
  prepare(call: ReadCall, observer: ReadObserver): UpstreamRead {
    return new UpstreamRead(call, this.poolOf(call.upstream), this.calls, observer, this.onFault);
  }

  /** Readers whose answers have begun cannot be told of it. */
  private readonly onFault: FaultListener = (fault, { context: { requestId, traceId } }) => {
    this.logger.error(
      { requestId, traceId, code: 'internal_error', err: fault },
      'the gateway failed to pass on an answer',
    );
  };

  private poolOf({ name, base }: Upstream): ReadPool {
    let pool = this.pools.get(name);
    if (!pool) {
      pool = new ReadPool(base, {
        connectMs: this.config.timeouts.connectMs,
        stallMs: this.config.timeouts.upstreamStallMs,
      });
      this.pools.set(name, pool);
    }
    return pool;
  }
}
