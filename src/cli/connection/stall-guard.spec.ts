import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { finalNetworkError, mayHaveArrived, networkErrorInWords } from './network-error.ts';
import { withStallGuard } from './stall-guard.ts';

/** Long enough for an answer on a busy machine, short enough to wait for. */
const SILENCE_MS = 1_000;

describe('withStallGuard', () => {
  let server: Server;
  let url: string;
  let answer: (response: ServerResponse) => void;
  beforeEach(async () => {
    server = createServer((_, response) => answer(response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });

  const guarded = withStallGuard(fetch, SILENCE_MS);

  it('breaks off an answer that never begins, in words that say so', async () => {
    answer = () => undefined;
    const error: unknown = await guarded(url).catch((reason: unknown) => reason);
    expect(networkErrorInWords(error)).toBe('no answer in time');
    expect([finalNetworkError(error, url), mayHaveArrived(error)]).toEqual([undefined, true]);
  });

  it('breaks off an answer that falls silent, with what came before it', async () => {
    answer = (response) => void response.write('begun');
    const reader = (await guarded(url)).body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('begun');
    await expect(reader?.read()).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('lets an answer take longer than that which is not silent', async () => {
    const pieces = ['a', 'b', 'c', 'd'];
    answer = (response) => {
      const timer = setInterval(() => {
        const piece = pieces.shift();
        if (piece !== undefined) response.write(piece);
        else response.end(() => clearInterval(timer));
      }, SILENCE_MS / 3);
    };
    const startedAtMs = performance.now();
    expect(await (await guarded(url)).text()).toBe('abcd');
    expect(performance.now() - startedAtMs).toBeGreaterThan(SILENCE_MS);
  });

  it('keeps status and headers, and lets the server go when the reader goes', async () => {
    let gone: Promise<unknown> = Promise.resolve();
    answer = (response) => {
      gone = once(response, 'close');
      response.writeHead(201, { 'stream-next-offset': '7' }).write('x');
    };
    const response = await guarded(url);
    expect([response.status, response.headers.get('stream-next-offset')]).toEqual([201, '7']);
    await response.body?.cancel();
    await gone;
  });

  it('does not count the time in which nobody reads', async () => {
    // More than the buffers on the way hold, so that the server has to wait for the reader.
    const bytes = 20_000_000;
    answer = (response) => void response.end(Buffer.alloc(bytes));
    const response = await guarded(url);
    await new Promise((resolve) => setTimeout(resolve, SILENCE_MS * 1.5));
    expect((await response.arrayBuffer()).byteLength).toBe(bytes);
  });
});

describe('a failure of the network', () => {
  const failure = (code: string): Error =>
    new TypeError('fetch failed', { cause: Object.assign(new Error('low'), { code }) });

  it.each<[string, string, boolean]>([
    ['ECONNREFUSED', 'the connection is refused (ECONNREFUSED)', false],
    ['ENOTFOUND', 'the name is not known (ENOTFOUND)', false],
    ['UND_ERR_SOCKET', 'the connection broke (UND_ERR_SOCKET)', true],
    ['ECONNRESET', 'the connection broke (ECONNRESET)', true],
    ['EODD', 'EODD', true],
  ])('is said in words, and whether a request may have arrived: %s', (code, words, arrived) => {
    expect([networkErrorInWords(failure(code)), mayHaveArrived(failure(code))]).toEqual([
      words,
      arrived,
    ]);
    expect(finalNetworkError(failure(code), 'https://x')).toBeUndefined();
  });

  it('is read from the first of several addresses, and from its innermost message', () => {
    const several = new AggregateError([Object.assign(new Error(), { code: 'ECONNREFUSED' })]);
    const error = new TypeError('fetch failed', { cause: several });
    expect(networkErrorInWords(error)).toBe('the connection is refused (ECONNREFUSED)');
    const bare = new TypeError('fetch failed', { cause: new Error('bad port') });
    expect(networkErrorInWords(bare)).toBe('bad port');
  });

  it.each(['DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID'])(
    'is final where the certificate is at fault: %s',
    (code) => {
      expect(finalNetworkError(failure(code), 'https://x')).toMatchObject({
        exitCode: 6,
        message: `The gateway at https://x cannot be trusted: its certificate is not accepted (${code}).`,
        hint: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
      });
    },
  );
});
