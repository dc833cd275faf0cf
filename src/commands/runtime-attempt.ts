import { PIECE_OVERHEAD_BYTES, type HeldBytes } from '../platform/memory/held-bytes.ts';
import { headerValue, type HeaderList } from '../platform/http/header-list.ts';
import { ConnectionClosed } from '../proxy/upstream/connections/connection-errors.ts';
import type {
  AnswerHandler,
  ExchangeFailure,
  ExchangeRequest,
} from '../proxy/upstream/exchange.ts';
import type { Upstream } from '../proxy/upstream/upstream.ts';

/** The response to a send has a hundred bytes, an error a few thousand. */
const MAX_ANSWER_BYTES = 65_536;

/** A complete response of the runtime. */
export interface RuntimeAnswer {
  status: number;
  text: string;
  /** The value of a header by its name in lower case. */
  header: (lowerName: string) => string | undefined;
}

/** An attempt without a response, or with one that does not accept the command. */
export interface FailedAttempt extends Pick<ExchangeFailure, 'reached' | 'isTimeout' | 'cause'> {
  /** Whether its response may be another one next time. */
  mayPass: boolean;
}

/** Whether a response was cut. An invalid one would come again. */
function isCut(cause: unknown): boolean {
  const { code } = (cause ?? {}) as { code?: unknown };
  const isLost = cause instanceof ConnectionClosed || code === 'ECONNRESET' || code === 'EPIPE';
  return isLost || code === 'HPE_INVALID_EOF_STATE';
}

/** Sends one request and collects its response. */
export function attempt(
  upstream: Upstream,
  request: ExchangeRequest,
  held: HeldBytes,
): Promise<RuntimeAnswer | FailedAttempt> {
  return new Promise((resolve) => {
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
        resolve({ reached: 'answered', isTimeout: false, cause, mayPass: false });
      },
      onEnd: () => {
        held.release('answers', heldBytes);
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status, text, header: (lowerName) => headerValue(headers, lowerName) });
      },
      onFailure: ({ reached, isTimeout, cause }: ExchangeFailure) => {
        held.release('answers', heldBytes);
        resolve({ reached, isTimeout, cause, mayPass: isCut(cause) });
      },
    };
    const exchange = upstream.exchange(request, handler);
  });
}
