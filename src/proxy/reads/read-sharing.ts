import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { InjectConfig, type GatewayConfig } from '../../platform/config/gateway-config.ts';
import { LOGGER } from '../../platform/log/create-logger.ts';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { UpstreamCalls } from '../../platform/telemetry/upstream-calls.ts';
import { ReadGroup } from './read-group.ts';
import { readKey } from './read-key.ts';
import type { Reader } from './reader.ts';
import { SharedRequest } from './shared-request.ts';
import type { ReadCall } from './read-call.ts';
import { UpstreamRead, type ReadObserver } from './upstream-read.ts';

/** Groups the readers of the same read, so that one upstream request serves all of them. */
@Injectable()
export class ReadSharing {
  /** The groups with a request that is in progress or that readers may join. Each removes itself. */
  readonly groups = new Map<string, ReadGroup>();
  private readonly isOn: boolean;

  constructor(
    @InjectConfig() { sharedReads }: GatewayConfig,
    readonly held: HeldBytes,
    readonly calls: UpstreamCalls,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.isOn = sharedReads;
  }

  /** Ensures that a reader gets a response that was requested after the reader came. */
  add(reader: Reader): void {
    const { upstream, target } = reader.call;
    // It decides by the target, which is part of the key. So equal keys are both live or neither is.
    const isLive = upstream.protocol.isSurelyLive(target);
    if (!this.isOn || (isLive && upstream.protocol.isFromNow(target))) {
      this.sendAlone(reader);
      return;
    }
    const key = readKey(reader.call);
    let group = this.groups.get(key);
    if (!group) this.groups.set(key, (group = new ReadGroup(this, key, isLive)));
    group.add(reader);
  }

  /** Sends a request for this reader and no other. */
  sendAlone(reader: Reader): void {
    const request = new SharedRequest(this);
    request.join(reader);
    request.launch('apart');
  }

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
