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

  it('lets its page talk to the console only', async () => {
    const { headers } = await fixture.ask('GET', '/');

    expect(headers['content-security-policy']).toContain(`connect-src 'self';`);
  });
});

describe('the question for the key', () => {
  it('shows nothing of what is typed on a terminal, and takes corrections', async () => {
    const said: string[] = [];
    const modes: boolean[] = [];
    const terminal = Object.assign(new PassThrough(), {
      isTTY: true,
      setRawMode: (isRaw: boolean) => modes.push(isRaw),
    });
    const key = askKey('Key: ', terminal, (text) => said.push(text));
    terminal.write('secre');
    terminal.write('x\u007ft\r');

    expect(await key).toBe('secret');
    expect(said).toEqual(['Key: ', '\n']);
    expect(modes).toEqual([true, false]);
  });

  it('takes the first line of a pipe', async () => {
    const pipe = new PassThrough();
    pipe.end('secret\nmore\n');

    expect(await askKey('Key: ', pipe, () => undefined)).toBe('secret');
  });
});
