import type { ErrorCode } from '../errors/error-codes.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Reached } from './send-again.ts';
import type { Upstream } from './upstreams.ts';

/** The part of an upstream request that its error message needs. */
export interface FailedRequest {
  upstream: Pick<Upstream, 'basePath' | 'protocol'>;
  method: string | undefined;
  /** Path and query as they were sent. */
  target: string;
}

/** How a request came to no answer that a client could get. */
export interface UpstreamFailure {
  reached: Reached;
  /** For the log. Codes are those of Node and of llhttp (`HPE_*`). */
  cause?: unknown;
  /** The time in milliseconds in which no answer came; none where it failed otherwise. */
  timeoutMs?: number | undefined;
  /** The upstream refused it, and so did nothing. */
  isRefused?: boolean;
}

/** The one table of what the gateway answers in place of an upstream. */
const FAILURES = {
  /** Nothing was sent, or what was sent changes nothing. */
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
  /** It is cut or garbled in its headers, or is not for clients. */
  unusable: {
    code: 'upstream_invalid_response',
    says: (server) => `The ${server} gave an answer that cannot be used`,
  },
} satisfies Record<string, { code: ErrorCode; says(server: string, timeoutMs?: number): string }>;

const NAMELESS = 'server behind this route';

/**
 * The gateway's error for a request whose upstream gave no answer to pass on. Where it may have been acted on, it
 * says so, and how to repeat it safely: a client that only reads "try again" would have it made twice.
 */
export function upstreamError(request: FailedRequest, failure: UpstreamFailure): GatewayError {
  const { reached, cause, timeoutMs, isRefused } = failure;
  if (cause instanceof GatewayError) return cause;
  const { basePath, protocol } = request.upstream;
  const isUnmade = reached === 'nowhere' || isRefused;
  const doubt = isUnmade ? undefined : protocol.doubtOf(request.method, request.target, basePath);
  const { code, says } = FAILURES[kindOf(failure, doubt !== undefined)];
  const message = says(protocol.serverName ?? NAMELESS, timeoutMs) + (doubt ?? '.');
  return new GatewayError(code, message, { cause });
}

/** An answer that is cut or garbled in its headers, to a request that changes nothing. */
export function unusableAnswer(cause: unknown): GatewayError {
  const { code, says } = FAILURES.unusable;
  return new GatewayError(code, `${says(NAMELESS)}.`, { cause });
}

/**
 * A connection lost before any byte of an answer is a server that is not there, one lost within the headers an
 * answer that cannot be used.
 */
function kindOf(
  { reached, cause, timeoutMs }: UpstreamFailure,
  isInDoubt: boolean,
): keyof typeof FAILURES {
  if (timeoutMs !== undefined && reached !== 'nowhere') return 'late';
  if (reached === 'answered' || isGarbled(cause)) return 'unusable';
  return isInDoubt ? 'lost' : 'unreachable';
}

function isGarbled(cause: unknown): boolean {
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && code.startsWith('HPE_');
}
