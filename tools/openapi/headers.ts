import { REQUEST_ID } from '../../src/platform/http/request-id.ts';
import type { Header, Reference } from './openapi.ts';

const text = { type: 'string' };
const flag = { type: 'string', const: 'true' };
const wholeNumber = { type: 'string', pattern: '^\\d+$' };

/** Every response header that the document names, except media type and length. */
const HEADERS = {
  'X-Request-Id': {
    description: "The request's id: the client's own where it sent a good one, else made.",
    schema: { type: 'string', pattern: REQUEST_ID.source },
    example: '01jd3x5m9q8r7s6t5v4w3x2y1z',
  },
  'Cache-Control': {
    description: '`no-store` on every error of the gateway. A read is never for a shared cache.',
    schema: text,
    example: 'private',
  },
  Vary: {
    description:
      '`Authorization` on what comes from an upstream, `Access-Control-Request-Headers` on a preflight, and `Origin` where the deployment pins its origins.',
    schema: text,
    example: 'Authorization',
  },
  'WWW-Authenticate': {
    description: 'With `error="invalid_token"` where a credential was sent.',
    schema: { enum: ['Bearer', 'Bearer error="invalid_token"'] },
    example: 'Bearer error="invalid_token"',
  },
  'Retry-After': { description: 'How many seconds to wait.', schema: text, example: '1' },
  'Idempotency-Replayed': {
    description: 'There where the runtime had the command already; nothing was done twice.',
    schema: flag,
    example: 'true',
  },
  Location: {
    description:
      'What was made, at the gateway: absolute where `GATEWAY_PUBLIC_URL` is set, else relative to it.',
    schema: text,
    example: '/registry/deployments/dp_15YAK0lEMo4CbIBmzQYuXUR',
  },
  ETag: { description: 'For `If-None-Match`.', schema: text, example: '"L3Q:-1:0000_0042"' },
  'Stream-Next-Offset': {
    description: 'Where to go on: the `offset` of the next read. A subset has none.',
    schema: { type: 'string', minLength: 1 },
    example: '0000000000000000_0000000000000042',
  },
  'Stream-Up-To-Date': {
    description: 'The answer holds all that the stream had just now.',
    schema: flag,
    example: 'true',
  },
  'Stream-Closed': {
    description: 'The stream is at its end: nothing will ever follow.',
    schema: flag,
    example: 'true',
  },
  'Stream-Cursor': { description: 'To be sent as `cursor` with the next live read.', schema: text },
  'Stream-SSE-Data-Encoding': {
    description: 'There where the stream is neither text nor JSON: `data` events are base64.',
    schema: { const: 'base64' },
    example: 'base64',
  },
  'Stream-TTL': { description: 'Seconds that the stream lives on when idle.', schema: wholeNumber },
  'Stream-Expires-At': { description: 'When the stream ends (RFC 3339).', schema: text },
  'Producer-Epoch': { description: "The producer's epoch at the store.", schema: wholeNumber },
  'Producer-Seq': { description: 'The highest sequence number taken.', schema: wholeNumber },
  'Producer-Expected-Seq': { description: 'The next one that is due.', schema: wholeNumber },
  'Producer-Received-Seq': { description: 'The one that came instead.', schema: wholeNumber },
  'electric-handle': {
    description: "The shape's handle, to be sent as `handle` with the next read.",
    schema: text,
    example: '3833821-1721812114261',
  },
  'electric-offset': {
    description: 'Where to go on: the `offset` of the next read. A subset has none.',
    schema: text,
    example: '26800584_4',
  },
  'electric-schema': {
    description: 'On reads that are not live: the columns and their types, as JSON.',
    schema: text,
    example: '{"url":{"type":"text","pk_index":0}}',
  },
  'electric-cursor': { description: 'On live reads: the `cursor` of the next one.', schema: text },
  'electric-up-to-date': { description: 'The answer ends with `up-to-date`.', schema: text },
  'electric-has-data': { description: 'Whether the answer holds changes.', schema: text },
  'Access-Control-Allow-Origin': {
    description: '`*`, or the origin that asked where the deployment allows it.',
    schema: text,
    example: '*',
  },
  'Access-Control-Expose-Headers': {
    description: 'The headers that a page may read.',
    schema: text,
  },
  'Access-Control-Allow-Methods': { description: '`GET, HEAD`.', schema: { const: 'GET, HEAD' } },
  'Access-Control-Allow-Headers': {
    description: 'The headers that the page asked for, if it asked for any.',
    schema: text,
  },
  'Access-Control-Max-Age': {
    description: 'How many seconds a browser may keep the preflight.',
    schema: wholeNumber,
    example: '7200',
  },
} satisfies Record<string, Header>;

export type HeaderName = keyof typeof HEADERS;

/** The headers of a response: those that are always there, and those that may be. */
export interface AnswerHeaders {
  always?: readonly HeaderName[];
  sometimes?: readonly HeaderName[];
}

export function headerReferences({ always = [], sometimes = [] }: AnswerHeaders) {
  const reference = (key: string): Reference => ({ $ref: `#/components/headers/${key}` });
  return Object.fromEntries([
    ...always.map((name) => [name, reference(name)] as const),
    ...sometimes
      .filter((name) => !always.includes(name))
      .map((name) => [name, reference(`${name}.optional`)] as const),
  ]);
}

/** Both forms of every header. Unused ones are removed from the document later. */
export function headerComponents(): Record<string, Header> {
  return Object.fromEntries(
    Object.entries<Header>(HEADERS).flatMap(([name, header]) => [
      [name, { ...header, required: true }],
      [`${name}.optional`, { ...header, required: false }],
    ]),
  );
}
