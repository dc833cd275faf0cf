import { afterEach, describe, expect, it } from '@jest/globals';
import { request } from 'node:http';
import { endAll, entity, parkRead, putEntity, readShape, start } from './catalog-fixture.ts';
import type { Catalog } from './catalog-server.ts';

afterEach(endAll);

/** Sends the target as it stands: `fetch` would tidy it up. */
function rawStatus(catalog: Catalog, path: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  request({ port: catalog.port, host: '127.0.0.1', path }, (response) => {
    response.resume().on('end', () => resolve(response.statusCode));
  })
    .on('error', reject)
    .end();
  return promise;
}

describe('the HTTP face of the catalog engine', () => {
  it('answers 401 without CORS headers unless the secret is right', async () => {
    const catalog = await start({ secret: 'hush' });
    const headers = { origin: 'https://app.example' };
    const wrong = [{}, { secret: 'x' }, { secret: '' }, { secret: 'x', api_secret: 'hush' }];
    for (const secrets of wrong) {
      const query = new URLSearchParams({
        table: 'entities',
        offset: '-1',
        ...(secrets as object),
      });
      const response = await fetch(`${catalog.url}/v1/shape?${query}`, { headers });
      expect(response.status).toBe(401);
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
      expect(await response.json()).toEqual({ message: 'Unauthorized - Invalid API secret' });
    }
    for (const name of ['secret', 'api_secret']) {
      expect((await readShape(catalog, { offset: '-1', [name]: 'hush' })).status).toBe(200);
    }
  });

  it('echoes the origin on every other answer, as Electric does', async () => {
    const catalog = await start();
    const headers = { origin: 'https://app.example' };
    const answers = [
      await readShape(catalog, { offset: '-1' }, { headers }),
      await readShape(catalog, { offset: 'bad' }, { headers }),
      await readShape(catalog, { offset: '9_0', handle: 'x' }, { headers }),
      await fetch(`${catalog.url}/v1/health`, { headers }),
      await fetch(`${catalog.url}/nowhere`, { headers }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 400, 409, 200, 404]);
    for (const answer of answers) {
      expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example');
    }
    const plain = await readShape(catalog, { offset: '-1' });
    expect(plain.headers.get('access-control-allow-origin')).toBe('*');
  });

  it('answers a preflight that allows If-None-Match and no Authorization, secret or not', async () => {
    const catalog = await start({ secret: 'hush' });
    const response = await fetch(`${catalog.url}/v1/shape`, {
      method: 'OPTIONS',
      headers: { 'access-control-request-headers': 'authorization, if-none-match' },
    });

    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-headers')).toBe('if-none-match');
    expect(response.headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS');
  });

  it('answers HEAD with the headers of GET and no body', async () => {
    const catalog = await start();
    await putEntity(catalog, entity('a'));
    const get = await readShape(catalog, { offset: '-1' });
    const head = await readShape(catalog, { offset: '-1' }, { method: 'HEAD' });

    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    const comparable = (response: Response): object => ({
      ...Object.fromEntries(response.headers),
      // What undici does with its connection after a HEAD is its own affair.
      connection: '',
      'keep-alive': '',
      date: '',
      'electric-handle': '',
    });
    expect(comparable(head)).toEqual(comparable(get));
  });

  it('tells its health', async () => {
    const catalog = await start({ secret: 'hush' });
    const response = await fetch(`${catalog.url}/v1/health`);

    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'active' });
  });

  it.each([
    ['/v1/shape?table=notes&offset=-1', 200],
    ['/v1//shape?table=notes&offset=-1', 200],
    ['/v1/%73hape/?table=notes&offset=-1', 200],
    ['/v1%2Fshape?table=notes&offset=-1', 404],
    ['/v1/x/../shape?table=notes&offset=-1', 404],
    ['/v1/shape%zz', 400],
  ])('reads the path %s as Electric does: %i', async (path, status) => {
    const catalog = await start();

    expect(await rawStatus(catalog, path)).toBe(status);
  });

  it('refuses a port that is taken', async () => {
    const { port } = await start();

    await expect(start({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('breaks off parked reads when it stops', async () => {
    const catalog = await start({ longPollTimeoutMs: 3_600_000 });
    const first = await readShape(catalog, { offset: '-1' });
    const handle = first.headers.get('electric-handle')!;
    const parked = await parkRead(catalog, { offset: '0_0', handle });

    await catalog.stop();
    expect(await parked.settled).toEqual({ brokenOff: 'ECONNRESET' });
  });
});
