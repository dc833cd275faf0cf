import type { ErrorCode } from '../errors/error-codes.ts';
import type { ErrorReason, ParserReason } from '../errors/gateway-error.ts';
import type { CommandVerb } from './command-verb.ts';
import type { LiveMode } from './shared-reads.ts';

/** What the log, the metrics and the traces use of a request. Each step of the request fills in what it knows. */
export class RequestRecord {
  requestId: string;
  /** The raw request target without its query: it may hold a credential, and is not bounded. */
  path: string;
  /** Milliseconds of `performance.now()`. */
  startedAtMs: number;
  /** 32 hex digits, where the client sent a trace along or the gateway makes spans. */
  traceId?: string | undefined;
  /** What the maker of spans keeps with it. */
  span?: unknown;
  /** The matched route's pattern, once there is one; bounded. */
  route?: string;
  /** The name of its API key, or `read-token`: of a credential that is valid, whether it opens the route or not. */
  credential?: string;
  /** `sub` of its read token; of any length. */
  subject?: string | undefined;
  /** When its read token ends, in milliseconds of the calendar; only of one that was good when the request came. */
  tokenEndsAtMs?: number;
  /** Of a read that waits for what is new, once it is let in; its duration says nothing of speed. */
  live?: LiveMode | undefined;
  /** Of a read that is answered by another one's request to the upstream: that other one. */
  sharedWith?: RequestRecord | undefined;
  /** What a command asks for, once it is judged to be one. */
  command?: CommandVerb;
  /** Of a command: its entity's type and URL, and the runtime's name for what it began. */
  entityType?: string;
  entityUrl?: string;
  invocationId?: string;
  /** Whether the runtime had the command already. */
  isReplay?: boolean;
  /** The upstream that the request went to, once it did. */
  upstream?: string;
  /** When the answer's headers had come from an upstream, as `startedAtMs`. */
  answeredAtMs?: number;
  /** The code of the gateway's own error, where it answered one. */
  errorCode?: ErrorCode;
  /** More of why, where the code leaves that open. */
  errorReason?: ErrorReason | ParserReason;

  constructor(requestId: string, path: string) {
    this.requestId = requestId;
    this.path = path;
    this.startedAtMs = performance.now();
  }
}
