import type { ServerResponse } from 'node:http';
import { ownHeaders, type RequestContext } from '../../platform/server/request-context.ts';
import type { HeaderBlock } from './header-block.ts';
import { writeJoinedHead } from '../../platform/private-parts/joined-head.ts';

/** The status and headers of an upstream's response, as one client gets them. */
export interface AnswerHead {
  status: number;
  headers: HeaderBlock;
  isEventStream: boolean;
  /** The length of the body in bytes, if it is known and the headers do not state it. */
  contentLength?: number | undefined;
}

/**
 * Writes the head of a response, which is sent with the first piece of the body: joined, or else as one list.
 * Setting each header separately costs twice as much.
 */
export function writeAnswerHead(
  response: ServerResponse,
  context: RequestContext,
  { status, headers, isEventStream, contentLength }: AnswerHead,
): void {
  const own = ownHeaders(context);
  // Otherwise an nginx in front would buffer the events.
  if (isEventStream) own.push('X-Accel-Buffering', 'no');
  if (writeJoinedHead(response, { status, own, headers, contentLength })) return;
  const list = own.concat(headers.list);
  if (contentLength !== undefined) list.push('Content-Length', String(contentLength));
  response.writeHead(status, list);
}

/**
 * Sends the head before the body: a parked event stream has headers long before its first byte. `flushHeaders` is
 * not used, because it would write the headers as UTF-8: header values are bytes, which Node represents as latin1.
 */
export function flushAnswerHead(response: ServerResponse): void {
  response.write('', 'latin1');
}

export function isEventStream(contentType: string | undefined): boolean {
  return contentType !== undefined && /^text\/event-stream\b/i.test(contentType);
}

export function isEncoded(contentEncoding: string | undefined): boolean {
  return contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity';
}
