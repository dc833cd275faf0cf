import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../test/support/until.ts';
import { choosePorts } from '../stack/ports.ts';
import { openFront } from './front.ts';

interface Gateway {
  name: string;
  server: Server;
  port: number;
  /** 0: it answers nothing. */
  health: number;
  /** The responses that have begun. */
  parked: ServerResponse[];
}

describe('the front of several gateways', () => {
  let gateways: Gateway[];
  let port: number;
  let close: () => Promise<void>;

  beforeEach(async () => {
    gateways = await Promise.all(['one', 'two'].map(start));
    ({ port } = await choosePorts({ port: 0 }));
    close = await openFront(
      port,
      gateways.map((each) => ({ way: { port: each.port }, healthPath: '/ready' })),
    );
  });
  afterEach(async () => {
    await close();
    for (const { server } of gateways) {
      server.close();
      server.closeAllConnections();
    }
  });

  async function start(name: string): Promise<Gateway> {
    const parked: ServerResponse[] = [];
    const server = createServer(({ url }, response) => {
      if (url === '/parked') {
        response.write('begun');
        parked.push(response);
      } else if (url !== '/ready') response.end(name);
      else if (gateway.health > 0) response.writeHead(gateway.health).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const gateway = {
      name,
      server,
      port: (server.address() as AddressInfo).port,
      health: 200,
      parked,
    };
    return gateway;
  }

  const ask = async (path = '/'): Promise<string> => {
    const headers = { connection: 'close' };
    return (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).text();
  };

  it('gives connections to each in turn', async () => {
    expect([await ask(), await ask(), await ask(), await ask()]).toEqual([
      'one',
      'two',
      'one',
      'two',
    ]);
  });

  it('passes over one that is gone', async () => {
    gateways[0]!.server.close();
    gateways[0]!.server.closeAllConnections();
    expect([await ask(), await ask(), await ask()]).toEqual(['two', 'two', 'two']);
  });

  const firstIsPassedOver = (): Promise<void> =>
    until('no connection goes to the first', async () => {
      return (await Promise.all([ask(), ask(), ask(), ask()])).every((name) => name === 'two');
    });

  it('passes over one that drains, which serves what it has', async () => {
    const parked = await fetch(`http://127.0.0.1:${port}/parked`);
    gateways[0]!.health = 503;
    await firstIsPassedOver();
    gateways[0]!.parked[0]!.end(' and ended');
    expect(await parked.text()).toBe('begun and ended');
    gateways[0]!.health = 200;
    await until('it is used again', async () => (await ask()) === 'one');
  });

  it('cuts the connections of one that answers nothing', async () => {
    const parked = await fetch(`http://127.0.0.1:${port}/parked`);
    gateways[0]!.health = 0;
    await expect(parked.text()).rejects.toThrow();
    await firstIsPassedOver();
  });

  it('closes a connection that nobody takes', async () => {
    for (const { server } of gateways) {
      server.close();
      server.closeAllConnections();
    }
    await expect(ask()).rejects.toThrow('fetch failed');
  });
});
