import assert from 'node:assert/strict';
import type { Checks } from '../support/checks.ts';
import type { ScriptedUpstream } from '../support/scripted-upstream.ts';
import { assertClosedToOthers, get, SERVER, tokenFor } from './callers.ts';

const SHAPE = '/shapes/v1/shape?table=entities';

/** Upstreams that allow a cache to store every response. Behind the gateway the cache must store none. */
export async function checkOpenUpstream(
  checks: Checks,
  cacheUrl: string,
  upstream: ScriptedUpstream,
): Promise<void> {
  const reads: [string, string, number][] = [
    ['a catch-up', '/streams/t/default/agents/chat/a1/timeline?offset=-1', 200],
    ['a long-poll', '/streams/t/default/agents/chat/a1/timeline?offset=1&live=long-poll', 200],
    ['an answer without Cache-Control', '/streams/t/default/cdn-default?offset=-1', 200],
    ['a 404 of the store', '/streams/t/default/missing?offset=-1', 404],
    ['a 500 of the store', '/streams/t/default/broken?offset=-1', 500],
    ['the first part of a shape', `${SHAPE}&offset=-1`, 200],
    ['a later part of a shape', `${SHAPE}&offset=1_0&handle=h`, 200],
    ['a live shape', `${SHAPE}&offset=1_0&handle=h&live=true`, 200],
    ['a 409 of the sync engine', `${SHAPE}&offset=1_0&handle=stale`, 409],
  ];
  for (const [what, path, status] of reads) {
    await checks.check(`${what} is kept for nobody`, async () => {
      const url = `${cacheUrl}${path}`;
      const own = await tokenFor(new URL(url).pathname);
      const first = await get(url, own);
      assert.equal(first.status, status);
      assertPrivate(first.headers);
      await assertClosedToOthers(url, '"answer"');
      // The upstream itself answers every authorized reader, every time.
      for (const reader of [own, SERVER]) {
        const asked = upstream.seen.length;
        const again = await get(url, reader);
        assert.equal(again.status, status);
        assert.notEqual(again.body, first.body);
        assert.equal(upstream.seen.length, asked + 1);
      }
    });
  }

  await checks.check('a 304 is given to its own caller, and opens nothing to others', async () => {
    const url = `${cacheUrl}/streams/t/default/agents/chat/a2/timeline?offset=-1`;
    const own = await tokenFor('/streams/t/default/agents/chat/a2');
    const condition = { 'if-none-match': '"same:0:1"' };
    assert.equal((await get(url, own)).status, 200);
    const answer = await get(url, { ...own, ...condition });
    assert.equal(answer.status, 304);
    assertPrivate(answer.headers);
    await assertClosedToOthers(url, '"answer"');
    for (const [headers, status] of [
      [condition, 401],
      [{ ...(await tokenFor('/streams/other')), ...condition }, 403],
    ] as const) {
      assert.equal((await get(url, headers)).status, status);
    }
  });

  await checks.check('a refusal is kept for nobody: who may read it gets it', async () => {
    const url = `${cacheUrl}/streams/t/default/agents/chat/a3/timeline?offset=-1`;
    await assertClosedToOthers(url, '"answer"');
    assert.equal((await get(url, await tokenFor('/streams/t/default'))).status, 200);
    await assertClosedToOthers(url, '"answer"');
  });
}

function assertPrivate(headers: Headers): void {
  const directives = (headers.get('cache-control') ?? '').split(/\s*,\s*/);
  assert.ok(directives.includes('private') || directives.includes('no-store'), directives.join());
  assert.ok(!directives.includes('public') && !/s-maxage/.test(directives.join()));
  assert.match(headers.get('vary') ?? '', /\bAuthorization\b/i);
}
