import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { listening } from '../../../test/support/listening.ts';
import { until } from '../../../test/support/until.ts';
import { Connections, MAX_PIPELINED } from './connections.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: g\r\n\r\n';

const inProgress = (connections: Connections): number =>
  [...connections.all()].reduce((sum, { exchanges }) => sum + exchanges.length, 0);

let stop: () => Promise<void>;
afterEach(() => stop());

/** The connections of a server that answers nothing, and a client that sends requests without waiting. */
async function start() {
  const server = createServer();
  const connections = new Connections(server, 10);
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
  return { server, connections, send };
}

describe('a connection on which requests are pipelined', () => {
  // It was closed without a trace in any metric.
  it('counts as ended when there are too many', async () => {
    const { connections, send } = await start();
    const client = await send(MAX_PIPELINED);
    await until('all are in progress', () => inProgress(connections) === MAX_PIPELINED);
    expect(connections.overfullCount).toBe(0);
    client.write(REQUEST.repeat(3));
    await once(client, 'close');
    expect(connections.overfullCount).toBe(1);
  });
});

describe('the end of idle connections', () => {
  // A client that had connected just before the listener closed lost its first request: ECONNRESET.
  it('waits for the first request of a connection, until it is called off', async () => {
    const { server, connections, send } = await start();
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
