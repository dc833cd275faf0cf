import { beforeAll, describe, expect, it } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterThisTest } from '../support/for-this-test.ts';
import { until } from '../support/until.ts';
import { AUTHORIZED, READ_TOKEN_SECRET, type TestGateway } from '../support/gateway.ts';
import { rawAnswer } from '../support/raw-client.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { scriptedUpstream, testGateway } from '../support/scripted-gateway.ts';

const PAGE = 'https://app.example';
const PINNED = [PAGE, 'http://localhost:5173', 'capacitor://localhost'];

/** CORS headers of real and of careless upstreams. Each of them would allow more than the gateway does. */
const UPSTREAM_CORS = {
  'access-control-allow-origin': 'https://evil.example',
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': '*',
  'access-control-allow-methods': 'GET, POST, PUT, DELETE',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
  'Access-Control-Allow-Private-Network': 'true',
};

const EXPOSED =
  'ETag, Stream-Next-Offset, Stream-Cursor, Stream-Up-To-Date, Stream-Closed, ' +
  'Stream-SSE-Data-Encoding, electric-handle, electric-offset, electric-schema, electric-cursor, ' +
  'electric-up-to-date, electric-has-data, Retry-After, WWW-Authenticate, X-Request-Id';
/** What libraries of a page add to its reads. `baggage` once made every read fail. */
const ASKED =
  'authorization,baggage,cache-control,content-type,pragma,sentry-trace,traceparent,x-requested-with';
const ASKS = 'Access-Control-Request-Headers';

/** Every CORS header of a response, line by line, and `Vary`. */
function corsLines({ status, head }: { status: number; head: string }) {
  const lines = head.split('\r\n').slice(1);
  return {
    status,
    cors: lines.filter((line) => /^access-control-/i.test(line)).sort(),
    vary: lines.filter((line) => /^vary:/i.test(line)).map((line) => line.slice('vary: '.length)),
  };
}

describe('CORS', () => {
  let token: string;

  const upstream = scriptedUpstream((request, response) => {
    const status = Number(/status=(\d+)/.exec(request.url ?? '')?.[1] ?? 200);
    response.writeHead(status, { ...UPSTREAM_CORS, vary: 'origin, accept-encoding' });
    response.end(status === 204 || status === 304 ? undefined : '{}');
  });
  const settings = () => ({
    // A command waits so long for the runtime, which is not there.
    GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '1500',
    GATEWAY_HISTORY_URL: upstream.url,
    GATEWAY_SYNC_URL: upstream.url,
    GATEWAY_RUNTIME_ADMIN_URL: upstream.url,
  });
  const open = testGateway(settings);
  const pinned = testGateway(() => ({
    ...settings(),
    GATEWAY_CORS_ALLOW_ORIGINS: PINNED.join(' , '),
  }));
  beforeAll(async () => {
    const prefix = ['/streams/t', '/shapes/v1/shape'];
    token = await mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds: 60 });
  });

  async function ask({ port }: TestGateway, line: string, ...headers: string[]) {
    return corsLines(await rawAnswer(port, line, headers));
  }

  const authorized = `Authorization: ${AUTHORIZED.authorization}`;
  const from = (origin: string): string => `Origin: ${origin}`;
  const open200 = ['Access-Control-Allow-Origin: *', `Access-Control-Expose-Headers: ${EXPOSED}`];

  describe('on a read', () => {
    it.each([200, 201, 204, 304, 400, 404, 409, 429, 500, 502, 503])(
      'that the upstream answers with %d is given by the gateway alone, each header once',
      async (status) => {
        for (const path of ['/streams/t/x', '/shapes/v1/shape']) {
          const answer = await ask(open, `GET ${path}?status=${status}`, authorized, from(PAGE));
          expect([path, answer.status, answer.cors]).toEqual([path, status, open200]);
        }
      },
    );

    it('with HEAD, and with a cookie, is as with GET', async () => {
      const headers = [authorized, from(PAGE), 'Cookie: session=1'];
      for (const line of ['HEAD /streams/t/x', 'GET /streams/t/x']) {
        const answer = await ask(open, line, ...headers);
        expect(answer).toMatchObject({ status: 200, cors: open200 });
      }
    });

    // A browser's cache could give a page what was asked for without an Origin.
    it('that names no origin is the same, where any origin may read', async () => {
      expect((await ask(open, 'GET /streams/t/x', authorized)).cors).toEqual(open200);
    });
  });

  describe('on an error of the gateway', () => {
    it.each([
      ['400', 'GET /streams/t/../x', () => [authorized], 400],
      ['400 of an encoded path', 'GET /streams/t/%2e%2e/x', () => [], 400],
      ['400 of a body', 'GET /streams/t/x', () => [authorized, 'Content-Length: 1'], 400],
      ['400 of a shape', 'GET /shapes/v1/shape?table=entities&table=x', () => [bearer()], 400],
      ['401 without a credential', 'GET /streams/t/x', () => [], 401],
      ['401 of a bad one', 'GET /shapes/v1/shape', () => ['Authorization: Bearer nonsense'], 401],
      ['403 of a prefix', 'GET /streams/other', () => [bearer()], 403],
      ['403 of a table', 'GET /shapes/v1/shape?table=secrets', () => [bearer()], 403],
    ])('is there: %s', async (_, line, credentials, status) => {
      expect(await ask(open, line, ...credentials(), from(PAGE))).toEqual({
        status,
        cors: open200,
        vary: [],
      });
      expect(await ask(pinned, line, ...credentials(), from(PAGE))).toEqual({
        status,
        cors: [`Access-Control-Allow-Origin: ${PAGE}`, open200[1]],
        vary: ['Origin'],
      });
    });

    const alone = testGateway();
    it.each(['/streams/t/x', '/shapes/v1/shape'])('is there on the 502 of %s', async (path) => {
      const answer = await ask(alone, `GET ${path}`, authorized, from(PAGE));
      expect(answer).toEqual({ status: 502, cors: open200, vary: [] });
    });

    describe('that has to do with the gateway as a whole', () => {
      const silent = scriptedUpstream(() => undefined);
      const full = testGateway(() => ({
        GATEWAY_HISTORY_URL: silent.url,
        GATEWAY_MAX_OPEN_READS: '1',
        GATEWAY_READ_TOKEN_JWKS: '/nonexistent/jwks',
      }));
      async function read(credential = authorized) {
        const answer = await rawAnswer(full.port, 'GET /streams/t/x', [credential, from(PAGE)]);
        const { code } = JSON.parse(answer.body.toString()) as { code: string };
        return { code, ...corsLines(answer) };
      }
      const refusal = { status: 503, cors: open200, vary: [] };

      // Clients wait as long as Retry-After says if they can read it. Otherwise it is a lost network to them.
      it('is there on the 503 overloaded', async () => {
        const parked = new AbortController();
        afterThisTest(() => parked.abort());
        const options = { headers: AUTHORIZED, signal: parked.signal };
        fetch(`${full.url}/streams/t/x`, options).catch(() => undefined);
        await until('the parked read upstream', () => silent.seen.length === 1);
        expect(await read()).toEqual({ code: 'overloaded', ...refusal });
      });

      it('is there on the 503 keys_unavailable', async () => {
        const { privateKey } = generateKeyPairSync('ed25519');
        const token = await new SignJWT({}).setProtectedHeader({ alg: 'EdDSA' }).sign(privateKey);
        const answer = await read(`Authorization: Bearer ${token}`);
        expect(answer).toEqual({ code: 'keys_unavailable', ...refusal });
      });

      it('is there on the 503 draining', async () => {
        const { state } = full.running;
        afterThisTest(() => void (state.phase = 'serving'));
        state.phase = 'refusing';
        expect(await read()).toEqual({ code: 'draining', ...refusal });
      });
    });

    const bearer = (): string => `Authorization: Bearer ${token}`;
  });

  describe('with pinned origins', () => {
    it.each(PINNED)('names %s to that very origin', async (origin) => {
      expect(await ask(pinned, 'GET /streams/t/x', authorized, from(origin))).toEqual({
        status: 200,
        cors: [`Access-Control-Allow-Origin: ${origin}`, open200[1]],
        vary: ['origin, accept-encoding, Authorization'],
      });
    });

    it.each([
      'https://evil.example',
      'http://app.example',
      'https://app.example:8443',
      'https://app.example.evil.example',
      'https://xapp.example',
      'https://APP.example',
      'https://app.example/',
      'capacitor://localhost:80',
      'null',
      '*',
      `${PAGE}, https://evil.example`,
      '',
    ])('gives no header to %j, and varies by Origin all the same', async (origin) => {
      expect(await ask(pinned, 'GET /streams/t/x', authorized, from(origin))).toEqual({
        status: 200,
        cors: [],
        vary: ['origin, accept-encoding, Authorization'],
      });
    });

    it('varies by Origin on every answer of the routes, whoever asks', async () => {
      for (const line of ['GET /streams/t/x', 'GET /shapes/v1/shape', 'POST /streams/t/x']) {
        expect((await ask(pinned, line)).vary).toEqual(['Origin']);
      }
      expect((await ask(pinned, 'OPTIONS /streams/t/x')).vary).toEqual([`Origin, ${ASKS}`]);
    });

    it('gives no header to two Origin headers', async () => {
      const headers = [authorized, from('https://evil.example'), from(PAGE)];
      expect((await ask(pinned, 'GET /streams/t/x', ...headers)).cors).toEqual([]);
    });
  });

  describe('in a preflight', () => {
    const preflight = (method: string): string => `Access-Control-Request-Method: ${method}`;
    const granted = (origin: string, names = ASKED): string[] => [
      `Access-Control-Allow-Headers: ${names}`,
      'Access-Control-Allow-Methods: GET, HEAD',
      `Access-Control-Allow-Origin: ${origin}`,
      'Access-Control-Max-Age: 7200',
    ];

    it.each(['GET', 'HEAD'])(
      'grants %s without a credential and without an upstream',
      async (method) => {
        for (const path of ['/streams/t/x', '/shapes/v1/shape', '/streams/t/../x']) {
          const headers = [
            from(PAGE),
            preflight(method),
            `${ASKS}: ${ASKED}`,
            // Which is not granted.
            'Access-Control-Request-Private-Network: true',
          ];
          expect(await ask(open, `OPTIONS ${path}`, ...headers)).toEqual({
            status: 204,
            cors: granted('*'),
            vary: [ASKS],
          });
          expect(await ask(pinned, `OPTIONS ${path}`, ...headers)).toEqual({
            status: 204,
            cors: granted(PAGE),
            vary: [`Origin, ${ASKS}`],
          });
        }
        expect(upstream.seen).toEqual([]);
      },
    );

    it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'get', 'GET, POST', ''])(
      'grants nothing for %j',
      async (method) => {
        const headers = [authorized, from(PAGE), preflight(method)];
        expect((await ask(open, 'OPTIONS /streams/t/x', ...headers)).cors).toEqual([]);
        expect((await ask(pinned, 'OPTIONS /streams/t/x', ...headers)).cors).toEqual([]);
        expect(upstream.seen).toEqual([]);
      },
    );

    it('grants nothing to an origin that is not pinned', async () => {
      const headers = [from('https://evil.example'), preflight('GET')];
      expect(await ask(pinned, 'OPTIONS /streams/t/x', ...headers)).toEqual({
        status: 204,
        cors: [],
        vary: [`Origin, ${ASKS}`],
      });
    });

    const read = [from(PAGE), preflight('GET')];
    const longest = 'x'.repeat(2_048);

    it.each([
      ['one name', 'x-a', 'x-a'],
      ['names with spaces between', 'X-A ,\tx_b|~', 'X-A ,\tx_b|~'],
      ['names in two lines', `x-a\r\n${ASKS}: x-b`, 'x-a, x-b'],
      ['2 KiB of them', longest, longest],
    ])('allows %s', async (_, asked, names) => {
      const answer = await ask(open, 'OPTIONS /streams/t/x', ...read, `${ASKS}: ${asked}`);
      expect(answer).toEqual({ status: 204, cors: granted('*', names), vary: [ASKS] });
    });

    it.each([
      ['no names', []],
      ['an empty list', [`${ASKS}:`]],
    ])('allows no header to a page that asks for %s', async (_, asked) => {
      const { cors } = await ask(open, 'OPTIONS /streams/t/x', ...read, ...asked);
      expect(cors).toEqual(granted('*').slice(1));
    });

    it.each(['a b', 'x-a,,x-b', 'x-a,', 'x:y', '"x"', 'x-ä', `${longest}x`])(
      'grants nothing for %j, which is no list of names or too long',
      async (asked) => {
        const { status, cors } = await ask(
          open,
          'OPTIONS /streams/t/x',
          ...read,
          `${ASKS}: ${asked}`,
        );
        expect([status, cors]).toEqual([204, []]);
      },
    );
  });

  // A page that cannot read the refusal tries again for ever, as after a lost network.
  describe('on a head over 32 KiB', () => {
    const long = `X-Long: ${'x'.repeat(33_000)}`;
    const query = `?where=${'x'.repeat(33_000)}`;

    it.each([
      ['GET /streams/t/x', [long]],
      [`GET /shapes/v1/shape${query}`, []],
      [`HEAD /shapes/v1/shape${query}`, []],
    ])('is there, whatever is long: %#', async (line, headers) => {
      expect(await ask(open, line, authorized, from(PAGE), ...headers)).toEqual({
        status: 431,
        cors: open200,
        vary: [],
      });
      expect(await ask(pinned, line, authorized, from(PAGE), ...headers)).toEqual({
        status: 431,
        cors: [`Access-Control-Allow-Origin: ${PAGE}`, open200[1]],
        vary: ['Origin'],
      });
      expect(upstream.seen).toEqual([]);
    });

    // No page learns the status of a preflight. With a refusal it would never send the read whose refusal it can read.
    it('is there in its preflight, so that the page sends the read and can read the refusal', async () => {
      const headers = [from(PAGE), 'Access-Control-Request-Method: GET', `${ASKS}: authorization`];
      const answer = await ask(open, `OPTIONS /shapes/v1/shape${query}`, ...headers);
      expect(answer).toMatchObject({
        status: 204,
        cors: expect.arrayContaining(['Access-Control-Allow-Origin: *']),
      });
    });

    it.each(['GET /health', 'GET /registry/deployments', 'POST /streams/t/x', 'POST /api/spawn'])(
      'is not there on %s',
      async (line) => {
        const answer = await ask(open, line, authorized, from(PAGE), long);
        expect(answer).toEqual({ status: 431, cors: [], vary: [] });
      },
    );
  });

  describe('is not there', () => {
    it.each(['POST', 'PUT', 'DELETE', 'PATCH'])('on %s, let in or not', async (method) => {
      for (const credential of [[authorized], []]) {
        const { cors } = await ask(open, `${method} /streams/t/x`, ...credential, from(PAGE));
        expect(cors).toEqual([]);
      }
    });

    it.each([
      ['GET /health', 200],
      ['GET /registry/deployments', 200],
      ['POST /registry/deployments', 200],
      ['POST /api/spawn', 400],
      ['POST /api/a/chat/a1/send', 502],
      ['GET /api/spawn', 404],
      ['GET /', 404],
      ['GET /streamsx/t', 404],
    ])('on %s', async (line, status) => {
      const headers = [authorized, from(PAGE)];
      expect(await ask(open, line, ...headers)).toMatchObject({ status, cors: [] });
      expect(await ask(pinned, line, ...headers)).toMatchObject({
        status,
        cors: [],
        vary: expect.not.arrayContaining(['Origin']),
      });
      const path = line.split(' ')[1] ?? '';
      const asked = 'Access-Control-Request-Method: GET';
      expect((await ask(open, `OPTIONS ${path}`, ...headers, asked)).cors).toEqual([]);
    });
  });
});
