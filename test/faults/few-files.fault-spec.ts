import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { API_KEY } from '../support/credentials.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';

const FILES = 200;
const CLIENTS = 150;

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

async function start(env: Record<string, string> = {}): Promise<GatewayChild> {
  const gateway = await startGatewayChild({
    env,
    wrapper: ['/bin/sh', '-c', `ulimit -n ${FILES}; exec "$@"`, 'sh'],
  });
  closings.push(() => gateway.kill());
  return gateway;
}

/** Sends a read that parks, on a connection of its own. Resolves with the status, or 0 if the connection is closed. */
function park(port: number, sockets: Socket[]): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(0));
    socket.once('data', (answer) => resolve(Number(answer.toString('latin1').slice(9, 12))));
    const target = `/streams/x${sockets.length}?offset=1&live=long-poll`;
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`);
  });
}

describe('with few files to open', () => {
  // Reads were 502 and connections reset, liveness had no answer, and in the end the process failed.
  it('turns clients away at the caps, and answers the probes', async () => {
    const progress = new EventEmitter();
    let parked = 0;
    const upstream = await startScriptedUpstream(() => {
      parked++;
      progress.emit('step');
    });
    closings.push(() => upstream.stop());
    const gateway = await start({ GATEWAY_HISTORY_URL: upstream.url });
    const sockets: Socket[] = [];
    closings.push(() => sockets.forEach((socket) => socket.destroy()));
    const statuses: number[] = [];
    for (let i = 0; i < CLIENTS; i++) {
      void park(gateway.port, sockets).then((status) => {
        statuses.push(status);
        progress.emit('step');
      });
    }
    while (parked + statuses.length < CLIENTS) await once(progress, 'step');

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
