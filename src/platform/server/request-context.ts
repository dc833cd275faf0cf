import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { UnorderedListItem } from '../collections/unordered-list.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { HeaderList } from '../http/header-list.ts';
import { RequestRecord } from '../telemetry/request-record.ts';
import type { Caller } from './caller.ts';

/** A read from another server for one request alone. */
export interface OwnRead {
  /** The connection on which the response arrives. Undefined before that is known, and after the last byte. */
  readonly socket: Socket | undefined;
  /** Closes that connection. */
  cancel(): void;
}

/** A read that has been admitted. */
export interface OpenRead {
  /** Ends it: with the error if its response has not begun, or else where it can resume. */
  endEarly(error: GatewayError): void;
  /** Its response is closed. Called once. */
  onClosed(): void;
}

/**
 * What the gateway knows about a request in addition to its headers. The log, the metrics and the traces read its
 * `RequestRecord`. It is a class so that all fields exist from the start: ten thousand parked reads have one each.
 */
export class RequestContext extends RequestRecord implements UnorderedListItem {
  listIndex?: number | undefined;
  /**
   * The raw query with its leading `?`, or empty. Together with `path` it is exactly what is checked and forwarded.
   */
  query: string;
  /** The CORS headers of the response, whoever sends it. The list is the same for many requests. */
  corsHeaders?: Readonly<HeaderList>;
  /**
   * The request headers on which the gateway's own response depends, for `Vary`. A proxied response has its own.
   */
  ownVary?: string;
  /** The status of a response that was written without Node's response object. */
  refusedStatus?: number;
  /** The caller, once a credential has opened the request. */
  caller?: Caller;
  /** Makes the error for a read whose credential expires, if it can. */
  expiryError?: () => GatewayError;
  /** Set from the admission of a read on. */
  openRead?: OpenRead;
  /** The read whose response answers this request and no other. */
  ownRead?: OwnRead;
  constructor(requestId: string, path: string, query: string, address?: string) {
    super(requestId, path, address);
    this.query = query;
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

/** The gateway's own headers of every response, whoever sends it. */
export function ownHeaders({ requestId, corsHeaders = [] }: RequestContext): HeaderList {
  return ['X-Request-Id', requestId, ...corsHeaders];
}

/** Sets them. */
export function setAnswerHeaders(response: ServerResponse, context: RequestContext): void {
  const headers = ownHeaders(context);
  for (let i = 0; i < headers.length; i += 2) {
    response.setHeader(headers[i] ?? '', headers[i + 1] ?? '');
  }
  if (context.ownVary !== undefined) response.setHeader('Vary', context.ownVary);
}
