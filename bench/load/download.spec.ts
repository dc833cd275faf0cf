import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { API_KEY } from '../contenders/contender.ts';
import { download } from './download.ts';

let server: Server | undefined;
let asked = '';

/** Answers every request with these bytes, then closes the connection. */
async function serve(answer: string): Promise<string> {
  asked = '';
  server = createServer((socket) => {
    socket.on('data', (bytes) => {
      asked += bytes.toString('latin1');
      socket.end(answer);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/large`;
}

const head = (status: string, length: number) =>
  `HTTP/1.1 ${status}\r\nContent-Length: ${length}\r\n\r\n`;

afterEach(async () => {
  if (!server) return;
  server.close();
  await once(server, 'close');
});

describe('a download', () => {
  it('takes as long as the whole body takes, and shows the credential', async () => {
    const url = await serve(head('200 OK', 5) + 'abcde');
    await expect(download(url, 5)).resolves.toBeGreaterThan(0);
    expect(asked).toContain(`Authorization: Bearer ${API_KEY}\r\n`);
  });

  it.each([
    ['that ends early', head('200 OK', 5) + 'abc', /^the body ended 2 bytes early$/],
    ['that is longer', head('200 OK', 6) + 'abcdef', /^not the answer that was asked for/],
    ['that says another length', head('200 OK', 4) + 'abcde', /^not the answer/],
    ['that is an error', head('502 Bad Gateway', 5) + 'abcde', /502 Bad Gateway/],
  ])('fails on an answer %s', async (_, answer, message) => {
    await expect(download(await serve(answer), 5)).rejects.toThrow(message);
  });
});
