import type { ServerResponse } from 'node:http';
import { ownHeaders, type RequestContext } from '../../platform/server/request-context.ts';
import type { HeaderList } from '../../platform/http/header-list.ts';

/** The status and headers of an upstream's response, as one client gets them. */
export interface AnswerHead {
  status: number;
  headers: HeaderList;
  isEventStream: boolean;
  /** The length of the body in bytes, if it is known and the headers do not state it. */
  contentLength?: number | undefined;
}

/** Writes the head of a response, which is sent with the first piece of the body. Setting each header costs twice as much. */
export function writeAnswerHead(
  response: ServerResponse,
  context: RequestContext,
  { status, headers, isEventStream, contentLength }: AnswerHead,
): void {
  const own = ownHeaders(context);
  // Otherwise an nginx in front would buffer the events.
  if (isEventStream) own.push('X-Accel-Buffering', 'no');
  const list = own.concat(headers);
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
