import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { ResponseHeader } from './response-headers.ts';

/** Sets the status and headers of an upstream's answer; they go out with the body's first piece. */
export function setAnswerHead(
  response: ServerResponse,
  status: number,
  headers: readonly ResponseHeader[],
  isOfEvents: boolean,
): void {
  response.statusCode = status;
  for (const { name, values } of headers) {
    // In place of what stands there already: CORS has set a `Vary`, which the rules know of.
    response.setHeader(name, values.length === 1 ? (values[0] ?? '') : values);
  }
  // nginx in front would otherwise collect the events.
  if (isOfEvents) response.setHeader('X-Accel-Buffering', 'no');
}

/**
 * Sends the head before any of the body is there: a parked event stream has headers long before its
 * first byte. Not with `flushHeaders`, which would write them as UTF-8: header values are bytes, which
 * Node hands over as latin1.
 */
export function flushAnswerHead(response: ServerResponse): void {
  response.write('', 'latin1');
}

export function isEventStream(headers: IncomingHttpHeaders): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

export function isEncoded(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding'];
  return encoding !== undefined && encoding.toLowerCase() !== 'identity';
}
