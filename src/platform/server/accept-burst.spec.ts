import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { TurnQueue } from '../collections/turn-queue.ts';
import { AcceptBurst } from './accept-burst.ts';

describe('AcceptBurst', () => {
  it('are coming for as long as each turn brings one', () => {
    let accepted = 0;
    const acceptBurst = new AcceptBurst(() => accepted, Number.POSITIVE_INFINITY);
    expect(acceptBurst.isUnderWay()).toBe(false);
    for (let turn = 0; turn < 3; turn++) {
      accepted++;
      expect(acceptBurst.isUnderWay()).toBe(true);
    }
    expect(acceptBurst.isUnderWay()).toBe(false);
  });

  it('hold nobody up for longer than they may', () => {
    let accepted = 0;
    const acceptBurst = new AcceptBurst(() => ++accepted, 0);
    expect(acceptBurst.isUnderWay()).toBe(false);
    expect(acceptBurst.isUnderWay()).toBe(false);
  });
});

describe('AcceptBurst of a server', () => {
  const MANY = 50;
  let server: Server;
  let accepted = 0;
  const acceptedWhenServed: number[] = [];

  beforeAll(async () => {
    const acceptBurst = new AcceptBurst(() => accepted, Number.POSITIVE_INFINITY);
    const arrivals = new TurnQueue<() => void>(
      (serve) => serve(),
      undefined,
      () => acceptBurst.isUnderWay(),
    );
    server = createServer((_, response) => {
      arrivals.add(() => {
        acceptedWhenServed.push(accepted);
        response.end('served');
      });
    });
    server.on('connection', () => accepted++);
    server.listen({ port: 0, host: '127.0.0.1', backlog: MANY });
    await once(server, 'listening');
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('are all let in before the first of them is served', async () => {
    const { port } = server.address() as AddressInfo;
    const answers = Array.from({ length: MANY }, () => {
      const socket = connect(port, '127.0.0.1');
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      return text(socket);
    });
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/served$/);
    expect(acceptedWhenServed).toEqual(Array.from({ length: MANY }, () => MANY));
  });
});
