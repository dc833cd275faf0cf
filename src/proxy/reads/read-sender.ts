import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { LOGGER } from '../../platform/log/log.module.ts';
import { UpstreamCalls } from '../../platform/telemetry/upstream-calls.ts';
import { UpstreamRead, type ReadCall, type ReadObserver } from './upstream-read.ts';

/** Sends reads, each over a connection of its upstream's pool. */
@Injectable()
export class ReadSender {
  constructor(
    readonly calls: UpstreamCalls,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** A read that its `start` sends. */
  prepare(call: ReadCall, observer: ReadObserver): UpstreamRead {
    return new UpstreamRead(call, this, observer);
  }

  /** Logs what an observer threw: a bug of the gateway. Readers whose responses have begun cannot get it. */
  logFault(fault: unknown, { context: { requestId, traceId } }: ReadCall): void {
    this.logger.error(
      { requestId, traceId, code: 'internal_error', err: fault },
      'the gateway failed to pass on an answer',
    );
  }
}
