import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { HeldRequest } from './held-upstream.ts';
import type { Answer, Reader } from './reader.ts';
import { LIVE_READS, MODES, startSharingGateway, type SharingGateway } from './sharing-gateway.ts';

const LIVE_TIMEOUT_MS = 3_000;
/** The delay before the second reader, and so the time that a test has between the ends of the two. */
const LATER_MS = 1_500;
/** Node's timers count whole milliseconds. */
const EARLY_MS = 5;

describe.each(MODES)('a failure of the upstream under $mode reads', ({ isShared }) => {
  let sharing: SharingGateway;
  let unreachable: SharingGateway;
  beforeAll(async () => {
    sharing = await startSharingGateway(isShared);
    unreachable = await startSharingGateway(isShared, { GATEWAY_SYNC_URL: 'http://127.0.0.1:1' });
  });
  afterAll(async () => {
    await sharing?.stop();
    await unreachable?.stop();
  });

  /** Readers with the request ids r0, r1 …, all taken in. */
  async function parkNumbered(target: string, count = 3): Promise<Reader[]> {
    const readers = Array.from({ length: count }, (_, index) =>
      sharing.read(target, { headers: { 'x-request-id': `r${index}` } }),
    );
    await sharing.takenIn();
    return readers;
  }

  describe.each(LIVE_READS)('of a $kind', ({ target: targetOf }) => {
    it.each<[string, string, (request: HeldRequest) => void]>([
      ['resets the connection', 'upstream_unreachable', (request) => request.reset()],
      [
        'breaks off in the headers',
        'upstream_invalid_response',
        ({ request }) => request.socket.end('HTTP/1.1 200 OK\r\nETag: "'),
      ],
      [
        'answers what is no HTTP',
        'upstream_invalid_response',
        ({ request }) => request.socket.end('SMTP 220 ready\r\n\r\n'),
      ],
    ])('that %s reaches each reader as a problem of its own', async (_, code, fail) => {
      const name = sharing.newName();
      const readers = await parkNumbered(targetOf(name));
      sharing.upstream.at(name).each(fail);
      for (const [index, reader] of readers.entries()) {
        const answer = await reader.ended;
        expect(answer).toMatchObject({ status: 502, isWhole: true });
        expect(problemOf(answer)).toMatchObject({ code, status: 502, requestId: `r${index}` });
        expect(answer.headers['cache-control']).toBe('no-store');
      }
    });

    it.each([
      ['of a known length', { 'content-length': '100' }],
      ['of an unknown length', {}],
    ])('in the middle of a body %s is a whole answer for no reader', async (_, headers) => {
      const name = sharing.newName();
      const readers = await parkNumbered(targetOf(name));
      for (const request of sharing.upstream.at(name).all) {
        request.begin(200, { ...headers, 'content-type': 'text/plain' });
        await request.write('the first part');
        request.reset();
      }
      for (const reader of readers) expectNotWhole(await reader.ended, 'the first part');
    });

    it('is over with its readers: the next one is asked for anew', async () => {
      const name = sharing.newName();
      const requests = sharing.upstream.at(name);
      const failed = await parkNumbered(targetOf(name), 2);
      requests.each((request) => request.reset());
      for (const reader of failed) expect((await reader.ended).status).toBe(502);

      requests.each((request) => request.answer(200, {}, 'well again'));
      const readers = await parkNumbered(targetOf(name), 2);
      for (const reader of readers) expect((await reader.ended).body.toString()).toBe('well again');
    });
  });

  it('that refuses connections is a problem of each reader’s own', async () => {
    const target = LIVE_READS[1].target('refused');
    const readers = Array.from({ length: 3 }, (_, index) =>
      unreachable.read(target, { headers: { 'x-request-id': `r${index}` } }),
    );
    for (const [index, reader] of readers.entries()) {
      const answer = await reader.ended;
      expect(problemOf(answer)).toMatchObject({
        status: 502,
        code: 'upstream_unreachable',
        requestId: `r${index}`,
      });
    }
  });
});

describe.each(MODES)('an upstream that is silent under $mode reads', ({ isShared }) => {
  let sharing: SharingGateway;
  beforeAll(async () => {
    sharing = await startSharingGateway(isShared, {
      GATEWAY_LIVE_TIMEOUT_MS: String(LIVE_TIMEOUT_MS),
    });
  });
  afterAll(() => sharing?.stop());

  const readTimed = async (
    target: string,
  ): Promise<{ answer: Answer; tookMs: number; endedAtMs: number }> => {
    const reader = sharing.read(target);
    await reader.sent();
    const startedAtMs = performance.now();
    const answer = await reader.ended;
    const endedAtMs = performance.now();
    return { answer, tookMs: endedAtMs - startedAtMs, endedAtMs };
  };
  const later = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, LATER_MS));

  it.each(LIVE_READS)('has each $kind reader’s own time', async ({ target: targetOf }) => {
    const name = sharing.newName();
    const target = targetOf(name);
    const first = readTimed(target);
    await sharing.takenIn();
    await later();
    const second = readTimed(target);
    for (const { answer, tookMs } of [await first, await second]) {
      expect(problemOf(answer)).toMatchObject({ status: 502, code: 'upstream_timeout' });
      expect(tookMs).toBeGreaterThanOrEqual(LIVE_TIMEOUT_MS - EARLY_MS);
    }
    // The first one's time does not begin again with the second one.
    expect((await second).endedAtMs - (await first).endedAtMs).toBeGreaterThan(LATER_MS / 2);
    const requests = sharing.upstream.at(name).all;
    await Promise.all(requests.map(({ over }) => over));
    expect(requests.map(({ wasLeft }) => wasLeft)).toEqual(requests.map(() => true));
  });

  it('may still answer the reader that came later', async () => {
    const name = sharing.newName();
    const target = LIVE_READS[0].target(name);
    const first = readTimed(target);
    await sharing.takenIn();
    await later();
    const second = readTimed(target);
    // On a busy machine the second one's request came later than the first one's 502, and CI failed.
    await sharing.takenIn();
    expect((await first).answer.status).toBe(502);
    for (const request of sharing.upstream.at(name).all) {
      if (!request.wasLeft) request.answer(200, {}, 'at last');
    }
    const { answer } = await second;
    expect([answer.status, answer.body.toString()]).toEqual([200, 'at last']);
  });
});

function problemOf({ body }: Answer): object {
  return JSON.parse(body.toString()) as object;
}

/** The response breaks after the bytes that had arrived, or is a problem if none were sent yet. */
function expectNotWhole({ status, body, isWhole }: Answer, sent: string): void {
  if (status === 502) {
    expect(JSON.parse(body.toString())).toMatchObject({ code: 'upstream_invalid_response' });
  } else {
    expect([status, isWhole]).toEqual([200, false]);
    expect(sent.startsWith(body.toString())).toBe(true);
  }
}
