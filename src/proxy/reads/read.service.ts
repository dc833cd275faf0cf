import { Injectable } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { Deadlines } from '../../platform/collections/deadlines.ts';
import { OpenReadLimits } from '../limits/open-read-limits.ts';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { ReadShareMetrics } from './read-share-metrics.ts';
import type { AnswerRules } from '../headers/response-headers.ts';
import { ClientAnswer } from './client-answer.ts';
import type { ReadCall } from './read-call.ts';
import { ReadSharing } from './read-sharing.ts';
import { Reader, type ReaderCounts } from './reader.ts';

/** How often the wall clock is read while a read waits for its token's end, because somebody may set the clock. */
const CLOCK_CHECK_MS = 1_000;

/** Answers reads: GET and HEAD, without a body, of timelines and of shapes. */
@Injectable()
export class ReadService implements ReaderCounts<ReadCall> {
  private readonly tokenEnds = new Deadlines<Reader<ReadCall>>(
    () => Date.now(),
    (reader) => reader.expire(),
    CLOCK_CHECK_MS,
  );

  constructor(
    private readonly sharing: ReadSharing,
    private readonly held: HeldBytes,
    private readonly shareMetrics: ReadShareMetrics,
    private readonly limits: OpenReadLimits,
  ) {}

  /** `onRefused` gets the error of a read whose answer has not begun. Throws `overloaded`. */
  answer(
    call: ReadCall,
    response: ServerResponse,
    rules: AnswerRules,
    onRefused: (error: Error) => void,
  ): void {
    const { context } = call;
    const { expiresAtMs } = context;
    this.limits.enter(call.caller);
    const client = new ClientAnswer(response, context, rules, this.held);
    const reader = new Reader(call, client, this, onRefused);
    context.openRead = reader;
    // An API key has no end.
    if (expiresAtMs !== undefined) reader.expiry = this.tokenEnds.add(expiresAtMs, reader);
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
}
