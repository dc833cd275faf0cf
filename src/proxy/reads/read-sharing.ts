import { Injectable } from '@nestjs/common';
import { InjectConfig, type GatewayConfig } from '../../config/gateway-config.ts';
import { CatchUpLine } from './catch-up-line.ts';
import type { FlightParts } from './flight.ts';
import { LiveGroup } from './live-group.ts';
import { readKey } from './read-key.ts';
import { ReadSender } from './read-sender.ts';
import type { Reader } from './reader.ts';
import type { ReadCall } from './upstream-read.ts';
import { HeldBytes } from '../../limits/held-bytes.ts';

/** Brings the readers of the same read together, so that one request to the upstream serves them all. */
@Injectable()
export class ReadSharing {
  private readonly isOn: boolean;
  private readonly liveGroups = new Map<string, LiveGroup>();
  private readonly catchUpLines = new Map<string, CatchUpLine>();
  private readonly parts: FlightParts;

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

  /** Sees to it that a reader gets an answer that was asked for after it came. */
  add(reader: Reader): void {
    const isLiveRead = isLive(reader.call);
    // From now on: no two readers mean the same by that.
    if (!this.isOn || (isLiveRead && FROM_NOW.test(reader.call.target))) {
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

/** What asks for a long-poll or an event stream (Durable Streams PROTOCOL.md, "Read modes"; Electric). */
const LIVE = { history: /^live=(?:long-poll|sse)$/, sync: /^live=true$/ };

const FROM_NOW = /[?&]offset=now(?:&|$)/;

/**
 * Whether the upstream is sure to take a read for a live one. In doubt it is a catch-up, of which no
 * reader gets an answer that was asked for before it came.
 */
function isLive({ upstream, target }: ReadCall): boolean {
  if (upstream.name === 'runtime-admin' || !target.includes('live=')) return false;
  const pairs = target.slice(target.indexOf('?') + 1).split('&');
  const modes = pairs.filter((pair) => pair.startsWith('live='));
  return modes.length === 1 && LIVE[upstream.name].test(modes[0] ?? '');
}
