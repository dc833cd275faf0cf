import type { ErrorCode } from '../errors/error-codes.ts';
import type { ErrorReason, ParserReason } from '../errors/gateway-error.ts';
import { LoggedPaths, NO_CREDENTIALS } from '../log/logged-paths.ts';
import type { CommandVerb } from './command-verb.ts';
import type { LiveMode } from './read-share-metrics.ts';

/** Where no API keys are known, only what looks like a token is left out. */
const PATHS_WITHOUT_TOKENS = new LoggedPaths(NO_CREDENTIALS);

/** What the log, the metrics and the traces use of a request. Each step of the request fills in what it knows. */
export class RequestRecord {
  requestId: string;
  /** The raw request target without its query. It may contain a credential and is not bounded. */
  path: string;
  /** Writes paths without the credentials that they may contain. */
  paths = PATHS_WITHOUT_TOKENS;
  /** Milliseconds of `performance.now()`. */
  startedAtMs: number;
  /** The trace id, 32 hex digits, if the client sent one or tracing is on. */
  traceId?: string | undefined;
  /** The same, if the gateway records the trace. */
  recordedTraceId?: string | undefined;
  /** The tracer's own data. */
  span?: unknown;
  /** The pattern of the matched route. Bounded. */
  route?: string;
  /**
   * The name of its API key, or `read-token`. It is set for every valid credential, even if that does not open the
   * route.
   */
  credential?: string;
  /** The `sub` of its read token, of any length. */
  subject?: string | undefined;
  /**
   * When its read token expires, in milliseconds since 1970. Only for a token that was valid when the request
   * arrived.
   */
  tokenEndsAtMs?: number;
  /** The mode of a read that waits for new data, set when it is admitted. Its duration says nothing about speed. */
  live?: LiveMode | undefined;
  /** The record of the request whose upstream request answers this read. */
  sharedWith?: RequestRecord | undefined;
  /** The verb of a command, once it is known. */
  command?: CommandVerb;
  /** For a command: the type and URL of its entity, and the id of the runtime's invocation. */
  entityType?: string;
  entityUrl?: string;
  invocationId?: string;
  /** Whether the runtime already had the command. */
  isReplay?: boolean;
  /** The upstream of the request, if it was forwarded. */
  upstream?: string;
  /** When the upstream's response headers arrived, as `startedAtMs`. */
  answeredAtMs?: number;
  /** The code of the gateway's own error, if it answered with one. */
  errorCode?: ErrorCode;
  /** The reason, if the code has several. */
  errorReason?: ErrorReason | ParserReason;

  constructor(requestId: string, path: string) {
    this.requestId = requestId;
    this.path = path;
    this.startedAtMs = performance.now();
  }

  /** The path without a credential, for logs and spans. */
  get loggedPath(): string {
    return this.paths.of(this.path);
  }
}
