import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { listening } from '../../../../test/support/listening.ts';
import { awaited } from '../../../../test/support/until.ts';
import type { Addresses } from './addresses.ts';
import { connectorTo } from './connector.ts';

const UNREAD = { buffer: Buffer.alloc(1), callback: () => true };

describe('a connector', () => {
  it('goes on with the next address where one refuses, and has that one come last from then on', async () => {
    const server = await listening(createServer());
    const avoided: string[] = [];
    const asked: unknown[] = [];
    const addresses = {
      inOrder: (besides?: string) => {
        asked.push(besides);
        return Promise.resolve(['127.0.0.2', '127.0.0.1']);
      },
      avoid: (address: string) => avoided.push(address),
    } as unknown as Addresses;
    const connect = connectorTo(new URL(`http://store.test:${server.port}`), addresses);
    const opened = Promise.withResolvers<void>();
    const socket = connect(UNREAD, opened.resolve, '10.0.0.1');
    await awaited('the connection opens', opened.promise);
    expect([socket.remoteAddress, asked, avoided]).toEqual([
      '127.0.0.1',
      ['10.0.0.1'],
      ['127.0.0.2'],
    ]);
    const closed = once(socket, 'close');
    await server.stop();
    socket.destroy();
    await closed;
  });
});
