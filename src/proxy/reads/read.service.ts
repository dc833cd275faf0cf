import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { OpenReadLimits } from '../limits/open-read-limits.ts';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { OpenRequests } from '../../platform/server/open-requests.ts';
import { ReadShareMetrics } from './read-share-metrics.ts';
import type { AnswerRules } from '../headers/response-headers.ts';
import { ClientAnswer } from './client-answer.ts';
import type { ReadCall } from './read-call.ts';
import { ReadSharing } from './read-sharing.ts';
import { Reader, type ReaderCounts } from './reader.ts';

/** How often the tokens of all open reads are compared with the clock: a timer for each of ten thousand would cost more. */
const CLOCK_CHECK_MS = 100;

/** Answers reads: GET and HEAD, without a body, of timelines and of shapes. */
@Injectable()
export class ReadService implements ReaderCounts<ReadCall>, OnApplicationShutdown {
  private readonly checkTimer = setInterval(() => this.endExpired(), CLOCK_CHECK_MS).unref();

  constructor(
    private readonly sharing: ReadSharing,
    private readonly held: HeldBytes,
    private readonly shareMetrics: ReadShareMetrics,
    private readonly limits: OpenReadLimits,
    private readonly openRequests: OpenRequests,
  ) {}

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
    this.limits.enter(call.caller);
    const client = new ClientAnswer(response, context, rules, this.held);
    const reader = new Reader(call, client, this, onRefused);
    context.openRead = reader;
    this.sharing.add(call, reader);
  }

  /**
   * A read is counted only when its response begins, because a reader that joined others gets a request of its own if it
   * cannot share their response.
   */
  answered({ share, context }: ReadCall): void {
    if (share) this.shareMetrics.count(context.live, share);
  }

  left(call: ReadCall): void {
    this.limits.leave(call.caller);
  }

  private endExpired(): void {
    const nowMs = Date.now();
    for (const { expiresAtMs, expiryError, openRead } of this.openRequests) {
      // An API key has no end.
      if (expiresAtMs !== undefined && expiresAtMs <= nowMs && expiryError)
        openRead?.endEarly(expiryError());
    }
  }
}
