import type { OperationParts } from '../operation-part.ts';

export const HEALTH: OperationParts = {
  'HealthController.check': [
    {
      operationId: 'getHealth',
      summary: 'Whether the process answers',
      description:
        'Looks at no upstream. Probes have a port of their own. If `GATEWAY_HEALTH_FAILS_ON_DRAIN` is `true`, the ' +
        'answer during a shutdown is 503 `draining`.',
      success: {
        description: 'It does.',
        always: ['X-Request-Id', 'Cache-Control'],
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Health' },
            examples: { ok: { value: { status: 'ok', info: {}, error: {}, details: {} } } },
          },
        },
      },
      problems: [],
      head: { operationId: 'headHealth', summary: 'The same, the headers alone' },
    },
  ],
};
