import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { AUTHORIZED } from '../support/credentials.ts';
import { afterThisTest, forThisTest } from '../support/for-this-test.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { measuresAt } from '../support/measured-gateway.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';
import { ADDRESS_FOR_FAR_CLIENT, canBeFar, makeFarClient, type FarClient } from './far-client.ts';

const STALL_TIMEOUT_MS = 1_000;
const EVENT = `data: ${'x'.repeat(300)}\n\nevent: control\ndata: {}\n\n`;
const EVENT_INTERVAL_MS = 20;

const itWithFarClients = canBeFar() ? it : it.skip;

/** TCP tried for 939 s: it asks whether a client is still there only where nothing waits to be acknowledged. */
describe('a client that vanishes while events flow (needs root and iproute2)', () => {
  let upstream: ScriptedUpstream;
  let gateway: GatewayChild;
  let client: FarClient;

  beforeEach(async () => {
    upstream = forThisTest(
      await startScriptedUpstream((_request, response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const events = setInterval(() => response.write(EVENT), EVENT_INTERVAL_MS);
        response.once('close', () => clearInterval(events));
      }),
    );
    gateway = await startGatewayChild({
      env: {
        GATEWAY_HOST: '0.0.0.0',
        GATEWAY_HISTORY_URL: upstream.url,
        GATEWAY_CLIENT_STALL_TIMEOUT_MS: String(STALL_TIMEOUT_MS),
      },
    });
    afterThisTest(() => gateway.kill());
    client = makeFarClient();
    afterThisTest(() => client.remove());
  });

  itWithFarClients.each([
    ['a shared event stream', 'offset=1_0'],
    ['one of its own', 'offset=now'],
  ])('is freed within the stall timeout, in %s', async (_, query) => {
    const head = `Host: ${ADDRESS_FOR_FAR_CLIENT}\r\nAuthorization: ${AUTHORIZED.authorization}`;
    const request = `GET /streams/s?live=sse&${query} HTTP/1.1\r\n${head}\r\n\r\n`;
    expect(await client.ask(gateway.port, request)).toBe('HTTP/1.1 200 OK');
    const [upstreamSocket] = upstream.openSockets;
    // Not `once` of node:events: that rejects where the gateway resets it, which is an end as good.
    const freed = new Promise((resolve) => upstreamSocket?.once('close', resolve));
    client.vanish();
    await freed;
    const measures = measuresAt(gateway.managementUrl);
    await measures.until('gateway_connections', {}, 0);
    expect(await measures.value('gateway_open_reads')).toBe(0);
    expect(await measures.value('gateway_clients_ended_total', { reason: 'stalled' })).toBe(1);
  });
});
