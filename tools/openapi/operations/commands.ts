import { IDEMPOTENCY_KEY } from '../../../src/commands/idempotency-key.ts';
import type { ErrorCode } from '../../../src/platform/errors/error-codes.ts';
import { ANYTHING, type Answer } from '../answers.ts';
import type { Parameter, RequestBody } from '../openapi.ts';
import type { OperationParts } from '../operation-part.ts';

const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'One of its own for every command. Repeat the command with the same key until the answer is ' +
    'below 500: it is handled once. Without a key the gateway never sends a command twice.',
  schema: { type: 'string', pattern: IDEMPOTENCY_KEY.source },
  example: 'order-4711',
};

const accepted: Answer = {
  description:
    'The runtime has the command in its journal: it will be handled, whatever fails from now on.',
  always: ['X-Request-Id'],
  sometimes: ['Idempotency-Replayed'],
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/CommandAnswer' },
      examples: {
        accepted: {
          value: {
            url: '/t/default/a/assistant/01jd3x5m9q8r7s6t5v4w3x2y1z',
            streamPath: '/t/default/agents/assistant/01jd3x5m9q8r7s6t5v4w3x2y1z/timeline',
            streamUrl: '/streams/t/default/agents/assistant/01jd3x5m9q8r7s6t5v4w3x2y1z/timeline',
            restate: { invocationId: 'inv_1dyGCbLkpLYN4UCHEmYfTkdyiRYJDRhVnP' },
          },
        },
      },
    },
  },
};

const problems: ErrorCode[] = [
  'invalid_entity_type',
  'invalid_entity_id',
  'invalid_idempotency_key',
  'runtime_rejected',
  'entity_type_not_registered',
  'upstream_unreachable',
  'upstream_timeout',
  'upstream_invalid_response',
];

const spawnBody: RequestBody = {
  description: 'The agent gets these very bytes. Which `Content-Type` comes with them is all one.',
  required: true,
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/SpawnCommand' },
      examples: {
        simple: { value: { type: 'assistant', args: { greeting: 'hello' } } },
        deterministic: {
          summary: 'With an id of your own, as the child of another agent',
          value: {
            type: 'assistant',
            id: 'order-4711',
            parent: '/t/default/a/assistant/01jd3x5m9q8r7s6t5v4w3x2y1z',
            workspaceRef: 'default/orders',
          },
        },
      },
    },
  },
};

const sendBody: RequestBody = {
  description:
    'The message, whatever it is: the gateway neither parses nor rewrites it. It reaches the agent ' +
    'with its `Content-Type`, `application/json` where there is none.',
  required: false,
  content: {
    'application/json': {
      schema: {},
      examples: {
        message: {
          value: { kind: 'message', content: [{ type: 'text', text: 'Hello' }] },
        },
      },
    },
    ...ANYTHING,
  },
};

const controlBody: RequestBody = {
  description: 'The agent gets these very bytes.',
  required: true,
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/ControlCommand' },
      examples: { interrupt: { value: { verb: 'interrupt', reason: 'changed my mind' } } },
    },
  },
};

export const COMMANDS: OperationParts = {
  'CommandsController.spawn': [
    {
      operationId: 'spawnAgent',
      summary: 'Spawn an agent',
      description:
        'Without an `id` a fresh one is made. With an `Idempotency-Key` and no `id` the id follows ' +
        'from tenant, type and key, so that a retry names the same entity.',
      parameters: [idempotencyKey],
      requestBody: spawnBody,
      success: accepted,
      problems,
    },
  ],
  'CommandsController.send': [
    {
      operationId: 'sendMessage',
      summary: 'Send an agent a message',
      description: 'Wakes the agent. What it replies is read from its timeline, at `streamUrl`.',
      parameters: [idempotencyKey],
      requestBody: sendBody,
      success: accepted,
      problems,
    },
  ],
  'CommandsController.control': [
    {
      operationId: 'controlAgent',
      summary: 'Interrupt, pause, resume or archive an agent',
      description: 'What the verb does is up to the agent.',
      parameters: [idempotencyKey],
      requestBody: controlBody,
      success: accepted,
      problems: [...problems, 'unknown_verb'],
    },
  ],
};
