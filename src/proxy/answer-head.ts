import type { IncomingMessage, ServerResponse } from 'node:http';
import { isEventStream } from './relay.ts';
import { clientResponseHeaders, type ResponseHeaderRules } from './response-headers.ts';

/** Sends the status and headers of an upstream's answer to the client, before any of its body. */
export function writeAnswerHead(
  response: ServerResponse,
  answer: IncomingMessage,
  rules: ResponseHeaderRules,
): void {
  response.statusCode = rules.status;
  for (const { name, values } of clientResponseHeaders(answer.rawHeaders, rules)) {
    // In place of what stands there already: CORS has set a `Vary`, which the rules know of.
    response.setHeader(name, values.length === 1 ? (values[0] ?? '') : values);
  }
  // nginx in front would otherwise collect the events.
  if (isEventStream(answer)) response.setHeader('X-Accel-Buffering', 'no');
  // A parked event stream has headers long before its first byte. Not with `flushHeaders`, which would
  // write them as UTF-8: header values are bytes, which Node hands over as latin1.
  response.write('', 'latin1');
}
