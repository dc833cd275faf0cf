import { afterEach, describe, expect, it } from '@jest/globals';
import { API_KEY, AUTHORIZED } from '../support/gateway.ts';
import { parseRaw, rawAnswer, sendRaw } from '../support/raw-client.ts';
import { scriptedGateway, testGateway } from '../support/scripted-gateway.ts';

const KEY = `Authorization: Bearer ${API_KEY}`;
const SECRET = 'electric-secret';
/** Headers that Node adds by itself or that another test checks. */
const BY_THE_WAY = new Set(['date', 'x-request-id', 'content-length', 'connection', 'keep-alive']);

type Header = [name: string, value: string];

function pairs(rawHeaders: readonly string[]): Header[] {
  return rawHeaders.flatMap((name, i): Header[] =>
    i % 2 === 0 ? [[name, rawHeaders[i + 1] ?? '']] : [],
  );
}

describe('headers through a proxied route', () => {
  /** What the upstream answers with. */
  let answerStatus = 200;
  let answerHeaders: string[] = [];

  const settings = (upstreamUrl: string) => ({
    GATEWAY_HISTORY_URL: `${upstreamUrl}/v1/stream`,
    GATEWAY_HISTORY_TOKEN: 'history-token',
    GATEWAY_SYNC_URL: upstreamUrl,
    GATEWAY_SYNC_SECRET: SECRET,
    GATEWAY_RUNTIME_ADMIN_TOKEN: 'runtime-token',
  });
  const { gateway, upstream } = scriptedGateway((_request, response) => {
    response.sendDate = false;
    response.writeHead(answerStatus, [...answerHeaders, 'Content-Length', '0']).end();
  }, settings);
  const pinned = testGateway(() => ({
    ...settings(upstream.url),
    GATEWAY_CORS_ALLOW_ORIGINS: 'https://app.example',
    GATEWAY_PUBLIC_URL: 'https://gw.example/agents/',
  }));
  afterEach(() => {
    answerStatus = 200;
    answerHeaders = [];
  });

  /** The headers of the upstream's request, for a client's. */
  async function sent(line: string, headers: string[]): Promise<Record<string, string[]>> {
    const lines = [`${line} HTTP/1.1`, 'Host: gw.test', KEY, 'X-Request-Id: r-1', ...headers];
    const answer = await sendRaw(
      gateway.port,
      Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'),
    );
    expect(parseRaw(answer).status).toBe(200);
    const seen = Object.create(null) as Record<string, string[]>;
    for (const [name, value] of pairs(upstream.seen[0]?.rawHeaders ?? [])) {
      (seen[name.toLowerCase()] ??= []).push(value);
    }
    return { ...seen };
  }

  /** What Node's own client adds to keep its connection to the upstream. */
  const own = () => ({
    host: [`127.0.0.1:${upstream.port}`],
    'x-request-id': ['r-1'],
    connection: ['keep-alive'],
  });

  describe('toward the upstream', () => {
    // The first reader's went to the store with the request that all share: one with 16 KiB of `Sec-Long` made the store
    // answer 431, and 19 of 40 readers got that.
    it('of a read are those on which its response may depend, and no others', async () => {
      const seen = await sent('GET /streams/x', [
        'Connection: close',
        'Accept: a/b',
        'Accept-Encoding: gzip',
        'If-None-Match: "e"',
        'If-Modified-Since: yesterday',
        'Range: bytes=0-1',
        'Last-Event-ID: 7',
        'Stream-Seq: \xe9\xff',
        'Electric-Anything: 1',
        'Electric-Anything: 2',
        'User-Agent: Mozilla',
        'Referer: https://app.example/private',
        'Origin: https://app.example',
        'Accept-Language: de',
        'Sec-Fetch-Mode: cors',
        `Sec-Long: ${'x'.repeat(12_000)}`,
        'DNT: 1',
        'Priority: u=1',
        'Cache-Control: no-cache',
        'Pragma: no-cache',
        'Baggage: a=b',
        'X-Custom: a',
        'Streams: no',
        'constructor: c',
        'Cookie: session=1',
      ]);
      expect(seen).toEqual({
        ...own(),
        authorization: ['Bearer history-token'],
        accept: ['a/b'],
        'accept-encoding': ['gzip'],
        'if-none-match': ['"e"'],
        'if-modified-since': ['yesterday'],
        range: ['bytes=0-1'],
        'last-event-id': ['7'],
        'stream-seq': ['\xe9\xff'],
        'electric-anything': ['1', '2'],
      });
    });

    it('of a write are what the client sent, without its credentials and what concerns one hop only', async () => {
      const seen = await sent('PUT /streams/x', [
        'Cookie: session=1',
        'Accept-Encoding: gzip',
        'If-None-Match: "e"',
        'Range: bytes=0-1',
        'Forwarded: for=1.2.3.4;host=evil',
        'X-Forwarded-For: 1.2.3.4',
        'X-Forwarded-Host: evil',
        'X-Forwarded-Proto: https',
        'X-FORWARDED-Whatever: 1',
        'Keep-Alive: timeout=9',
        'Proxy-Connection: keep-alive',
        'Proxy-Authorization: Basic eDp5',
        'Proxy-Authenticate: Basic',
        'TE: trailers',
        'Trailer: X-T',
        'X-Custom: a',
        'X-Custom: b',
        'X-Bytes: \xe9\xff',
        'X-Empty:',
        'Connection: close, X-Nominated , x-other',
        'X-Nominated: 1',
        'X-Other: 1',
      ]);
      expect(seen).toEqual({
        ...own(),
        authorization: ['Bearer history-token'],
        'accept-encoding': ['gzip'],
        'if-none-match': ['"e"'],
        range: ['bytes=0-1'],
        'x-custom': ['a', 'b'],
        'x-bytes': ['\xe9\xff'],
        'x-empty': [''],
        'content-length': ['0'],
      });
    });

    it('are sent as they are where their names are those of object members', async () => {
      // Seen: collected in a plain object, "constructor" went out with a function's source in it.
      const seen = await sent('PUT /streams/x', [
        'Connection: close',
        'constructor: c',
        'toString: s',
        '__proto__: p',
      ]);
      expect(new Map(Object.entries(seen))).toEqual(
        new Map([
          ...Object.entries(own()),
          ['authorization', ['Bearer history-token']],
          ['content-length', ['0']],
          ['constructor', ['c']],
          ['tostring', ['s']],
          ['__proto__', ['p']],
        ]),
      );
    });

    it('cannot take away what the gateway sets, by nominating it', async () => {
      const seen = await sent('GET /streams/x', [
        'Connection: close, authorization, host, x-request-id, content-length',
      ]);
      expect(seen).toEqual({ ...own(), authorization: ['Bearer history-token'] });
    });

    it('have no credential where the upstream has none of its own', async () => {
      const seen = await sent('GET /shapes/v1/shape?table=entities', [
        'Connection: close',
        `Cookie: key=${API_KEY}`,
      ]);
      expect(seen).toEqual(own());
      expect(JSON.stringify(upstream.seen)).not.toContain(API_KEY);
    });

    it('carry the credential of the admin API to that', async () => {
      const seen = await sent('DELETE /registry/deployments/dp_1', ['Connection: close']);
      expect(seen).toEqual({
        ...own(),
        authorization: ['Bearer runtime-token'],
        // The gateway's own: it has a connection for each request to Restate's admin API.
        connection: ['close'],
        'content-length': ['0'],
      });
    });

    it('have no Upgrade, and the request is an ordinary one', async () => {
      const seen = await sent('GET /streams/x', [
        'Connection: Upgrade, close, HTTP2-Settings',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA',
      ]);
      expect(seen).toEqual({
        ...own(),
        authorization: ['Bearer history-token'],
      });
    });

    it.each(['a', '-_.Z9', 'a'.repeat(128)])('keep the X-Request-Id %j', async (id) => {
      const { head } = await rawAnswer(gateway.port, 'GET /streams/x', [
        KEY,
        `X-Request-Id: ${id}`,
      ]);
      expect(/^x-request-id: (.*)$/im.exec(head)?.[1]).toBe(id);
      expect(upstream.seen[0]?.headers['x-request-id']).toBe(id);
    });

    it.each(['bad id', 'a'.repeat(129), '', 'a,b', 'é', '<script>', 'twice\r\nX-Request-Id: b'])(
      'replace the X-Request-Id %j, upstream and in the answer alike',
      async (id) => {
        const headers = [KEY, `X-Request-Id: ${id}`];
        const { head } = await rawAnswer(gateway.port, 'GET /streams/x', headers);
        const given = /^x-request-id: (.*)$/im.exec(head)?.[1];
        expect(given).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
        expect(upstream.seen[0]?.headers['x-request-id']).toBe(given);
      },
    );
  });

  /** The headers of the gateway's answer, in the order of their names, for those of the upstream's. */
  async function answered(
    headers: string[],
    {
      path = '/streams/x',
      method = 'GET',
      of = gateway,
      status = 200,
      request = [] as string[],
    } = {},
  ): Promise<Header[]> {
    answerHeaders = headers;
    answerStatus = status;
    const { head } = await rawAnswer(of.port, `${method} ${path}`, [KEY, ...request]);
    return (
      head
        .split('\r\n')
        .slice(1)
        .map((line): Header => {
          const colon = line.indexOf(': ');
          return [line.slice(0, colon), line.slice(colon + 2)];
        })
        .filter(([name]) => !BY_THE_WAY.has(name.toLowerCase()))
        // The gateway's own CORS has a suite of its own; nothing of it is on the registry.
        .filter(([name]) => path.startsWith('/registry/') || !name.startsWith('Access-Control-'))
        .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    );
  }

  describe('toward the client', () => {
    it('are those of the upstream, without what is its own and what concerns one hop only', async () => {
      const headers = await answered(
        [
          ['Server', 'upstream/1', 'X-Powered-By', 'Express', 'Set-Cookie', 'a=1'],
          ['Set-Cookie2', 'a=1', 'electric-server', 'ElectricSQL/1.4', 'Surrogate-Control', 'x'],
          // A server in front of the gateway would send its own files, or another address, for the answer.
          ['X-Accel-Redirect', '/private/x', 'x-accel-buffering', 'yes', 'X-Accel-Whatever', 'x'],
          ['X-Sendfile', '/etc/passwd', 'x-litespeed-location', '/x', 'X-LiteSpeed-Cache', 'x'],
          ['Access-Control-Allow-Origin', '*', 'access-control-allow-credentials', 'true'],
          ['Access-Control-Expose-Headers', 'x', 'Access-Control-Whatever', 'x'],
          ['Connection', 'keep-alive, X-Nominated', 'X-Nominated', '1'],
          ['Keep-Alive', 'timeout=99', 'Proxy-Connection', 'x', 'TE', 'x'],
          ['Upgrade', 'h2c', 'Proxy-Authenticate', 'Basic', 'Proxy-Authorization', 'x'],
          ['X-Request-Id', 'of-the-upstream', 'ETag', '"e"', 'Stream-Next-Offset', '0_1'],
          ['X-Custom', 'a', 'X-Other', 'c', 'x-custom', 'b', 'X-Bytes', '\xe9'],
          ['WWW-Authenticate', 'Basic', 'constructor', 'c', '__proto__', 'p'],
          ['Content-Disposition', 'attachment; filename="\xe9"'],
        ].flat(),
        { path: '/registry/x', request: ['Origin: https://app.example'] },
      );
      expect(headers).toEqual([
        ['Cache-Control', 'no-store'],
        ['Content-Disposition', 'attachment; filename="\xe9"'],
        ['ETag', '"e"'],
        ['Stream-Next-Offset', '0_1'],
        ['WWW-Authenticate', 'Basic'],
        ['X-Bytes', '\xe9'],
        ['X-Custom', 'a'],
        ['X-Other', 'c'],
        ['__proto__', 'p'],
        ['constructor', 'c'],
        ['x-custom', 'b'],
      ]);
    });

    // Electric has put the URL that it was asked for into headers, and the gateway's secret stands there.
    it.each(['/streams/x', '/shapes/v1/shape', '/registry/x'])(
      'never hold the sync secret, on %s',
      async (path) => {
        const encoded = SECRET.replace(/./g, (char) => `%${char.charCodeAt(0).toString(16)}`);
        const headers = await answered(
          [
            ['X-Plain', SECRET, 'X-Within', `a ${SECRET}, b`, 'X-Encoded', encoded],
            ['Link', `<${upstream.url}/v1/shape?secret=${SECRET}&a=1>; rel="next"`],
            ['Content-Location', `/v1/shape?a=1&secret=${encoded}`],
            ['Location', `/v1/stream/${SECRET}`, 'Location', `https://cdn.example/#${encoded}`],
            ['Cache-Control', `max-age=1, x="${SECRET}"`, 'Vary', SECRET, 'X-Other', 'kept'],
          ].flat(),
          { path, status: 307 },
        );
        expect(headers.filter(([name]) => name !== 'Vary' && name !== 'Cache-Control')).toEqual([
          ['X-Other', 'kept'],
        ]);
        expect(JSON.stringify(headers)).not.toMatch(new RegExp(`${SECRET}|${encoded}`));
      },
    );

    it("give the request id once, and the gateway's own", async () => {
      answerHeaders = ['X-Request-Id', 'of-the-upstream'];
      const { head } = await rawAnswer(gateway.port, 'GET /streams/x', [KEY, 'X-Request-Id: mine']);
      expect(head.match(/^x-request-id: .*$/gim)).toEqual(['X-Request-Id: mine']);
    });

    it('keep nginx from collecting the events of an event stream', async () => {
      const headers = await answered(['Content-Type', 'text/event-stream; charset=utf-8'], {
        path: '/registry/x',
      });
      expect(headers).toEqual([
        ['Cache-Control', 'no-store'],
        ['Content-Type', 'text/event-stream; charset=utf-8'],
        ['X-Accel-Buffering', 'no'],
      ]);
    });

    describe('about caching', () => {
      it.each([
        [undefined, 'private'],
        [
          'public, max-age=604800, s-maxage=3600, stale-while-revalidate=2629746',
          'private, max-age=604800, stale-while-revalidate=2629746',
        ],
        ['public, max-age=60, must-revalidate', 'private, max-age=60, must-revalidate'],
        ['no-store', 'no-store'],
        ['no-cache', 'private, no-cache'],
        ['max-age=60', 'private, max-age=60'],
        ['PUBLIC, S-MaxAge=1', 'private'],
        ['private="x-a, x-b", max-age=1', 'private, max-age=1'],
        ['public, no-store', 'private, no-store'],
        ['', 'private'],
      ])('make Cache-Control %j of a read %j', async (from, to) => {
        const headers = from === undefined ? [] : ['Cache-Control', from];
        for (const options of [{}, { path: '/shapes/v1/shape', status: 409 }]) {
          expect(await answered(headers, options)).toEqual([
            ['Cache-Control', to],
            ['Vary', 'Authorization'],
          ]);
        }
      });

      it.each([
        [['Vary', 'Accept-Encoding'], 'private', 'Accept-Encoding, Authorization'],
        [['Vary', '*'], 'private', '*'],
        [
          ['cache-control', 'public', 'Cache-Control', 's-maxage=1, max-age=2', 'Vary', 'Accept'],
          'private, max-age=2',
          'Accept, Authorization',
        ],
        [['Vary', 'Accept', 'Vary', 'authorization'], 'private', 'Accept, authorization'],
        // They speak to shared caches only.
        [['CDN-Cache-Control', 'public', 'Surrogate-Control', 'x'], 'private', 'Authorization'],
      ])('make of the lines %j one Cache-Control %j and one Vary %j', async (headers, to, vary) => {
        expect(await answered(headers)).toEqual([
          ['Cache-Control', to],
          ['Vary', vary],
        ]);
      });

      it('vary by Origin where origins are pinned, in one line', async () => {
        // Seen: CORS had set a Vary of its own, and both were sent.
        const headers = await answered(['Vary', 'Accept'], {
          of: pinned,
          request: ['Origin: https://other.example'],
        });
        expect(headers.filter(([name]) => name === 'Vary')).toEqual([
          ['Vary', 'Accept, Authorization, Origin'],
        ]);
      });

      // A cache with a default lifetime answered GET /registry/deployments to anybody, from the answer
      // to somebody with an API key.
      it('forbid to store an answer of the registry that says nothing of it', async () => {
        expect(await answered([], { path: '/registry/deployments' })).toEqual([
          ['Cache-Control', 'no-store'],
        ]);
      });

      it('pass as they are on the registry', async () => {
        const headers = ['Cache-Control', 'public, max-age=5', 'Vary', 'Accept'];
        expect(await answered(headers, { path: '/registry/deployments' })).toEqual(pairs(headers));
      });
    });

    describe('with a Location', () => {
      const locationOf = (headers: Header[]) =>
        headers.filter(([name]) => name.toLowerCase() === 'location').map(([, value]) => value);
      const at = async (location: string, options: Parameters<typeof answered>[1] = {}) =>
        locationOf(
          await answered(['Location', location.replace('{origin}', upstream.url)], {
            status: 201,
            method: 'PUT',
            ...options,
          }),
        );

      it.each([
        ['{origin}/v1/stream/t/x', '/streams/t/x'],
        ['{origin}/v1/stream/t/x?a=1&secret=s#f', '/streams/t/x?a=1&secret=s#f'],
        ['/v1/stream/y', '/streams/y'],
        ['y', '/streams/a/y'],
        ['../y', '/streams/y'],
        ['?offset=1', '/streams/a/x?offset=1'],
        ['//HOST/v1/stream/y', '/streams/y'],
      ])('map %s, which is below the base, to the same place on the gateway', async (from, to) => {
        const host = `127.0.0.1:${upstream.port}`;
        expect(await at(from.replace('HOST', host), { path: '/streams/a/x?q' })).toEqual([to]);
      });

      it.each([
        '/admin',
        '/v1/streamer/x',
        '/v1/stream/../../admin',
        '/v1/stream/%2e%2e/admin',
        '/v1/stream',
        '/',
        '{origin}',
        'http://[broken',
      ])('drop %s, which is not', async (from) => {
        expect(await at(from)).toEqual([]);
      });

      it.each(['https://other.example/v1/stream/y?secret=1', 'mailto:a@b.example'])(
        'leave %s, on another origin, as it is',
        async (location) => {
          expect(await at(location)).toEqual([location]);
        },
      );

      it('do not follow it', async () => {
        expect(await at('/v1/stream/y', { status: 307, method: 'GET' })).toEqual(['/streams/y']);
        expect(upstream.seen).toHaveLength(1);
      });

      it('resolve the relative one of the admin API', async () => {
        const options = { path: '/registry/deployments', method: 'POST' };
        expect(await at('deployments/dp_1', options)).toEqual(['/registry/deployments/dp_1']);
      });

      it.each([
        [`/v1/shape?a=1&secret=${SECRET}&b=2`, '/shapes/v1/shape?a=1&b=2'],
        [`?api_secret=x&%73ecret=${SECRET}`, '/shapes/v1/shape'],
        [`https://cdn.example/s?secret=${SECRET}&b=2`, 'https://cdn.example/s?b=2'],
      ])('take the sync secret out of %s', async (from, to) => {
        const options = { path: '/shapes/v1/shape?table=entities', status: 302, method: 'GET' };
        expect(await at(from, options)).toEqual([to]);
        expect(upstream.seen[0]?.target).toContain(`secret=${SECRET}`);
      });

      it('build it on GATEWAY_PUBLIC_URL where that is set, whatever the Host', async () => {
        expect(await at('/v1/stream/y', { of: pinned })).toEqual([
          'https://gw.example/agents/streams/y',
        ]);
      });

      // Behind TLS it said http://, and it named whatever host a client had sent.
      it.each(['gateway.test', 'evil.example', '[::1]:8787', 'user@x', '<x>', ''])(
        'make it relative without that setting, whatever the Host: %j',
        async (host) => {
          answerHeaders = ['Location', `${upstream.url}/v1/stream/y?a=1&b=%2F`];
          answerStatus = 201;
          const headers = [
            'Connection: close',
            KEY,
            'X-Forwarded-Host: evil',
            'Forwarded: host=evil',
          ];
          const request = [`PUT /streams/x HTTP/1.1`, `Host: ${host}`, ...headers, '', ''];
          const { head } = parseRaw(await sendRaw(gateway.port, request.join('\r\n')));
          expect(/^Location: (.*)$/m.exec(head)?.[1]).toBe('/streams/y?a=1&b=%2F');
        },
      );
    });
  });

  describe('Stream-Forked-From', () => {
    const fork = (source: string, path = '/streams/new') =>
      fetch(gateway.url + path, {
        method: 'PUT',
        headers: { ...AUTHORIZED, 'stream-forked-from': source, 'x-request-id': 'r-1' },
      });

    it.each([
      ['/streams/t/x', '/v1/stream/t/x'],
      ['/streams/a%2eb', '/v1/stream/a%2eb'],
      ['/v1/stream/t/x', '/v1/stream/t/x'],
      ['/streamsx/y', '/streamsx/y'],
      ['t/x', 't/x'],
    ])('maps %s to %s', async (from, to) => {
      expect((await fork(from)).status).toBe(200);
      expect(upstream.seen[0]?.headers['stream-forked-from']).toBe(to);
    });

    it.each([
      '/streams/t/../x',
      '/streams/%2e%2e/x',
      '/streams/a%2fb',
      'http://x/y',
      '/streams/a\\b',
    ])('is refused as a path when it is %s', async (source) => {
      const answer = await fork(source);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ code: 'malformed_path', requestId: 'r-1' });
      expect(upstream.seen).toEqual([]);
    });

    it('means nothing to the registry', async () => {
      expect((await fork('/streams/../x', '/registry/x')).status).toBe(200);
      expect(upstream.seen[0]?.headers['stream-forked-from']).toBe('/streams/../x');
    });
  });
});
