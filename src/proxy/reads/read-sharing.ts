import { Injectable } from '@nestjs/common';
import { InjectConfig, type GatewayConfig } from '../../contract/gateway-config.ts';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { isFromNow } from '../upstream/protocols/live-parameter.ts';
import type { ReadCall } from './proxy-call.ts';
import { ReadGroup } from './read-group.ts';
import { SharedAnswer, type AnswerReader } from './shared-answer.ts';

/** Gives each reader an answer, so that one upstream request serves the readers of equal reads. */
@Injectable()
export class ReadSharing {
  /** The groups with a request that is in progress or that readers may join. Each removes itself. */
  private readonly groups = new Map<string, ReadGroup>();
  private readonly isOn: boolean;

  constructor(
    @InjectConfig() { sharedReads }: GatewayConfig,
    private readonly held: HeldBytes,
  ) {
    this.isOn = sharedReads;
  }

  /** Ensures that a reader gets a response that was requested after the reader came. */
  add(call: ReadCall, reader: AnswerReader): void {
    const { upstream, target } = call;
    // It decides by the target, which is part of the key. So equal keys are both live or neither is.
    const isLive = upstream.protocol.isSurelyLive(target);
    if (!this.isOn || (isLive && isFromNow(target))) {
      SharedAnswer.sendApart(reader, this.held);
      return;
    }
    const key = keyOf(call);
    let group = this.groups.get(key);
    if (!group) {
      const made = new ReadGroup(isLive, this.held, () => this.forget(key, made));
      this.groups.set(key, (group = made));
    }
    group.add(reader);
  }

  /** A group that was silent may end after another one has taken its place. */
  private forget(key: string, group: ReadGroup): void {
    if (this.groups.get(key) === group) this.groups.delete(key);
  }
}

/**
 * Two reads have the same key exactly if one upstream response suits both. It holds everything of the client that is
 * forwarded, except the parts of the target that the upstream takes for nothing.
 */
export function keyOf({ upstream, method, target, clientHeaders }: ReadCall): string {
  let key = `${upstream.name} ${method} ${upstream.protocol.targetForKey(target)}`;
  // Values of headers contain no line end.
  for (let i = 0; i < clientHeaders.length; i += 2)
    key += `\n${clientHeaders[i]}:${clientHeaders[i + 1]}`;
  return key;
}
