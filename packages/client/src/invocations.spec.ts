import { expect, it } from '@jest/globals';
import { startScriptedUpstream } from '../../../test/support/scripted-upstream.ts';
import { AgentGateway } from './gateway.ts';

/**
 * Before, the list named neither when Restate tries again nor the turns of an agent, which are invocations of another
 * service: an agent whose turn failed had no invocation that fails.
 */
it('lists what fails for an agent, its turns too, with the next try', async () => {
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
  const server = await startScriptedUpstream((_, response) =>
    response.end(JSON.stringify({ rows: [row] })),
  );
  const { invocations } = new AgentGateway({ url: server.url, apiKey: 'k'.repeat(16) });
  const found = await invocations.list({ agent: 'assistant/ada', isFailing: true, limit: 5 });
  await server.stop();
  expect(found).toEqual([
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
  const queries = server.seen.map(({ body }) => JSON.parse(body.toString()) as object);
  expect(queries).toEqual([
    {
      query:
        'SELECT id, target, status, created_at, retry_count, last_failure, next_retry_at, invoked_by_target, ' +
        "last_attempt_deployment_id FROM sys_invocation WHERE status <> 'completed' AND NOT (invoked_by_target IS NOT NULL AND " +
        "target LIKE '%Turn/watch') AND (target_service_name = " +
        "'assistant' AND target_service_key = 'ada' OR starts_with(invoked_by_target, 'assistant/ada/')) AND " +
        "(status IN ('backing-off', 'paused') OR (status = 'running' AND last_failure IS NOT NULL AND " +
        "last_start_at > now() - INTERVAL '10 seconds')) ORDER BY created_at LIMIT 5",
    },
  ]);
});
