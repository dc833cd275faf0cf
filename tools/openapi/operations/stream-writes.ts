import { ANYTHING, plainText, type Answer, type Answers } from '../answers.ts';
import type { Content, Parameter } from '../openapi.ts';
import type { OperationPart, OperationParts } from '../operation-part.ts';
import { READ_STREAM, storeFailed } from './streams.ts';

const header = (
  name: string,
  description: string,
  schema: object,
  example?: string,
): Parameter => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string', ...schema },
  ...(example !== undefined && { example }),
});

const closed = header('Stream-Closed', '`true` closes the stream with this.', {}, 'true');
const WHOLE_NUMBER = { pattern: '^(?:0|[1-9]\\d{0,15})$' };

/** It is checked like a request path. The pattern leaves out characters that must be percent-encoded. */
const FORK_SOURCE = {
  pattern: '^/?[!-"$&-.0-\\[\\]-~]+(?:/[!-"$&-.0-\\[\\]-~]+)*/?$',
  not: { pattern: '(?:^|/)\\.{1,2}(?:/|$)' },
};

const createHeaders: Parameter[] = [
  header('Stream-TTL', 'Seconds that the stream lives on when idle.', WHOLE_NUMBER, '3600'),
  header('Stream-Expires-At', 'When it ends, instead (RFC 3339).', { format: 'date-time' }),
  closed,
  header(
    'Stream-Forked-From',
    'Makes a fork of this stream: a path as the gateway has it, `/streams/…`.',
    FORK_SOURCE,
    '/streams/t/default/agents/assistant/01jd3x5m9q8r7s6t5v4w3x2y1z/timeline',
  ),
  header('Stream-Fork-Offset', 'Where the fork leaves its source; its end if not given.', {}),
  header('Stream-Fork-Sub-Offset', 'So many messages or bytes behind that.', WHOLE_NUMBER),
];

const appendHeaders: Parameter[] = [
  header('Stream-Seq', 'Must be greater, byte by byte, than that of the last append.', {}),
  closed,
  header('Producer-Id', 'With an epoch and a number each append counts once.', { minLength: 1 }),
  header('Producer-Epoch', 'One more with each restart of the producer.', WHOLE_NUMBER),
  header('Producer-Seq', 'One more with each append, from 0 in each epoch.', WHOLE_NUMBER),
];

const body: Content = {
  'application/json': {
    schema: { description: 'A message, or an array of messages.' },
    examples: { event: { value: { seq: 2, kind: 'message', role: 'user', text: 'Hello' } } },
  },
  ...ANYTHING,
};

const made = (description: string, more: Partial<Answer> = {}): Answer => ({
  description,
  always: ['Stream-Next-Offset'],
  sometimes: ['Stream-Closed'],
  ...more,
});

const refusals: Answers = {
  400: plainText('A header or the body is malformed, or the body is empty.', 'Invalid JSON'),
  404: plainText('There is no such stream.', 'Stream not found'),
  409: plainText(
    'The stream is closed, of another media type, or a sequence number is out of order.',
    'Sequence conflict',
    {
      sometimes: [
        'Stream-Closed',
        'Stream-Next-Offset',
        'Producer-Expected-Seq',
        'Producer-Received-Seq',
      ],
    },
  ),
  410: plainText('The stream is gone.', 'Stream is gone'),
  500: storeFailed,
};

const create: OperationPart = {
  operationId: 'createStream',
  summary: 'Create a stream',
  description: 'Of the media type that `Content-Type` says. Again with the same: no harm done.',
  parameters: createHeaders,
  requestBody: { description: 'What it begins with.', required: false, content: body },
  upstream: {
    ...refusals,
    200: made('It was there already, and is as asked for.'),
    201: made('Created.', { sometimes: ['Location', 'Stream-Closed'] }),
  },
  problems: ['read_only_token'],
  apiKeyOnly: true,
};

const producer = ['Producer-Epoch', 'Producer-Seq'] as const;

const append: OperationPart = {
  operationId: 'appendToStream',
  summary: 'Append to a stream, or close it',
  description:
    'The media type must be that of the stream. An empty body is for `Stream-Closed: true` only.',
  parameters: appendHeaders,
  requestBody: { description: 'What is appended.', required: false, content: body },
  upstream: {
    ...refusals,
    200: made('Appended, by a producer.', { sometimes: ['Stream-Closed', ...producer] }),
    204: {
      description: 'Appended or closed; or an append of a producer that was there already.',
      sometimes: ['Stream-Next-Offset', 'Stream-Closed', ...producer],
    },
    403: plainText('Another producer of this id has a later epoch.', 'Stale producer epoch', {
      sometimes: ['Producer-Epoch'],
    }),
  },
  problems: ['read_only_token'],
  apiKeyOnly: true,
};

const remove: OperationPart = {
  operationId: 'deleteStream',
  summary: 'Delete a stream',
  description: 'One that has forks is gone for readers, and kept for the forks.',
  upstream: {
    204: { description: 'Deleted.' },
    404: plainText('There is no such stream.', 'Stream not found'),
    410: plainText('It was deleted already, and is kept for its forks.', 'Stream is gone'),
    500: storeFailed,
  },
  problems: ['read_only_token'],
  apiKeyOnly: true,
};

export const STREAMS: OperationParts = {
  'StreamsController.read': [READ_STREAM],
  'StreamsController.create': [create],
  'StreamsController.append': [append],
  'StreamsController.remove': [remove],
};
