import { plainText, type Answers } from '../answers.ts';
import type { Content, Parameter } from '../openapi.ts';
import type { OperationPart } from '../operation-part.ts';

const offset: Parameter = {
  name: 'offset',
  in: 'query',
  description:
    'Where to begin: `-1` for the start, `now` for what is to come, else the `Stream-Next-Offset` ' +
    'of the last read, to be taken as it is. Required with `live`.',
  schema: { type: 'string', pattern: '^[^,&=?/]+$', maxLength: 255 },
  examples: {
    start: { summary: 'everything from the start', value: '-1' },
    resume: {
      summary: 'what came after the last read',
      value: '0000000000000000_0000000000000042',
    },
    tail: { summary: 'only what is to come', value: 'now' },
  },
};

const live: Parameter = {
  name: 'live',
  in: 'query',
  description:
    '`long-poll` parks the read until something comes; `sse` is a stream of events. A page cannot ' +
    'use `EventSource`, which sends no credential.',
  schema: { enum: ['long-poll', 'sse'] },
  example: 'long-poll',
};

const cursor: Parameter = {
  name: 'cursor',
  in: 'query',
  description: 'The `Stream-Cursor` of the last live read.',
  schema: { type: 'string' },
};

const ifNoneMatch: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of an earlier read of the same offset.',
  schema: { type: 'string' },
};

const content: Content = {
  'application/json': {
    schema: { type: 'array', items: {}, description: 'The messages of a JSON stream.' },
    examples: {
      timeline: {
        summary: "An agent's timeline",
        value: [
          { seq: 0, kind: 'message', role: 'user', text: 'Hello' },
          { seq: 1, kind: 'message', role: 'assistant', text: 'Hello! What can I do for you?' },
        ],
      },
      empty: { summary: 'Nothing new', value: [] },
    },
  },
  'text/event-stream': {
    examples: {
      events: {
        value:
          'event: data\ndata: [{"seq":0,"kind":"message"}]\n\n' +
          'event: control\ndata: {"streamNextOffset":"0000000000000000_0000000000000042",' +
          '"streamCursor":"1674440","upToDate":true}\n\n',
      },
    },
  },
  '*/*': {},
};

/** Responses that the store may send to any request. */
export const storeFailed = plainText('The store failed.', 'Internal server error');

const upstream: Answers = {
  200: {
    description:
      'The bytes from the offset on, in the media type that the stream was made with, and where to ' +
      'go on in `Stream-Next-Offset`. With `live=sse` a stream of events: a `control` event follows ' +
      'each `data` event and says where to go on.',
    sometimes: [
      'Stream-Next-Offset',
      'Stream-Up-To-Date',
      'Stream-Closed',
      'Stream-Cursor',
      'Stream-SSE-Data-Encoding',
      'ETag',
    ],
    content,
  },
  204: {
    description: 'A long-poll whose time ran out, or at the end of a closed stream.',
    always: ['Stream-Next-Offset', 'Stream-Up-To-Date'],
    sometimes: ['Stream-Closed', 'Stream-Cursor'],
  },
  304: { description: 'What the `ETag` stands for is still all there is.', sometimes: ['ETag'] },
  400: plainText(
    'The offset is malformed, or there is none where one is due.',
    'Invalid offset format',
  ),
  404: plainText(
    'There is no such stream. A spawn is answered before the agent has written: try again.',
    'Stream not found',
  ),
  410: plainText('The stream, or what it had at the offset, is gone.', 'Stream is gone'),
  500: storeFailed,
};

const headAnswers: Answers = {
  200: {
    description: 'There is such a stream.',
    always: ['Stream-Next-Offset'],
    sometimes: ['Stream-Closed', 'Stream-TTL', 'Stream-Expires-At', 'ETag'],
  },
  404: { description: 'There is no such stream.' },
  410: { description: 'The stream is gone.' },
  500: { description: 'The store failed.' },
};

export const READ_STREAM: OperationPart = {
  operationId: 'readStream',
  summary: 'Read a stream',
  description:
    'By offset, by long-poll or as events. Reconnect from the last offset and nothing is lost or ' +
    'repeated. Paths under `__ds`, the control plane, are for API keys only.',
  parameters: [offset, live, cursor, ifNoneMatch],
  upstream,
  problems: ['prefix_not_covered'],
  head: {
    operationId: 'headStream',
    summary: 'Ask for the end of a stream, without its bytes',
    parameters: [],
    upstream: headAnswers,
  },
  preflightId: 'preflightStream',
};
