import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { listening } from '../../../test/support/listening.ts';
import { until } from '../../../test/support/until.ts';
import { HeldBytes } from '../memory/held-bytes.ts';
import { Connections } from './connections.ts';

const MIB = 1_048_576;
const REQUEST = 'GET / HTTP/1.1\r\nHost: g\r\n\r\n';

let stop: () => Promise<void>;
afterEach(() => stop());

/** The connections of a server that answers nothing, and a client that sends requests without waiting. */
async function start(maxHeldBytes: number) {
  const server = createServer();
  const held = new HeldBytes(maxHeldBytes);
  const connections = new Connections(server, held);
  server.on(
    'request',
    connections.inTurn(() => undefined),
  );
  const { port, stop: close } = await listening(server);
  stop = close;
  const send = async (requests: number): Promise<Socket> => {
    const client = connect(port, '127.0.0.1');
    client.on('error', () => undefined).resume();
    await once(client, 'connect');
    client.write(REQUEST.repeat(requests));
    return client;
  };
  return { server, connections, held, send };
}

describe('a connection on which requests wait', () => {
  it('tells how many, if it has the most of them', async () => {
    const { connections, send } = await start(MIB);
    await send(9);
    await send(12);
    await until('four requests wait', () => connections.mostWaitingOfOne >= 4);
    expect(connections.mostWaitingOfOne).toBe(4);
  });

  // It was closed without a trace in any metric.
  it('counts as ended when too many do', async () => {
    const { connections, held, send } = await start(100 * MIB);
    await once(await send(1_100), 'close');
    expect(connections.overfullCount).toBe(1);
    expect(connections.shedCount).toBe(0);
    expect(held.total).toBe(0);
  });

  it('counts as ended for memory when there is none for another one', async () => {
    const { connections, held, send } = await start(1);
    await once(await send(9), 'close');
    expect(connections.shedCount).toBe(1);
    expect(connections.overfullCount).toBe(0);
    expect(held.total).toBe(0);
  });
});

describe('the end of idle connections', () => {
  // A client that had connected just before the listener closed lost its first request: ECONNRESET.
  it('waits for the first request of a connection, until it is called off', async () => {
    const { server, connections, send } = await start(MIB);
    const [early, late] = [await send(0), await send(0)];
    await until('both are connected', () => connections.count >= 2);
    connections.closeIdle();
    server.once('request', (_, response: ServerResponse) => response.end());
    early.write(REQUEST);
    const [answer] = (await once(early, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    await once(early, 'close');
    expect(connections.count).toBe(1);
    connections.closeUnused();
    await once(late, 'close');
  });
});
