import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { askKey } from './ask-key.ts';
import { API_KEY, problem, startFixture } from './console-fixture.ts';
import type { ConsoleFixture } from './console-fixture.ts';

const CROSS_SITE = problem(403, 'cross_site', 'Only the page of this console may do this.');
const OWN = { 'sec-fetch-site': 'same-origin' };
const SHAPE = '/shapes/v1/shape?table=entities&offset=-1';

/** The console with a key alone, as `npm run console -- --gateway URL` starts it. */
describe('a console that cannot mint tokens', () => {
  let fixture: ConsoleFixture;
  beforeEach(async () => {
    fixture = await startFixture({ mintsTokens: false });
  });
  afterEach(() => fixture.stop());

  it.each([SHAPE, '/streams/t/acme/agents/echo/e1/timeline?offset=-1&live=sse'])(
    'reads %s for its page with the key',
    async (path) => {
      fixture.gatewayAnswer = { status: 200, contentType: 'application/json', body: [1] };

      const answer = await fixture.ask('GET', path, OWN);

      expect([answer.status, answer.text]).toEqual([200, '[1]']);
      expect(fixture.received).toMatchObject([
        { method: 'GET', url: path, headers: { authorization: `Bearer ${API_KEY}` } },
      ]);
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    },
  );

  it.each([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of another port of this machine', { 'sec-fetch-site': 'same-site' }],
    ['that a user typed', { 'sec-fetch-site': 'none' }],
    ['of a program that is no browser', {}],
  ])('reads nothing for a request %s', async (_, headers) => {
    expect(await fixture.ask('GET', SHAPE, headers)).toMatchObject(CROSS_SITE);
    expect(await fixture.ask('GET', '/registry/deployments', headers)).toMatchObject(CROSS_SITE);
    expect(fixture.received).toEqual([]);
  });

  it('reads nothing under a name that a page elsewhere has pointed here', async () => {
    const headers = { ...OWN, host: `evil.example:${fixture.port}` };

    expect(await fixture.ask('GET', SHAPE, headers)).toMatchObject(
      problem(421, 'wrong_host', 'Open the console at the address that it printed.'),
    );
    expect(fixture.received).toEqual([]);
  });

  it.each(['/token', '/streams/t/acme/others/x', '/streams/__ds/x', '/shapes/v1/shape2'])(
    'has no %s',
    async (path) => {
      expect(await fixture.ask('GET', path, OWN)).toMatchObject(
        problem(404, 'not_found', 'There is nothing at this path.'),
      );
    },
  );

  it('lets its page talk to the console only, by its names for pages too', async () => {
    const { headers } = await fixture.ask('GET', '/');

    expect(headers['content-security-policy']).toContain(
      `connect-src 'self' http://*.localhost:${fixture.port};`,
    );
  });
});

describe('a name of such a console for one page', () => {
  let fixture: ConsoleFixture;
  let host: string;
  beforeEach(async () => {
    fixture = await startFixture({ mintsTokens: false });
    const { pageUrl } = JSON.parse((await fixture.ask('GET', '/settings.json')).text) as {
      pageUrl: string;
    };
    ({ host } = new URL(pageUrl));
  });
  afterEach(() => fixture.stop());

  it('reads for the page of this console', async () => {
    fixture.gatewayAnswer = { status: 200, contentType: 'application/json', body: [1] };

    const answer = await fixture.ask('GET', SHAPE, { host, origin: fixture.url });

    expect([answer.status, answer.text]).toEqual([200, '[1]']);
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': fixture.url,
      'access-control-expose-headers': '*',
      vary: 'origin',
    });
  });

  it.each([
    ['of another site', { origin: 'https://evil.example' }],
    ['of another port of this machine', { origin: 'http://127.0.0.1:2' }],
    ['of a sandboxed page', { origin: 'null' }],
    ['without an origin', {}],
    ['without an origin that a browser calls its own', OWN],
  ])('reads nothing for a request %s', async (_, headers) => {
    const answer = await fixture.ask('GET', SHAPE, { host, ...headers });

    expect(answer).toMatchObject(CROSS_SITE);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect(fixture.received).toEqual([]);
  });

  it.each([
    ['GET', '/'],
    ['GET', '/page/app.ts'],
    ['GET', '/settings.json'],
    ['GET', '/registry/deployments'],
    ['POST', '/api/spawn'],
    ['OPTIONS', SHAPE],
  ])('has no %s %s', async (method, path) => {
    const headers = { ...fixture.ownHeaders(), host };

    expect(await fixture.ask(method, path, headers)).toMatchObject(
      problem(404, 'not_found', 'There is nothing at this path.'),
    );
    expect(fixture.received).toEqual([]);
  });

  it.each(['localhost', 'evil.localhost', 'p-12345678.localhost.evil.example'])(
    'is no name like %s',
    async (name) => {
      const headers = { host: `${name}:${fixture.port}`, origin: fixture.url };

      expect((await fixture.ask('GET', SHAPE, headers)).status).toBeGreaterThanOrEqual(403);
      expect(fixture.received).toEqual([]);
    },
  );
});

describe('the question for the key', () => {
  it('shows nothing of what is typed on a terminal, and takes corrections', async () => {
    const steps: string[] = [];
    const terminal = Object.assign(new PassThrough(), {
      isTTY: true,
      setRawMode: (isRaw: boolean) => steps.push(isRaw ? 'hides' : 'shows'),
    });
    const key = askKey('Key: ', terminal, (text) => steps.push(text));
    terminal.write('secre');
    terminal.write('x\u007ft\r');

    expect(await key).toBe('secret');
    // It asked before it hid. A key that was pasted at once stood on the terminal.
    expect(steps).toEqual(['hides', 'Key: ', 'shows', '\n']);
  });

  it('takes the first line of a pipe', async () => {
    const pipe = new PassThrough();
    pipe.end('secret\nmore\n');

    expect(await askKey('Key: ', pipe, () => undefined)).toBe('secret');
  });
});
