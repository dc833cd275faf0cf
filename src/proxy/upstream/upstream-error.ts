import type { ErrorCode } from '../../platform/errors/error-codes.ts';
import { GatewayError } from '../../platform/errors/gateway-error.ts';
import { MAX_HEAD_BYTES } from '../../platform/private-parts/answer-parser.ts';
import { ConnectTimeout } from './connections/connection-errors.ts';
import type { UpstreamProtocol } from './protocols/upstream-protocol.ts';
import type { Reached } from './send-again.ts';

/** The part of an upstream request that its error message needs. */
export interface FailedRequest {
  upstream: { basePath: string; protocol: UpstreamProtocol };
  method: string | undefined;
  /** The path and query of the upstream request. */
  target: string;
}

/** The reason why a request got no response for the client. */
export interface RequestFailure {
  reached: Reached;
  /** The error code for the log. Codes are those of Node and of llhttp (`HPE_*`). */
  cause?: unknown;
  /** The timeout in milliseconds, or undefined for other failures. */
  timeoutMs?: number | undefined;
  /** The upstream refused the request and did nothing. */
  isRefused?: boolean;
  /** After how many seconds the client may repeat the request. */
  retryAfterSeconds?: number;
}

/** The table of the gateway's errors for a failed upstream request. */
const FAILURES = {
  unsent: {
    code: 'upstream_unreachable',
    says: () => `The ${NAMELESS} could not be reached, so nothing was sent; try again`,
  },
  /** The request changes nothing. */
  unreachable: {
    code: 'upstream_unreachable',
    says: () => `The ${NAMELESS} could not be reached; try again`,
  },
  lost: {
    code: 'upstream_unreachable',
    says: (server) => `The connection to the ${server} was lost before it answered`,
  },
  late: {
    code: 'upstream_timeout',
    says: (server, timeoutMs) => `The ${server} did not answer within ${timeoutMs} ms`,
  },
  /** The response has a cut or invalid head, or is not for clients. */
  unusable: {
    code: 'upstream_invalid_response',
    says: (server) => `The ${server} gave an answer that cannot be used`,
  },
  /** The parser has no room for its head. */
  oversized: {
    code: 'upstream_invalid_response',
    says: (server) => `The ${server} gave an answer whose head is over ${MAX_HEAD_BYTES} bytes`,
  },
} satisfies Record<string, { code: ErrorCode; says(server: string, timeoutMs?: number): string }>;

const NAMELESS = 'server behind this route';

/**
 * The gateway's error for a request without a usable response. If the request may have taken effect, the error says
 * so and how to repeat it safely: a client that only reads "try again" would make the change twice.
 */
export function upstreamError(request: FailedRequest, failure: RequestFailure): GatewayError {
  const { reached, timeoutMs, isRefused, retryAfterSeconds } = failure;
  if (failure.cause instanceof GatewayError) return failure.cause;
  const { basePath, protocol } = request.upstream;
  const isUnsent = reached === 'nowhere';
  const hasNoConnection = isUnsent && timeoutMs !== undefined;
  const cause = failure.cause ?? (hasNoConnection ? new ConnectTimeout(timeoutMs) : undefined);
  const doubt =
    isUnsent || isRefused ? undefined : protocol.doubtOf(request.method, request.target, basePath);
  const { code, says } = FAILURES[kindOf(failure, doubt !== undefined)];
  const message = says(protocol.serverName ?? NAMELESS, timeoutMs) + (doubt ?? '.');
  const headers: Record<string, string> = {};
  if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(retryAfterSeconds);
  return new GatewayError(code, message, { cause, headers, isUnsent });
}

/** A response with a cut or invalid head, for a request that changes nothing. */
export function unusableAnswer(cause: unknown): GatewayError {
  const { code, says } = FAILURES.unusable;
  return new GatewayError(code, `${says(NAMELESS)}.`, { cause });
}

/**
 * A connection that could not be opened, or was lost before the first byte of a response, means an unreachable server.
 * One lost within the headers means an invalid response.
 */
function kindOf(
  { reached, cause, timeoutMs }: RequestFailure,
  isInDoubt: boolean,
): keyof typeof FAILURES {
  if (reached === 'nowhere') return 'unsent';
  if (timeoutMs !== undefined) return 'late';
  const code = parserCode(cause);
  if (code === 'HPE_HEADER_OVERFLOW') return 'oversized';
  if (reached === 'answered' || code !== undefined) return 'unusable';
  return isInDoubt ? 'lost' : 'unreachable';
}

/** The code of llhttp's error, if the cause is one. */
function parserCode(cause: unknown): string | undefined {
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && code.startsWith('HPE_') ? code : undefined;
}
