import assert from 'node:assert/strict';
import type { Checks } from '../support/checks.ts';
import { bearer, get } from './callers.ts';

/** Proves that the other checks can fail: without the gateway this cache gives one caller the response of another. */
export async function checkControl(checks: Checks, cacheUrl: string): Promise<void> {
  for (const path of [
    '/v1/shape?table=entities&offset=-1',
    '/v1/shape?table=entities&offset=1_0&handle=h&live=true',
    '/v1/shape?table=entities&offset=1_0&handle=stale',
    '/t/default/missing',
    '/t/default/cdn-default',
  ]) {
    await checks.check(`a second caller is served what the first was: ${path}`, async () => {
      const first = await get(`${cacheUrl}${path}`, bearer('the-first-caller'));
      const second = await get(`${cacheUrl}${path}`);
      assert.equal(second.body, first.body);
      assert.equal(second.headers.get('x-cache'), 'HIT');
    });
  }
}
