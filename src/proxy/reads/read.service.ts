import { Injectable } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { tokenExpired } from '../../auth/bearer.ts';
import { awakeMs } from '../../platform/clock/awake-clock.ts';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { OpenReadLimits } from '../../platform/limits/open-read-limits.ts';
import { ReadShareMetrics } from '../../platform/telemetry/read-share-metrics.ts';
import { ClientAnswer } from './client-answer.ts';
import { Deadlines, type Deadline } from './deadlines.ts';
import { upstreamError } from '../upstream/upstream-error.ts';
import { Reader } from './reader.ts';
import { ReadSharing } from './read-sharing.ts';
import type { ReadCall } from './read-call.ts';
import type { AnswerRules } from '../headers/response-headers.ts';

/** How often the wall clock is read while a read waits for its token's end, because somebody may set the clock. */
const CLOCK_CHECK_MS = 1_000;

/** Answers reads: GET and HEAD, without a body, of timelines and of shapes. */
@Injectable()
export class ReadService {
  private readonly timeouts = new Deadlines<Reader>(awakeMs, (reader) => {
    const { call, place } = reader;
    const reached = place?.reached ?? 'sent';
    reader.fail(upstreamError(call, { reached, timeoutMs: timeoutMsOf(call) }));
  });
  private readonly tokenEnds = new Deadlines<Reader>(
    () => Date.now(),
    (reader) => reader.endEarly(tokenExpired()),
    CLOCK_CHECK_MS,
  );

  constructor(
    private readonly sharing: ReadSharing,
    private readonly held: HeldBytes,
    readonly counts: ReadShareMetrics,
    readonly limits: OpenReadLimits,
  ) {}

  /** `onRefused` gets the error of a read whose answer has not begun. Throws `overloaded`. */
  answer(
    call: ReadCall,
    response: ServerResponse,
    rules: AnswerRules,
    onRefused: (error: Error) => void,
  ): void {
    const { context } = call;
    const { tokenEndsAtMs } = context;
    this.limits.enter(call.credentialId);
    const clientAnswer = new ClientAnswer(response, context, rules, this.held);
    const reader = new Reader(call, clientAnswer, this, onRefused);
    context.openRead = reader;
    // An API key has no end.
    if (tokenEndsAtMs !== undefined) reader.expiry = this.tokenEnds.add(tokenEndsAtMs, reader);
    this.sharing.add(reader);
  }

  /** Fails a reader after the time that an upstream has to the headers of a response. */
  startTimeout(reader: Reader): Deadline<Reader> {
    return this.timeouts.add(awakeMs() + timeoutMsOf(reader.call), reader);
  }
}

function timeoutMsOf({ context, upstream }: ReadCall): number {
  return context.live ? upstream.liveTimeoutMs : upstream.timeoutMs;
}
