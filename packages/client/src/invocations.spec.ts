import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { AgentGateway } from './gateway.ts';

/**
 * Before, the list named neither when Restate tries again nor the turns of an agent, which are invocations of another
 * service: an agent whose turn failed had no invocation that fails.
 */
it('lists what fails for an agent, its turns too, with the next try', async () => {
  const queries: string[] = [];
  const row = {
    id: 'inv_1',
    target: 'assistantTurn/run',
    status: 'backing-off',
    created_at: '2026-01-01T00:00:00Z',
    retry_count: 92,
    last_failure: '[500] no model\n    at f (agent.ts:1:1)',
    next_retry_at: '2026-01-01T00:01:00Z',
    invoked_by_target: 'assistant/ada/wake',
    last_attempt_deployment_id: 'dp_1',
  };
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      queries.push(
        (JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as { query: string }).query,
      );
      response.end(JSON.stringify({ rows: [row] }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { invocations } = new AgentGateway({
    url: `http://127.0.0.1:${port}`,
    apiKey: 'k'.repeat(16),
  });
  try {
    expect(await invocations.list({ agent: 'assistant/ada', isFailing: true, limit: 5 })).toEqual([
      {
        id: 'inv_1',
        target: 'assistantTurn/run',
        status: 'backing-off',
        createdAt: '2026-01-01T00:00:00Z',
        tries: 92,
        lastFailure: '[500] no model\n    at f (agent.ts:1:1)',
        nextTryAt: '2026-01-01T00:01:00Z',
        invokedBy: 'assistant/ada/wake',
        deploymentId: 'dp_1',
      },
    ]);
    expect(queries).toEqual([
      'SELECT id, target, status, created_at, retry_count, last_failure, next_retry_at, invoked_by_target, ' +
        "last_attempt_deployment_id FROM sys_invocation WHERE status <> 'completed' AND (target_service_name = " +
        "'assistant' AND target_service_key = 'ada' OR starts_with(invoked_by_target, 'assistant/ada/')) AND " +
        "(last_failure IS NOT NULL OR status = 'paused') ORDER BY created_at LIMIT 5",
    ]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
