import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from '@jest/globals';
import { startHistory } from '../support/history.ts';

it('ends a history store of the tests although a client keeps a connection open', async () => {
  const history = await startHistory();
  const socket = connect(history.port, '127.0.0.1');
  await once(socket, 'connect');
  const cut = new Promise((resolve) => socket.on('error', () => {}).on('close', resolve));

  await history.stop();

  await cut;
  await expect(fetch(history.url)).rejects.toThrow('fetch failed');
});
