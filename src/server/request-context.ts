import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ReadToken } from '../auth/read-token.ts';
import type { BagItem } from '../collections/bag.ts';
import type { CommandVerb } from '../telemetry/command-verb.ts';
import type { ErrorCode } from '../errors/error-codes.ts';
import type { ErrorReason, GatewayError, ParserReason } from '../errors/gateway-error.ts';
import type { LiveMode } from '../telemetry/shared-reads.ts';

/**
 * What the gateway knows of a request beside its own headers. A class, so that all of its fields are there
 * from the start: ten thousand parked reads have one each.
 */
export class RequestContext implements BagItem {
  bagIndex?: number | undefined;
  requestId: string;
  /** The raw request target, split at the first `?`: these very bytes are judged and sent on. */
  path: string;
  /** With its leading `?`, or empty. */
  query: string;
  /** Headers of whatever the answer will be, names and values in turn; empty once they are set. */
  answerHeaders?: string[] | undefined;
  /** What an answer of the gateway's own depends on, for `Vary`; a proxied one has its own. */
  ownVary?: string;
  /** Milliseconds of `performance.now()`. */
  startedAtMs: number;
  /** The matched route's pattern, once there is one; bounded, for logs and metrics. */
  route?: string;
  /** Of a read that waits for what is new, once it is let in; its duration says nothing of speed. */
  live?: LiveMode;
  /** Of a command: its entity's type, and the runtime's name for what it began. */
  entityType?: string;
  invocationId?: string;
  /** 32 hex digits, where the client sent a trace along or the gateway makes spans. */
  traceId?: string | undefined;
  /** Of a read that is answered by another one's request to the upstream: that other one. */
  sharedWith?: RequestContext | undefined;
  /** What the maker of spans keeps with it. */
  span?: unknown;
  /** The upstream that the request went to, once it did. */
  upstream?: string;
  /** When the answer's headers had come from an upstream, as `startedAtMs`. */
  answeredAtMs?: number;
  /** The code of the gateway's own error, where it answered one. */
  errorCode?: ErrorCode;
  /** More of why, where the code leaves that open. */
  errorReason?: ErrorReason | ParserReason;
  /** The status of an answer that was written in place of the response. */
  refusedStatus?: number;
  /** What kind of credential opened the request. */
  credential?: 'api-key' | 'read-token';
  /** What a command asks for, once it is judged to be one. */
  command?: CommandVerb;
  /** Whether the runtime had the command already. */
  isReplay?: boolean;
  /** Tells one credential from another, for limits, whatever its spelling; a digest, and never logged. */
  credentialId?: string;
  /** Ends a read under way: with the error if its answer has not begun, else where it can resume. */
  endRead?: (error: GatewayError) => void;
  /** A checked `Idempotency-Key`. */
  idempotencyKey?: string;
  /** The read token that opened this request; none where an API key did. */
  readToken?: ReadToken;

  constructor(requestId: string, path: string, query: string, traceId?: string) {
    this.requestId = requestId;
    this.path = path;
    this.query = query;
    this.startedAtMs = performance.now();
    this.traceId = traceId;
  }
}

const CONTEXT = Symbol('request context');

type Contextual = IncomingMessage & { [CONTEXT]?: RequestContext };

export function setRequestContext(request: IncomingMessage, context: RequestContext): void {
  (request as Contextual)[CONTEXT] = context;
}

/** The context of a request, if it has one yet. */
export function contextOf(request: IncomingMessage): RequestContext | undefined {
  return (request as Contextual)[CONTEXT];
}

/** The context of a request that has passed the first middleware. Throws a plain Error otherwise. */
export function requestContext(request: IncomingMessage): RequestContext {
  const context = (request as Contextual)[CONTEXT];
  if (!context) throw new Error('the request has no context: its first middleware did not run');
  return context;
}

/** Sets the headers that an answer has in any case, for whoever goes on to answer. */
export function setAnswerHeaders(response: ServerResponse, context: RequestContext): void {
  const headers = context.answerHeaders ?? [];
  context.answerHeaders = undefined;
  for (let i = 0; i < headers.length; i += 2) {
    response.setHeader(headers[i] ?? '', headers[i + 1] ?? '');
  }
  if (context.ownVary !== undefined) response.setHeader('Vary', context.ownVary);
}
