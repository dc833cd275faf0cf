import { PIECE_OVERHEAD_BYTES, type HeldBytes } from '../platform/memory/held-bytes.ts';
import { headerValue, type HeaderList } from '../platform/http/header-list.ts';
import { ConnectionClosed } from '../proxy/upstream/connections/connection-errors.ts';
import type {
  AnswerHandler,
  ExchangeFailure,
  ExchangeRequest,
} from '../proxy/upstream/exchange.ts';
import type { Reached } from '../proxy/upstream/send-again.ts';
import type { Upstream } from '../proxy/upstream/upstream.ts';

/** The response to a send has a hundred bytes, an error a few thousand. */
const MAX_ANSWER_BYTES = 65_536;

/** A complete response of the runtime. */
export class RuntimeAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  readonly text: string;

  constructor(status: number, headers: HeaderList, text: string) {
    this.status = status;
    this.headers = headers;
    this.text = text;
  }

  /** The value of a header by its name in lower case. */
  readonly header = (lowerName: string): string | undefined => headerValue(this.headers, lowerName);
}

/** An attempt without a response, or with one that may be another one next time. */
export class FailedAttempt extends Error {
  readonly reached: Reached;
  readonly isTimeout: boolean;
  readonly answer: RuntimeAnswer | undefined;

  constructor(reached: Reached, isTimeout: boolean, cause: unknown, answer?: RuntimeAnswer) {
    super('the attempt brought no answer', { cause });
    this.name = 'FailedAttempt';
    this.reached = reached;
    this.isTimeout = isTimeout;
    this.answer = answer;
  }
}

/** Whether a response was cut. An invalid one would come again. */
export function isCut({ reached, cause }: FailedAttempt): boolean {
  const { code } = (cause ?? {}) as { code?: unknown };
  const isLost = cause instanceof ConnectionClosed || code === 'ECONNRESET' || code === 'EPIPE';
  return reached === 'answered' && (isLost || code === 'HPE_INVALID_EOF_STATE');
}

/** Sends one request and collects its response. Rejects with a `FailedAttempt`. */
export function attempt(
  upstream: Upstream,
  request: ExchangeRequest,
  held: HeldBytes,
): Promise<RuntimeAnswer> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let headers: HeaderList = [];
    let heldBytes = 0;
    let length = 0;
    const chunks: Buffer[] = [];
    const handler: AnswerHandler = {
      onHead: (statusCode, list) => {
        status = statusCode;
        headers = list;
      },
      onChunk: (chunk) => {
        chunks.push(chunk);
        length += chunk.length;
        heldBytes += chunk.length + PIECE_OVERHEAD_BYTES;
        held.hold('answers', chunk.length + PIECE_OVERHEAD_BYTES);
        if (length <= MAX_ANSWER_BYTES) return;
        exchange.cancel();
        held.release('answers', heldBytes);
        const cause = new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
        reject(new FailedAttempt('answered', false, cause));
      },
      onEnd: () => {
        held.release('answers', heldBytes);
        resolve(new RuntimeAnswer(status, headers, Buffer.concat(chunks).toString('utf8')));
      },
      onFailure: ({ reached, isTimeout, cause }: ExchangeFailure) => {
        held.release('answers', heldBytes);
        reject(new FailedAttempt(reached, isTimeout, cause));
      },
    };
    const exchange = upstream.exchange(request, handler);
  });
}
