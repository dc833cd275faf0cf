import type { ServerResponse } from 'node:http';
import type { RequestContext } from '../server/request-context.ts';
import type { HeaderBlock } from './header-block.ts';
import { writeJoinedHead } from '../private-parts/joined-head.ts';

/** The status and headers of an upstream's answer, as one client gets them. */
export interface AnswerHead {
  status: number;
  headers: HeaderBlock;
  isEventStream: boolean;
  /** The length of the body in bytes, where it is known and the headers do not tell. */
  contentLength?: number | undefined;
}

/**
 * Writes the head of an answer, which goes out with the body's first piece: joined, or else as one list.
 * To set header by header costs twice as much.
 */
export function writeAnswerHead(
  response: ServerResponse,
  context: RequestContext,
  { status, headers, isEventStream, contentLength }: AnswerHead,
): void {
  let own = context.answerHeaders ?? [];
  // nginx in front would otherwise collect the events.
  if (isEventStream) own = own.concat('X-Accel-Buffering', 'no');
  if (writeJoinedHead(response, { status, own, headers, contentLength })) return;
  const list = own.concat(headers.list);
  if (contentLength !== undefined) list.push('Content-Length', String(contentLength));
  response.writeHead(status, list);
}

/**
 * Sends the head before any of the body is there: a parked event stream has headers long before its
 * first byte. Not with `flushHeaders`, which would write them as UTF-8: header values are bytes, which
 * Node hands over as latin1.
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
