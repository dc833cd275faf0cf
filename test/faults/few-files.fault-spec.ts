import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { API_KEY } from '../support/credentials.ts';
import { afterThisTest, forThisTest } from '../support/for-this-test.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { until } from '../support/until.ts';

const FILES = 200;
const CLIENTS = 150;

async function start(env: Record<string, string> = {}): Promise<GatewayChild> {
  const gateway = await startGatewayChild({
    env,
    wrapper: ['/bin/sh', '-c', `ulimit -n ${FILES}; exec "$@"`, 'sh'],
  });
  afterThisTest(() => gateway.kill());
  return gateway;
}

/** Sends a read that parks, on a connection of its own. Resolves with the status, or 0 if the connection is closed. */
function park(port: number, index: number): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    afterThisTest(() => socket.destroy());
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(0));
    socket.once('data', (answer) => resolve(Number(answer.toString('latin1').slice(9, 12))));
    const target = `/streams/x${index}?offset=1&live=long-poll`;
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`);
  });
}

describe('with few files to open', () => {
  // Reads were 502 and connections reset, liveness had no answer, and in the end the process failed.
  it('turns clients away at the caps, and answers the probes', async () => {
    let parked = 0;
    const upstream = forThisTest(await startScriptedUpstream(() => void parked++));
    const gateway = await start({ GATEWAY_HISTORY_URL: upstream.url });
    const statuses: number[] = [];
    for (let i = 0; i < CLIENTS; i++) {
      void park(gateway.port, i).then((status) => statuses.push(status));
    }
    await until(
      () => `${CLIENTS} clients are parked (${parked}) or answered (${statuses.length})`,
      () => parked + statuses.length >= CLIENTS,
    );

    expect(parked).toBeGreaterThan(10);
    // Closed unheard beyond 110 % of the cap.
    expect(statuses.filter((status) => status !== 0 && status !== 503)).toEqual([]);
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      expect((await fetch(gateway.managementUrl + path)).status).toBe(200);
    }
    expect(gateway.log.filter(({ message }) => message.includes('open files'))).toEqual([]);
  });

  it('warns at the start of caps that need more, with the numbers', async () => {
    const gateway = await start({ GATEWAY_MAX_OPEN_READS: '1000' });
    expect(gateway.log[0]).toMatchObject({
      level: 'warn',
      maxConnections: 1_000,
      maxOpenReads: 1_000,
      neededFiles: 64 + 2_100 + 1_000,
      maxOpenFiles: FILES,
      message: expect.stringContaining('GATEWAY_MAX_CONNECTIONS'),
    });
  });
});
