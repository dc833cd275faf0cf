import { Injectable } from '@nestjs/common';
import { InjectConfig, type GatewayConfig } from '../../config/gateway-config.ts';
import { CatchUpLine } from './catch-up-line.ts';
import type { SharedRequestParts } from './shared-request.ts';
import { LiveGroup } from './live-group.ts';
import { readKey } from './read-key.ts';
import { ReadSender } from './read-sender.ts';
import type { Reader } from './reader.ts';
import { HeldBytes } from '../../memory/held-bytes.ts';

/** Groups the readers of the same read, so that one upstream request serves all of them. */
@Injectable()
export class ReadSharing {
  private readonly isOn: boolean;
  private readonly liveGroups = new Map<string, LiveGroup>();
  private readonly catchUpLines = new Map<string, CatchUpLine>();
  private readonly parts: SharedRequestParts;

  constructor(@InjectConfig() { sharedReads }: GatewayConfig, sender: ReadSender, held: HeldBytes) {
    this.isOn = sharedReads;
    this.parts = {
      sender,
      held,
      sendAlone: (reader) => this.sendAlone(reader),
      setShare: (reader, share, first) => {
        reader.call.context.sharedWith = first?.context;
        reader.share = share;
      },
    };
  }

  /** Ensures that a reader gets a response that was requested after the reader came. */
  add(reader: Reader): void {
    const { upstream, target } = reader.call;
    const isLiveRead = upstream.protocol.isSurelyLive(target);
    if (!this.isOn || (isLiveRead && upstream.protocol.isFromNow(target))) {
      this.sendAlone(reader);
      return;
    }
    const key = readKey(reader.call);
    if (isLiveRead) this.addLive(key, reader);
    else this.addCatchUp(key, reader);
  }

  private sendAlone(reader: Reader): void {
    this.parts.setShare(reader, 'apart');
    new LiveGroup(reader, this.parts).launch();
  }

  private addCatchUp(key: string, reader: Reader): void {
    let line = this.catchUpLines.get(key);
    if (!line) {
      line = new CatchUpLine(this.parts, () => this.catchUpLines.delete(key));
      this.catchUpLines.set(key, line);
    }
    line.add(reader);
  }

  private addLive(key: string, reader: Reader): void {
    const group = this.liveGroups.get(key);
    if (group) {
      group.join(reader);
      return;
    }
    const opened = new LiveGroup(reader, this.parts, () => this.liveGroups.delete(key));
    this.liveGroups.set(key, opened);
    this.parts.setShare(reader, 'first');
    opened.launch();
  }
}
