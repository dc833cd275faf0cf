import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { OutgoingHttpHeaders } from 'node:http';
import { API_KEY, problem, SECRET, SPAWN, startFixture } from './console-fixture.ts';
import type { Answer, ConsoleFixture } from './console-fixture.ts';
import { pageUrlOf } from './page-names.ts';

let fixture: ConsoleFixture;
beforeEach(async () => {
  fixture = await startFixture();
});
afterEach(() => fixture.stop());

describe('a POST to the console', () => {
  const CROSS_SITE = problem(403, 'cross_site', 'Only the page of this console may do this.');
  const NOT_JSON = problem(415, 'json_required', 'Send the body as application/json.');
  const FOREIGN: [string, OutgoingHttpHeaders, Partial<Answer>][] = [
    ['without an origin', { origin: undefined }, CROSS_SITE],
    ['of another origin', { origin: 'https://evil.example' }, CROSS_SITE],
    ['of a sandboxed page', { origin: 'null' }, CROSS_SITE],
    ['of another port of this machine', { origin: 'http://127.0.0.1:2' }, CROSS_SITE],
    ['that a browser calls cross-site', { 'sec-fetch-site': 'cross-site' }, CROSS_SITE],
    ['that a browser calls same-site', { 'sec-fetch-site': 'same-site' }, CROSS_SITE],
    ['that a user typed', { 'sec-fetch-site': 'none' }, CROSS_SITE],
    ['of a form', { 'content-type': 'text/plain' }, NOT_JSON],
    ['that looks like JSON', { 'content-type': 'text/plain;application/json' }, NOT_JSON],
    ['without a type', { 'content-type': undefined }, NOT_JSON],
  ];

  it.each(FOREIGN)('%s gets no token and sends no command', async (_, headers, refused) => {
    const changed = Object.fromEntries(
      Object.entries({ ...fixture.ownHeaders(), ...headers }).filter(
        ([, value]) => value !== undefined,
      ),
    );
    const prefix = JSON.stringify({ prefix: '/shapes/v1/shape' });

    expect(await fixture.ask('POST', '/token', changed, prefix)).toMatchObject(refused);
    expect(await fixture.ask('POST', '/api/spawn', changed, SPAWN)).toMatchObject(refused);
    expect(fixture.received).toEqual([]);
  });

  it('is refused under a name that a page elsewhere has pointed here, and so is the page', async () => {
    const wrongHost = problem(
      421,
      'wrong_host',
      'Open the console at the address that it printed.',
    );
    const host = `evil.example:${fixture.port}`;
    const headers = { host, origin: `http://${host}` };

    expect(await fixture.post('/api/spawn', SPAWN, headers)).toMatchObject(wrongHost);
    expect(await fixture.ask('GET', '/', { host })).toMatchObject(wrongHost);
    expect(fixture.received).toEqual([]);
  });

  it('is taken under the name localhost as well', async () => {
    const host = `localhost:${fixture.port}`;

    const answer = await fixture.post('/api/spawn', SPAWN, { host, origin: `http://${host}` });

    expect(answer.status).toBe(202);
  });
});

describe('the page', () => {
  it.each([
    ['/', 'text/html; charset=utf-8'],
    ['/page/app.ts', 'text/javascript; charset=utf-8'],
    ['/style.css', 'text/css; charset=utf-8'],
    ['/icon.svg', 'image/svg+xml'],
    ['/modules/durable-streams.js', 'text/javascript; charset=utf-8'],
    ['/modules/electric/index.mjs', 'text/javascript; charset=utf-8'],
    ['/settings.json', 'application/json'],
  ])('has %s, which may run our own code and talk to the gateway only', async (path, type) => {
    const { status, headers } = await fixture.ask('GET', path);
    const { port: gatewayPort } = new URL(fixture.gatewayUrl);

    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type });
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; ` +
        `connect-src 'self' ${fixture.gatewayUrl} http://*.localhost:${gatewayPort}; base-uri 'none'; form-action 'none'; ` +
        `frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
    );
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it('imports nothing that the console does not serve', async () => {
    const pending = ['/page/app.ts'];
    const loaded = new Set<string>();
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      if (loaded.has(path)) continue;
      loaded.add(path);
      const { status, text } = await fixture.ask('GET', path);
      expect([path, status]).toEqual([path, 200]);
      for (const [, early, late] of text.matchAll(
        /\bfrom ["'](.+?)["']|\bimport\(["'](.+?)["']\)/g,
      )) {
        const name = early ?? late ?? '';
        pending.push(new URL(name, new URL(path, fixture.url)).pathname);
      }
    }
    expect([...loaded]).toEqual(
      expect.arrayContaining(['/modules/durable-streams.js', '/modules/electric/index.mjs']),
    );
  });

  it.each([
    '/main.ts',
    '/../main.ts',
    '/..%2fmain.ts',
    '/packages/electric/..%2fpackage.json',
    '/x.js',
    '/packages/client/src/tokens.spec.ts',
    '/packages/client/src/agent/..%2fgateway.ts',
    '/page/..%2fconsole-server.ts',
  ])('has no %s', async (path) => {
    expect(await fixture.ask('GET', path)).toMatchObject(
      problem(404, 'not_found', 'There is nothing at this path.'),
    );
  });

  it.each([
    ['GET', '/token', 'POST'],
    ['PUT', '/registry/deployments', 'GET, POST'],
    ['OPTIONS', '/api/spawn', 'POST'],
    ['POST', '/', 'GET, HEAD'],
  ])('answers %s %s with what it takes', async (method, path, allow) => {
    const answer = await fixture.ask(method, path, fixture.ownHeaders());

    expect(answer).toMatchObject(problem(405, 'method_not_allowed', `Use ${allow}.`));
    expect(answer.headers.allow).toBe(allow);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });
});

it('gives each page a name of the gateway that no other page has, and answers under none itself', async () => {
  const settings = await Promise.all(
    [1, 2].map(async () => {
      const { text } = await fixture.ask('GET', '/settings.json');
      return JSON.parse(text) as { gatewayUrl: string; pageUrl: string };
    }),
  );
  const names = settings.map(({ pageUrl }) => pageUrl);
  const { port: gatewayPort } = new URL(fixture.gatewayUrl);
  const form = new RegExp(`^http://p-[0-9a-f]{8}\\.localhost:${gatewayPort}$`);

  expect(names).toEqual([expect.stringMatching(form), expect.stringMatching(form)]);
  expect(new Set(names).size).toBe(2);
  const { hostname } = new URL(names[0] ?? '');
  const headers = { host: `${hostname}:${fixture.port}`, origin: fixture.url };
  expect((await fixture.ask('GET', '/health', headers)).status).toBe(421);
});

it.each(['https://gateway.example', 'http://192.168.1.2:8787', 'https://127.0.0.1:8787'])(
  'has no such names for %s',
  (url) => {
    expect(pageUrlOf(url)).toBeUndefined();
  },
);

it('never gives away the API key or the secret', async () => {
  const prefix = JSON.stringify({ prefix: '/shapes/v1/shape' });
  const answers = [
    await fixture.ask('GET', '/'),
    await fixture.ask('GET', '/settings.json'),
    await fixture.post('/token', prefix),
    await fixture.post('/token', '{"prefix": "/api"}'),
    await fixture.post('/token', 'no JSON'),
    await fixture.post('/api/spawn', SPAWN),
  ];
  fixture.gatewayAnswer = {
    status: 401,
    contentType: 'application/problem+json',
    body: { status: 401 },
  };
  answers.push(await fixture.post('/api/spawn', SPAWN));
  await fixture.closeGateway();
  answers.push(await fixture.post('/api/spawn', SPAWN));

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 403, 400, 202, 401, 502]);
  const all = JSON.stringify(answers);
  expect(all).toContain('ttlSeconds');
  expect(all).not.toContain(API_KEY);
  expect(all).not.toContain(SECRET);
});
