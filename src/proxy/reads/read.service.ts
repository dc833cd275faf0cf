import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { OpenReadLimits } from '../limits/open-read-limits.ts';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import type { Caller } from '../../platform/server/caller.ts';
import { LabeledCounter } from '../../platform/metrics/instruments.ts';
import { Telemetry } from '../../platform/telemetry/telemetry.ts';
import { OpenRequests } from '../../platform/server/open-requests.ts';
import type { AnswerRules } from '../headers/response-headers.ts';
import { ClientAnswer } from './client-answer.ts';
import type { ReadCall } from './proxy-call.ts';
import { ReadSharing } from './read-sharing.ts';
import { Reader } from './reader.ts';
import { READ_SHARES, type AnswerCall } from './shared-answer.ts';

/** How often the tokens of all open reads are compared with the clock: a timer for each of ten thousand would cost more. */
const CLOCK_CHECK_MS = 100;

const MODES = ['catch-up', 'long-poll', 'sse'];
/** Every route of reads asks for a credential. */
const NOBODY: Caller = { id: '', isSubject: false };

/** Answers reads: GET and HEAD, without a body, of timelines and of shapes. */
@Injectable()
export class ReadService implements OnApplicationShutdown {
  /** The number of upstream requests is `first` plus `apart`. */
  private readonly shares;
  /** When the first token of an open read expires. */
  private nextEndMs = Number.POSITIVE_INFINITY;
  private readonly checkTimer = setInterval(() => this.endExpired(), CLOCK_CHECK_MS).unref();

  constructor(
    private readonly sharing: ReadSharing,
    private readonly held: HeldBytes,
    private readonly limits: OpenReadLimits,
    private readonly openRequests: OpenRequests,
    { registry }: Telemetry,
  ) {
    this.shares = new LabeledCounter(registry, {
      name: 'gateway_shared_reads_total',
      help: 'Reads by how they were served: the first of an upstream request, joined to one, or apart from others.',
      labelNames: ['mode', 'share'],
    });
    for (const mode of MODES) for (const share of READ_SHARES) this.shares.series(mode, share);
  }

  onApplicationShutdown(): void {
    clearInterval(this.checkTimer);
  }

  /** `onRefused` gets the error of a read whose answer has not begun. Throws `overloaded`. */
  answer(
    call: ReadCall,
    response: ServerResponse,
    rules: AnswerRules,
    onRefused: (error: Error) => void,
  ): void {
    const { context } = call;
    this.limits.enter(context.caller ?? NOBODY);
    const client = new ClientAnswer(response, context, rules, this.held);
    const reader = new Reader(call, client, this.onLeft, onRefused);
    context.openRead = reader;
    this.nextEndMs = Math.min(this.nextEndMs, context.expiresAtMs ?? this.nextEndMs);
    this.sharing.add(call, reader);
  }

  /** How a read was shared is known at its end: a reader that cannot share a response gets a request of its own. */
  private readonly onLeft = ({ share, context }: AnswerCall): void => {
    this.limits.leave(context.caller ?? NOBODY);
    if (share) this.shares.series(context.live ?? 'catch-up', share).add();
  };

  private endExpired(): void {
    const nowMs = Date.now();
    if (nowMs < this.nextEndMs) return;
    this.nextEndMs = Number.POSITIVE_INFINITY;
    for (const { expiresAtMs, expiryError, openRead } of this.openRequests) {
      // An API key has no end.
      if (!openRead || !expiryError || expiresAtMs === undefined) continue;
      if (expiresAtMs <= nowMs) openRead.endEarly(expiryError());
      else this.nextEndMs = Math.min(this.nextEndMs, expiresAtMs);
    }
  }
}
