import { describe, expect, it } from '@jest/globals';
import type { HeldRequest } from './held-upstream.ts';
import type { Answer, Reader } from './reader.ts';
import { expectAnswers, LIVE_READS, MODES, problemOf, sharingGateway } from './sharing-gateway.ts';

const LIVE_TIMEOUT_MS = 3_000;
/** Three quarters of it. */
const SILENT_MS = 2_250;
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

  // One whose connection had died was joined by each new reader, and none of them got an event in 290 s.
  it.each(LIVE_READS)(
    'is left by all who wait for a $kind, so that they come again',
    async ({ target: targetOf }) => {
      const { target, requests } = sharing.newRead(targetOf);
      const startedAtMs = performance.now();
      const readers = [...(await sharing.park(2, target)), ...(await sharing.park(1, target))];
      for (const { ended } of readers) {
        expect(problemOf(await ended)).toMatchObject({
          status: 502,
          code: 'upstream_timeout',
          detail: `The server behind this route did not answer within ${SILENT_MS} ms.`,
        });
      }
      expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(SILENT_MS - EARLY_MS);
      await Promise.all(requests.all.map(({ over }) => over));
      expect(requests.all.every(({ wasLeft }) => wasLeft)).toBe(true);

      const [next] = await sharing.park(1, target);
      requests.each((request) => request.answer(200, {}, 'at last'));
      await expectAnswers([next!], 200, 'at last');
    },
  );
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
