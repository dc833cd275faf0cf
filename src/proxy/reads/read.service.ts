import { Injectable } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { tokenExpired } from '../../auth/bearer.ts';
import { awakeMs } from '../../platform/clock/awake-clock.ts';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { ReadShareMetrics } from '../../platform/telemetry/read-share-metrics.ts';
import { ClientAnswer } from './client-answer.ts';
import { Deadlines } from './deadlines.ts';
import { upstreamError } from '../upstream/upstream-error.ts';
import { Reader } from './reader.ts';
import { ReadSharing } from './read-sharing.ts';
import type { ReadCall } from './upstream-read.ts';
import type { AnswerRules } from '../headers/response-headers.ts';

/** How often the wall clock is read while a read waits for its token's end, because somebody may set the clock. */
const CLOCK_CHECK_MS = 1_000;

/** Answers reads: GET and HEAD, without a body, of timelines and of shapes. */
@Injectable()
export class ReadService {
  private readonly timeouts = new Deadlines(awakeMs);
  private readonly tokenEnds = new Deadlines(() => Date.now(), CLOCK_CHECK_MS);

  constructor(
    private readonly sharing: ReadSharing,
    private readonly held: HeldBytes,
    private readonly counts: ReadShareMetrics,
  ) {}

  /** Resolves when the answer has begun. Rejects with a `GatewayError`, or `ClientGone`. */
  answer(call: ReadCall, response: ServerResponse, rules: AnswerRules): Promise<void> {
    const { context, upstream } = call;
    const timeoutMs = context.live ? upstream.liveTimeoutMs : upstream.timeoutMs;
    const { tokenEndsAtMs } = context;
    const clientAnswer = new ClientAnswer(response, context, rules, this.held);
    const reader = new Reader(call, clientAnswer, this.counts);
    response.on('close', () => reader.onClose());
    context.endRead = (error) => reader.endEarly(error);
    reader.timeout = this.timeouts.add(awakeMs() + timeoutMs, () =>
      reader.fail(upstreamError(call, { reached: 'sent', timeoutMs })),
    );
    // An API key has no end.
    if (tokenEndsAtMs !== undefined) {
      reader.expiry = this.tokenEnds.add(tokenEndsAtMs, () => reader.endEarly(tokenExpired()));
    }
    this.sharing.add(reader);
    return reader.began.promise;
  }
}
