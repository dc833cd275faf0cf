import type { ErrorCode } from '../errors/error-codes.ts';
import type { ErrorReason, ParserReason } from '../errors/gateway-error.ts';
import type { LiveMode } from '../http/client-request.ts';
import { loggedPath } from '../log/logged-path.ts';
import type { LoggedPaths } from '../log/logged-paths.ts';

/** Where no API keys are known, only what looks like a token is left out. */
const PATHS_WITHOUT_TOKENS: Pick<LoggedPaths, 'of'> = { of: (path) => loggedPath(path) };

/**
 * What the log, the metrics and the traces use of a request. Each step of the request fills in what it knows. What only one
 * folder knows is `unknown` here.
 */
export class RequestRecord {
  requestId: string;
  /** The raw request target without its query. It may contain a credential and is not bounded. */
  path: string;
  /** The address of the client. Only the log uses it. */
  address: string | undefined;
  /** Writes paths without the credentials that they may contain. */
  paths = PATHS_WITHOUT_TOKENS;
  /** Milliseconds of `performance.now()`. */
  startedAtMs: number;
  /** The trace id, 32 hex digits, if the client sent one or tracing is on. */
  traceId?: string | undefined;
  /** The own data of the tracer, of the guards and of a command. */
  span?: unknown;
  access?: unknown;
  command?: unknown;
  /** The pattern of the matched route. Bounded. */
  route?: string;
  /** The bounded name of its valid credential. It is set even if the credential does not open the route. */
  credential?: string;
  /** The subject that its credential names, of any length. */
  subject?: string | undefined;
  /**
   * When its credential expires, in milliseconds since 1970. Only for one that was valid when the request arrived.
   */
  expiresAtMs?: number;
  /** The mode of a read that waits for new data, set when it is admitted. Its duration says nothing about speed. */
  live?: LiveMode | undefined;
  /** The record of the request whose response it shares. */
  sharedWith?: RequestRecord | undefined;
  /** The name of the server to which it was passed on, if it was. */
  upstream?: string;
  /** When that server's response headers arrived, as `startedAtMs`. */
  answeredAtMs?: number;
  /** Further members of its line in the log, by their names. Only a log that is on asks for them. */
  logged?: () => Record<string, string | undefined>;
  /** Further attributes of its span, by their names. */
  attributes?: Record<string, string>;
  /** The code of the gateway's own error, if it answered with one. */
  errorCode?: ErrorCode;
  /** The reason, if the code has several. */
  errorReason?: ErrorReason | ParserReason;

  constructor(requestId: string, path: string, address?: string) {
    this.requestId = requestId;
    this.address = address;
    this.path = path;
    this.startedAtMs = performance.now();
  }

  /** The path without a credential, for logs and spans. */
  get loggedPath(): string {
    return this.paths.of(this.path);
  }
}
