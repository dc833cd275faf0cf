import assert from 'node:assert/strict';
import type { Checks } from '../support/checks.ts';
import { EventWriter } from '../support/numbered-events.ts';
import { assertClosedToOthers, get, SERVER, tokenFor } from './callers.ts';

const AGENT = '/t/default/agents/chat/a1';

/** Reads a real timeline through the cache, and checks what other callers get at the same time. */
export async function checkRealStore(
  checks: Checks,
  cacheUrl: string,
  historyUrl: string,
): Promise<void> {
  const timeline = `${cacheUrl}/streams${AGENT}/timeline`;
  const writer = new EventWriter(`${historyUrl}${AGENT}/timeline`);
  const own = await tokenFor(`/streams${AGENT}`);

  await checks.check('a stream that is not there yet is not kept as missing', async () => {
    assert.equal((await get(`${timeline}?offset=-1`, own)).status, 404);
    await writer.create();
    assert.equal((await get(`${timeline}?offset=-1`, own)).status, 200);
  });

  await checks.check('a catch-up is for its caller only, and always the newest', async () => {
    await writer.append(2);
    const first = await get(`${timeline}?offset=-1`, own);
    assert.equal(count(first.body), 2);
    await assertClosedToOthers(`${timeline}?offset=-1`, '"seq"');
    await writer.append();
    for (const reader of [own, SERVER]) {
      assert.equal(count((await get(`${timeline}?offset=-1`, reader)).body), 3);
    }
  });

  await checks.check('a 304 of the store passes', async () => {
    const { headers } = await get(`${timeline}?offset=-1`, own);
    const condition = { 'if-none-match': headers.get('etag') ?? '' };
    const again = await get(`${timeline}?offset=-1`, { ...own, ...condition });
    assert.equal(again.status, 304);
    assert.equal((await get(`${timeline}?offset=-1`, condition)).status, 401);
  });

  await checks.check('a parked long-poll is its own: others are refused at once', async () => {
    const { headers } = await get(`${timeline}?offset=-1`, own);
    const url = `${timeline}?offset=${headers.get('stream-next-offset')}&live=long-poll`;
    const parked = get(url, own);
    await assertClosedToOthers(url, '"seq"');
    await writer.append();
    const answer = await parked;
    assert.equal(answer.body, `[{"seq":3,"text":""}]`);
    await assertClosedToOthers(url, '"seq"');
  });

  await checks.check('events of a live stream come at once, and to their caller only', async () => {
    const url = `${timeline}?offset=-1&live=sse`;
    const stopped = new AbortController();
    const response = await fetch(url, { headers: own, signal: stopped.signal });
    const events = readUntil(response, '"seq":4');
    await assertClosedToOthers(url, '"seq"');
    await writer.append();
    await events;
    stopped.abort();
    await assertClosedToOthers(url, '"seq"');
  });
}

function count(body: string): number {
  return (JSON.parse(body) as unknown[]).length;
}

async function readUntil(response: Response, text: string): Promise<void> {
  let seen = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    seen += chunk;
    if (seen.includes(text)) return;
  }
  throw new Error(`The stream ended before ${text} came: ${seen}`);
}
