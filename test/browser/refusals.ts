import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import type { Checks } from '../support/checks.ts';
import { API_KEY, READ_TOKEN_SECRET } from '../support/credentials.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { openPage, type TestPage } from './open-page.ts';
import type { ProbeInit } from './page-script.ts';
import type { Timeline, World } from './world.ts';

/** Longer than all these checks take on any machine. */
const TTL_SECONDS = 3_600;
const FAILED = { failed: 'TypeError' };

/** Checks what page script must not read, and the errors that it must be able to distinguish. */
export async function checkRefusals(checks: Checks, browser: Browser, world: World): Promise<void> {
  const page = await openPage(browser, world.pages.origin);
  const timeline = await world.newTimeline(2);
  const token = await mintReadToken(READ_TOKEN_SECRET, {
    prefix: timeline.prefix,
    ttlSeconds: TTL_SECONDS,
  });
  await checkErrors(checks, page, world, timeline);
  await checkWrites(checks, page, world, timeline, token);
  await checkCommands(checks, page, world, token);
  await page.close();
  await checkForeignPages(checks, browser, world, timeline, token);
}

async function checkErrors(checks: Checks, page: TestPage, world: World, timeline: Timeline) {
  const { prefix, url } = timeline;
  const shape = `${world.gatewayUrl}/shapes/v1/shape`;
  const mint = async (covered: string, ttlSeconds = TTL_SECONDS) =>
    bearer(await mintReadToken(READ_TOKEN_SECRET, { prefix: covered, ttlSeconds }));
  const good = await mint(prefix);
  const stale = '?table=entities&offset=7_0&handle=unknown';
  const cases: [string, number, string | undefined, string, ProbeInit][] = [
    ['no credential', 401, 'missing_credentials', url, {}],
    ['an unknown one', 401, 'invalid_credentials', url, bearer('nonsense')],
    ['an expired token', 401, 'token_expired', url, await mint(prefix, -5)],
    ['a token for elsewhere', 403, 'prefix_not_covered', url, await mint('/streams/other')],
    ['a malformed path', 400, 'malformed_path', `${url}//x`, good],
    ['a long head', 431, 'head_too_large', `${url}?x=${'x'.repeat(33_000)}`, good],
    ['a stream that is not there', 404, undefined, `${url}-none`, await mint('/streams')],
    ['a stale shape', 409, undefined, `${shape}${stale}`, await mint('/shapes')],
  ];
  for (const [what, status, code, target, init] of cases) {
    await checks.check(`page script sees ${what} as ${status} ${code ?? ''}`.trim(), async () => {
      const answer = await answerOf(page, target, init);
      assert.equal(answer.status, status);
      assert.equal(answer.type, 'cors');
      assert.match(answer.headers['x-request-id'] ?? '', /^[\w.-]+$/);
      if (code !== undefined)
        assert.equal((JSON.parse(answer.body) as { code: string }).code, code);
      if (status === 401) assert.match(answer.headers['www-authenticate'] ?? '', /^Bearer/);
    });
  }
  await checks.check('page script sees an upstream that is gone as 502', async () => {
    world.historyProxy.refuse();
    const answer = await answerOf(page, url, good);
    world.historyProxy.restore();
    assert.deepEqual(
      [answer.status, (JSON.parse(answer.body) as { code: string }).code],
      [502, 'upstream_unreachable'],
    );
  });
  await checks.check('page script can read the offset and the ETag, and gets a 304', async () => {
    const first = await answerOf(page, `${url}?offset=-1`, good);
    assert.match(first.headers['stream-next-offset'] ?? '', /./);
    const etag = first.headers['etag'] ?? '';
    assert.match(etag, /./);
    const headers = { ...good.headers, 'If-None-Match': etag };
    const second = await answerOf(page, `${url}?offset=-1`, { headers, cache: 'no-store' });
    assert.equal(second.status, 304);
  });
  await checks.check('cookies and other ambient credentials are never let in', async () => {
    assert.deepEqual(await page.probe(url, { ...good, credentials: 'include' }), FAILED);
  });
}

async function checkWrites(
  checks: Checks,
  page: TestPage,
  world: World,
  { url, writer }: Timeline,
  token: string,
) {
  const credentials: [string, ProbeInit][] = [
    ['no credential', {}],
    ['a read token', bearer(token)],
    ['an API key', bearer(API_KEY)],
  ];
  for (const [whose, init] of credentials) {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      await checks.check(`${method} to /streams with ${whose} fails`, async () => {
        const body = method === 'DELETE' ? undefined : '[{"seq":99}]';
        assert.deepEqual(await page.probe(url, { ...init, method, body }), FAILED);
        // What a page may send without asking first is answered to nobody, and changes nothing.
        await page.probe(url, { ...init, method, body, mode: 'no-cors' });
      });
    }
  }
  await checks.check(
    'and the timeline is as it was, which the same POST from a server changes',
    async () => {
      const init = bearer(API_KEY);
      const before = (await (await fetch(url, init)).json()) as { seq: number }[];
      assert.deepEqual(
        before.map(({ seq }) => seq),
        [0, 1],
      );
      const headers = { ...init.headers, 'content-type': 'application/json' };
      const response = await fetch(url, { method: 'POST', headers, body: '[{"seq":2}]' });
      assert.equal(response.status, 204);
      assert.equal(writer.count, 2);
    },
  );
}

async function checkCommands(checks: Checks, page: TestPage, world: World, token: string) {
  const targets: [string, string, string | undefined][] = [
    ['POST', '/api/spawn', '{"type":"chat"}'],
    ['POST', '/api/a/chat/a1/send', '{}'],
    ['POST', '/api/a/chat/a1/control', '{"verb":"pause"}'],
    ['GET', '/registry/deployments', undefined],
    ['POST', '/registry/deployments', '{"uri":"http://evil.example"}'],
    ['DELETE', '/registry/deployments/dp_1', undefined],
    ['GET', '/health', undefined],
  ];
  for (const [method, path, body] of targets) {
    await checks.check(`${method} ${path} fails with any credential`, async () => {
      for (const init of [{}, bearer(token), bearer(API_KEY)]) {
        const answer = await page.probe(`${world.gatewayUrl}${path}`, { ...init, method, body });
        assert.deepEqual(answer, FAILED);
      }
    });
  }
  await checks.check(
    'and nothing of it reached the runtime, which the same from a server does',
    async () => {
      assert.deepEqual(world.runtime.seen, []);
      const init = { ...bearer(API_KEY), method: 'POST', body: '{"type":"chat","id":"a1"}' };
      const response = await fetch(`${world.gatewayUrl}/api/spawn`, init);
      assert.equal(response.status, 202);
      assert.equal(world.runtime.seen.length, 1);
    },
  );
}

async function checkForeignPages(
  checks: Checks,
  browser: Browser,
  world: World,
  { url }: Timeline,
  token: string,
) {
  const foreign = await openPage(browser, world.pages.foreignOrigin);
  for (const query of ['?offset=-1', '?offset=-1&live=sse']) {
    await checks.check(`a page of an origin that is not pinned cannot read ${query}`, async () => {
      assert.deepEqual(await foreign.probe(`${url}${query}`, bearer(token)), FAILED);
      assert.deepEqual(await foreign.probe(`${url}${query}`), FAILED);
    });
  }
  await foreign.close();
}

/** The answer that page script gets. */
async function answerOf(page: TestPage, url: string, init: ProbeInit) {
  const answer = await page.probe(url, init);
  assert.ok('status' in answer, JSON.stringify(answer));
  return answer;
}

function bearer(credential: string): ProbeInit & { headers: Record<string, string> } {
  return { headers: { Authorization: `Bearer ${credential}` } };
}
