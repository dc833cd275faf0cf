import type { IncomingMessage, ServerResponse } from 'node:http';
import type { UnorderedListItem } from '../collections/unordered-list.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import { RequestRecord } from '../telemetry/request-record.ts';

/** A place for what one room keeps of each request: only who has the slot gets at it. Made once for all requests. */
export class ContextSlot<Value> {
  /** All slots that there are. */
  static count = 0;
  private readonly index = ContextSlot.count++;

  of({ kept }: Pick<RequestContext, 'kept'>): Value | undefined {
    return kept[this.index] as Value | undefined;
  }

  set({ kept }: Pick<RequestContext, 'kept'>, value: Value): void {
    kept[this.index] = value;
  }
}

/**
 * What the gateway knows about a request in addition to its headers. The log, the metrics and the traces read its
 * `RequestRecord`. A folder that keeps something of its own uses a `ContextSlot`. It is a class so that all fields
 * exist from the start: ten thousand parked reads have one each.
 */
export class RequestContext extends RequestRecord implements UnorderedListItem {
  listIndex?: number | undefined;
  /** The raw query with its leading `?`, or empty: with `path` the very bytes that are judged and sent on. */
  query: string;
  /** Headers for the response, names and values in turn; empty once they are set. */
  answerHeaders?: string[] | undefined;
  /** What an answer of the gateway's own depends on, for `Vary`; a proxied one has its own. */
  ownVary?: string;
  /** The status of an answer that was written in place of the response. */
  refusedStatus?: number;
  /** Ends a read under way: with the error if its answer has not begun, else where it can resume. */
  endRead?: (error: GatewayError) => void;
  /** For `ContextSlot`. */
  readonly kept: unknown[];

  constructor(requestId: string, path: string, query: string) {
    super(requestId, path);
    this.query = query;
    // Of the right length from the start: an array that grows takes room for sixteen more.
    this.kept = Array.from({ length: ContextSlot.count });
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

/** The context of a request that has passed the first step. Throws a plain Error otherwise. */
export function requestContext(request: IncomingMessage): RequestContext {
  const context = (request as Contextual)[CONTEXT];
  if (!context) throw new Error('the request has no context: its first step was not taken');
  return context;
}

/** Sets the headers that every response has, whoever sends it. */
export function setAnswerHeaders(response: ServerResponse, context: RequestContext): void {
  const headers = context.answerHeaders ?? [];
  context.answerHeaders = undefined;
  for (let i = 0; i < headers.length; i += 2) {
    response.setHeader(headers[i] ?? '', headers[i + 1] ?? '');
  }
  if (context.ownVary !== undefined) response.setHeader('Vary', context.ownVary);
}
