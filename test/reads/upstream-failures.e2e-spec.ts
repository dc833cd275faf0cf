import { describe, expect, it } from '@jest/globals';
import type { HeldRequest } from './held-upstream.ts';
import type { Answer, Reader } from './reader.ts';
import { expectAnswers, LIVE_READS, MODES, problemOf, sharingGateway } from './sharing-gateway.ts';

const LIVE_TIMEOUT_MS = 3_000;
/** The delay before the second reader, and so the time that a test has between the ends of the two. */
const LATER_MS = 1_500;
/** Node's timers count whole milliseconds. */
const EARLY_MS = 5;

describe.each(MODES)('a failure of the upstream under $mode reads', ({ isShared }) => {
  const sharing = sharingGateway(isShared);
  const unreachable = sharingGateway(isShared, { GATEWAY_SYNC_URL: 'http://127.0.0.1:2' });

  /** Readers with the request ids r0, r1 … */
  const readNumbered = (target: string, of = sharing): Reader[] =>
    Array.from({ length: 3 }, (_, index) =>
      of.read(target, { headers: { 'x-request-id': `r${index}` } }),
    );
  async function parkNumbered(target: string): Promise<Reader[]> {
    const readers = readNumbered(target);
    await sharing.takenIn();
    return readers;
  }
  async function expectOwnProblems(readers: Reader[], code: string): Promise<void> {
    for (const [index, reader] of readers.entries()) {
      const answer = await reader.ended;
      expect(answer).toMatchObject({ status: 502, isWhole: true });
      expect(problemOf(answer)).toMatchObject({ code, status: 502, requestId: `r${index}` });
      expect(answer.headers['cache-control']).toBe('no-store');
    }
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
      const { target, requests } = sharing.newRead(targetOf);
      const readers = await parkNumbered(target);
      requests.each(fail);
      await expectOwnProblems(readers, code);

      // It is over with its readers: the next ones are asked for anew.
      requests.each((request) => request.answer(200, {}, 'well again'));
      await expectAnswers(await sharing.park(2, target), 200, 'well again');
    });

    it.each([
      ['of a known length', { 'content-length': '100' }],
      ['of an unknown length', {}],
    ])('in the middle of a body %s is a whole answer for no reader', async (_, headers) => {
      const { target, requests } = sharing.newRead(targetOf);
      const readers = await parkNumbered(target);
      for (const request of requests.all) {
        request.begin(200, { ...headers, 'content-type': 'text/plain' });
        await request.write('the first part');
        request.reset();
      }
      for (const reader of readers) expectNotWhole(await reader.ended, 'the first part');
    });
  });

  it('that refuses connections is a problem of each reader’s own', async () => {
    const target = LIVE_READS[1].target('refused');
    await expectOwnProblems(readNumbered(target, unreachable), 'upstream_unreachable');
  });
});

describe.each(MODES)('an upstream that is silent under $mode reads', ({ isShared }) => {
  const sharing = sharingGateway(isShared, {
    GATEWAY_LIVE_TIMEOUT_MS: String(LIVE_TIMEOUT_MS),
  });

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
    const { target, requests } = sharing.newRead(targetOf);
    const first = readTimed(target);
    await sharing.takenIn();
    await later();
    const second = readTimed(target);
    for (const { answer, tookMs } of [await first, await second]) {
      expect(problemOf(answer)).toMatchObject({ status: 502, code: 'upstream_timeout' });
      expect(tookMs).toBeGreaterThanOrEqual(LIVE_TIMEOUT_MS - EARLY_MS);
    }
    // The first one's time does not begin again with the second one.
    // Of a pause of the process half a second counts.
    expect((await second).endedAtMs - (await first).endedAtMs).toBeGreaterThan(250);
    await Promise.all(requests.all.map(({ over }) => over));
    expect(requests.all.every(({ wasLeft }) => wasLeft)).toBe(true);
  });

  it('may still answer the reader that came later', async () => {
    const { target, requests } = sharing.newRead(LIVE_READS[0].target);
    const first = readTimed(target);
    await sharing.takenIn();
    await later();
    const second = readTimed(target);
    // On a busy machine the second one's request came later than the first one's 502, and CI failed.
    await sharing.takenIn();
    expect((await first).answer.status).toBe(502);
    for (const request of requests.all) {
      if (!request.wasLeft) request.answer(200, {}, 'at last');
    }
    expect((await second).answer).toMatchObject({ status: 200, body: Buffer.from('at last') });
  });
});

/** The response breaks after the bytes that had arrived, or is a problem if none were sent yet. */
function expectNotWhole(answer: Answer, sent: string): void {
  const { status, body, isWhole } = answer;
  if (status === 502) {
    expect(problemOf(answer)).toMatchObject({ code: 'upstream_invalid_response' });
  } else {
    expect([status, isWhole]).toEqual([200, false]);
    expect(sent.startsWith(body.toString())).toBe(true);
  }
}
