import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { problem } from '../support/ask-raw.ts';
import { forThisTest } from '../support/for-this-test.ts';
import { startMeasuredGateway, type MeasuredGateway } from '../support/measured-gateway.ts';
import { ACCEPTED, KEYED, sendCommand } from '../support/runtime.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { until } from '../support/until.ts';

/** Half of it is the time after which several commands that wait mean silence. */
const RESPONSE_TIMEOUT_MS = '3000';

async function stateOf(gateway: MeasuredGateway): Promise<unknown> {
  const response = await fetch(`${gateway.managementUrl}/health/ready`);
  const { details } = (await response.json()) as { details: Record<string, { state?: string }> };
  return [response.status, details['runtime-ingress']?.state];
}

/**
 * With two of three nodes of Restate away, the third one takes connections and answers no command. Each command of 20 a second
 * held a connection for 15 s, and readiness said "reachable".
 */
describe('a runtime that takes commands and accepts none', () => {
  it('is an outage for commands that come later, until it accepts one again', async () => {
    const held: ServerResponse[] = [];
    let isQuorate = false;
    const runtime = forThisTest(
      await startScriptedUpstream((request, response) => {
        if (isQuorate) response.writeHead(202).end(ACCEPTED);
        else held.push(response);
      }),
    );
    const gateway = forThisTest(
      await startMeasuredGateway({
        GATEWAY_RUNTIME_INGRESS_URL: runtime.url,
        GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: RESPONSE_TIMEOUT_MS,
        GATEWAY_RUNTIME_OUTAGE_WAIT_MS: '1',
        // On a busy machine a late connection would open an outage of another kind.
        GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: '600000',
      }),
    );
    expect(await stateOf(gateway)).toEqual([200, 'reachable']);
    const first = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => sendCommand(gateway.url, {}, id));
    await until('readiness says so', async () => String(await stateOf(gateway)) === '200,silent');
    expect(await gateway.value('gateway_upstream_reachable', { upstream: 'runtime-ingress' })).toBe(
      0,
    );
    await until('a command is refused at once', async () => {
      const late = await sendCommand(gateway.url, KEYED, 'late');
      if (late.body.code === 'upstream_timeout') return false;
      const detail =
        'The server behind this route could not be reached, so nothing was sent; try again.';
      const title = 'An upstream could not be reached';
      const code = 'upstream_unreachable';
      expect(late).toEqual({
        status: 502,
        isReplay: false,
        retryAfter: '1',
        body: { ...problem(502, code, title, detail, 'to-late'), sent: false },
      });
      return true;
    });
    for (const { status, body } of await Promise.all(first))
      expect([status, body.code]).toEqual([502, 'upstream_timeout']);

    isQuorate = true;
    await until('a command is accepted', async () => {
      return (await sendCommand(gateway.url, KEYED, 'again')).status === 202;
    });
    expect(await gateway.value('gateway_runtime_outage_seconds')).toBe(0);
    await until(
      'readiness says so',
      async () => String(await stateOf(gateway)) === '200,reachable',
    );
  });
});
