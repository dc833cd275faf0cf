import { MAX_BODY_BYTES } from './plan-client.ts';
import type { BodyKind, RequestPlan } from './plan.ts';
import { patternBytes } from './pattern.ts';

const CHUNKS = 5;

/** A request as its client sends it. */
export interface RequestBytes {
  head: string;
  /** What follows, behind leave to send it where the client asks for that. */
  body: string;
}

export function requestBytes(plan: RequestPlan, credential: string | undefined): RequestBytes {
  const { id, method, target, body, bodyBytes } = plan;
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'Host: gateway.test',
    `X-Request-Id: ${id}`,
    ...(credential === undefined
      ? []
      : [`Authorization: Bearer ${credential}`, 'Cookie: session=1']),
    ...(plan.isRepeatable && plan.route === 'command' ? [`Idempotency-Key: ${id}`] : []),
    ...framingOf(body, bodyBytes),
  ];
  return { head: `${lines.join('\r\n')}\r\n\r\n`, body: sentBody(plan) };
}

/** The body that must reach the upstream. */
export function bodyText({ id, bodyBytes }: RequestPlan): string {
  let text = '';
  while (text.length < bodyBytes)
    text += patternBytes(id, 'text', text.length, bodyBytes).toString('latin1');
  return text;
}

function framingOf(body: BodyKind, bytes: number): string[] {
  switch (body) {
    case 'none':
      return [];
    case 'length':
    case 'over-cap':
      return [`Content-Length: ${bytes}`];
    case 'expect':
      return [`Content-Length: ${bytes}`, 'Expect: 100-continue'];
    case 'too-long':
      return [`Content-Length: ${Math.min(bytes + 10, MAX_BODY_BYTES)}`];
    case 'too-short':
      return [`Content-Length: ${bytes}`];
    case 'trailers':
      return ['Transfer-Encoding: chunked', 'Trailer: X-Trailer, Authorization'];
    default:
      return ['Transfer-Encoding: chunked'];
  }
}

function sentBody(plan: RequestPlan): string {
  const text = bodyText(plan);
  switch (plan.body) {
    case 'too-long':
      return text.slice(0, -1);
    case 'too-short':
      // Begins like a request for another client's timeline, and is none.
      return `${text}GET /streams/t/${plan.id}x HTTP/9.9\r\n\r\n`;
    case 'chunked':
    case 'over-cap-chunked':
      return `${chunks(text)}0\r\n\r\n`;
    case 'trailers':
      return `${chunks(text)}0\r\nX-Trailer: x\r\nAuthorization: Bearer x\r\n\r\n`;
    case 'cut-chunk':
      return chunks(text).slice(0, -2);
    case 'bad-chunk':
      return `${chunks(text)}-5\r\nhello\r\n0\r\n\r\n`;
    default:
      return text;
  }
}

function chunks(text: string): string {
  const step = Math.ceil(text.length / CHUNKS);
  let sent = '';
  for (let at = 0; at < text.length; at += step) {
    const piece = text.slice(at, at + step);
    sent += `${piece.length.toString(16)}\r\n${piece}\r\n`;
  }
  return sent;
}
