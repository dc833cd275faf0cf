import type { Answers } from '../answers.ts';
import { ANYTHING } from '../answers.ts';
import type { Content, Parameter } from '../openapi.ts';
import type { OperationPart, OperationParts } from '../operation-part.ts';

const query = (name: string, description: string, rest: Partial<Parameter> = {}): Parameter => ({
  name,
  in: 'query',
  description,
  schema: { type: 'string' },
  ...rest,
});

const flag = { schema: { enum: ['true', 'false'] } };
const COUNT = { type: 'string', pattern: '^\\d{1,9}$' };

const parameters: Parameter[] = [
  query('table', 'The table; a read token opens those that the deployment allows.', {
    required: true,
    example: 'entities',
  }),
  query(
    'offset',
    '`-1` for all rows, `now` for what is to come, else the last `electric-offset`.',
    {
      required: true,
      examples: {
        start: { summary: 'all rows', value: '-1' },
        resume: { summary: 'what came after the last read', value: '26800584_4' },
      },
    },
  ),
  query('handle', 'The last `electric-handle`; required with such an offset.', {
    example: '3833821-1721812114261',
  }),
  query('live', '`true` parks the read until something changes.', flag),
  query('live_sse', '`true` beside `live=true`: as a stream of events.', flag),
  query('experimental_live_sse', 'What `live_sse` was called; the client sends both.', flag),
  query('cursor', 'The last `electric-cursor`.'),
  query(
    'where',
    'Only rows for which this holds: an SQL condition on the columns. With a read token it compares columns ' +
      'with constants.',
    { example: "status = 'idle'" },
  ),
  query('params', 'Values for `$1`, `$2` and so on: `params[1]=…`, without a gap.', {
    schema: {
      type: 'object',
      patternProperties: { '^[1-9]\\d{0,3}$': { type: 'string' } },
      additionalProperties: false,
    },
    style: 'deepObject',
    explode: true,
    example: { 1: 'idle' },
  }),
  query('columns', 'Only these columns, the primary key among them, with commas between.', {
    example: 'url,status',
  }),
  query('replica', '`full`: a change holds the whole row, and what was before.', {
    schema: { enum: ['default', 'full'] },
  }),
  query('log', '`changes_only`: no rows to begin with.', {
    schema: { enum: ['full', 'changes_only'] },
  }),
  query('subset__where', 'Of the rows of the shape only those for which this holds, at once.'),
  query('subset__params', 'Values for its `$1` and so on: a JSON object of strings by number.', {
    example: '{"1":"idle"}',
  }),
  query(
    'subset__order_by',
    'Column names, with `ASC` or `DESC` and `NULLS FIRST` or `NULLS LAST`.',
    {
      example: 'created_at DESC',
    },
  ),
  query('subset__limit', 'How many rows; with an order only.', { schema: COUNT }),
  query('subset__offset', 'How many to leave out; with an order only.', { schema: COUNT }),
  query('expired_handle', "A handle that is no longer valid; the client's own, against caches."),
  query('cache-buster', "Anything; the client's own, against caches."),
  {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of an earlier read.',
    schema: { type: 'string' },
  },
];

const content: Content = {
  'application/json': {
    schema: {
      anyOf: [
        { type: 'array', items: { $ref: '#/components/schemas/ShapeMessage' } },
        {
          type: 'object',
          description: 'A snapshot, where `subset__…` parameters ask for one.',
          required: ['data', 'metadata'],
          properties: {
            data: { type: 'array', items: { $ref: '#/components/schemas/ShapeMessage' } },
            metadata: { type: 'object' },
          },
        },
      ],
    },
    examples: {
      rows: {
        value: [
          {
            key: '"public"."entities"/"/t/default/a/assistant/a1"',
            value: { url: '/t/default/a/assistant/a1', type: 'assistant', status: 'idle' },
            headers: { operation: 'insert' },
          },
          { headers: { control: 'up-to-date', global_last_seen_lsn: '26800584' } },
        ],
      },
    },
  },
  'text/event-stream': {
    examples: { events: { value: 'data: {"headers":{"control":"up-to-date"}}\n\n' } },
  },
};

const messages = (description: string, example: unknown): Answers[string] => ({
  description,
  content: { 'application/json': { schema: {}, example } },
});

const upstream: Answers = {
  200: {
    description:
      'Rows or changes, and where to go on. With `live_sse=true` a stream of events, a message in each.',
    always: ['electric-handle'],
    sometimes: [
      'electric-offset',
      'electric-schema',
      'electric-cursor',
      'electric-up-to-date',
      'electric-has-data',
      'ETag',
    ],
    content,
  },
  304: { description: 'What the `ETag` stands for is still all there is.', sometimes: ['ETag'] },
  400: messages('The shape is not one that Electric knows.', {
    message: 'Invalid request',
    errors: { offset: ["can't be blank"] },
  }),
  404: messages('Electric has no such database.', { message: 'Database not found' }),
  409: {
    ...messages('The handle is stale: begin again, with the new one.', [
      { headers: { control: 'must-refetch' } },
    ]),
    sometimes: ['electric-handle'],
  },
  429: messages('Electric has too much to do.', { message: 'Try again later' }),
  500: messages('Electric failed.', { message: 'Internal error' }),
  503: messages('Electric is not ready.', { message: 'Not ready' }),
};

const shape: OperationPart = {
  operationId: 'readShape',
  summary: 'Read the catalog',
  description:
    'A shape is a live query. Read it from `-1`, then follow it with `handle` and `offset`. ' +
    "A read token sees only its tenant's rows. It may request only what it pins, with no other parameters than these. " +
    "The gateway drops a client's `secret`.",
  path: '/shapes/v1/shape',
  parameters,
  upstream,
  problems: [
    'prefix_not_covered',
    'table_not_allowed',
    'shape_not_covered',
    'duplicate_parameter',
    'unknown_parameter',
    'invalid_order_by',
    'invalid_parameter',
    'invalid_where',
  ],
  head: { operationId: 'headShape', summary: 'Read the catalog, the headers alone' },
  preflightId: 'preflightShape',
};

const anythingElse: OperationPart = {
  operationId: 'readSyncEngine',
  summary: 'Read anything else of the sync engine',
  description: 'Such as `v1/health`. With an API key only.',
  upstream: {
    200: { description: 'As Electric answers.', content: ANYTHING },
    404: { description: 'Electric has no such path.', content: ANYTHING },
  },
  problems: ['prefix_not_covered'],
  apiKeyOnly: true,
  head: { operationId: 'headSyncEngine', summary: 'The same, the headers alone' },
  preflightId: 'preflightSyncEngine',
};

export const SHAPES: OperationParts = { 'ShapesController.read': [shape, anythingElse] };

export const SHAPE_MESSAGE = {
  type: 'object',
  description: 'A change of a row, or word of where the shape is.',
  required: ['headers'],
  properties: {
    headers: {
      type: 'object',
      properties: {
        operation: { enum: ['insert', 'update', 'delete'] },
        control: { enum: ['up-to-date', 'must-refetch', 'snapshot-end'] },
      },
      additionalProperties: true,
    },
    key: { type: 'string', description: 'Tells the row from all others.' },
    value: {
      type: 'object',
      description: 'Of an update and a delete just the key and what changed, by default.',
      additionalProperties: { type: ['string', 'null'] },
    },
    old_value: { type: 'object', additionalProperties: { type: ['string', 'null'] } },
  },
};
