import { describe, expect, it } from '@jest/globals';
import type { HeldRequests } from './held-upstream.ts';
import { inTime } from '../support/in-time.ts';
import type { Reader } from './reader.ts';
import { CATCH_UPS, expectAnswers, MODES, sharingGateway } from './sharing-gateway.ts';

/** Readers that come further apart than this share no request. */
const MAX_WAIT_MS = 50;
describe.each(MODES)('$mode catch-up reads', ({ isShared }) => {
  const sharing = sharingGateway(isShared);

  /** Answers each request with its number. */
  function answerNumbered(requests: HeldRequests): void {
    requests.each((request) => {
      request.answer(200, {}, String(requests.all.indexOf(request) + 1));
    });
  }

  const numbersOf = (readers: Reader[]): Promise<number[]> =>
    Promise.all(readers.map(async ({ ended }) => Number((await ended).body.toString())));

  describe.each(CATCH_UPS)('of a $kind', ({ target: targetOf }) => {
    /** The rule that keeps an answer from being older than the question. */
    it('are given no answer that was asked for before they came', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const first = await sharing.park(1, target);
      const second = await sharing.park(3, target);
      // It goes out beside the first one.
      await requests.nth(2);
      const before = requests.all.length;
      const third = await sharing.park(3, target);

      answerNumbered(requests);
      expect(await numbersOf(first)).toEqual([1]);
      for (const number of await numbersOf(second)) expect(number).toBeGreaterThan(1);
      for (const number of await numbersOf(third)) expect(number).toBeGreaterThan(before);
    });

    it('that come during another one are one request', () =>
      inTime(MAX_WAIT_MS, async () => {
        const { target, requests } = sharing.newRead(targetOf);
        const first = await sharing.park(1, target);
        const others = await sharing.park(3, target);
        answerNumbered(requests);
        expect(await numbersOf(first)).toEqual([1]);
        const numbers = await numbersOf(others);
        expect(new Set(numbers)).toEqual(new Set(isShared ? [2] : [2, 3, 4]));
      }));

    it('that wait are served when the one under way has no reader any more', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const [first] = await sharing.park(1, target);
      const waiting = await sharing.park(2, target);
      first?.leave();
      const [abandoned] = requests.all;
      await abandoned?.over;
      expect(abandoned?.wasLeft).toBe(true);

      await requests.nth(2);
      requests.each((request) => request.answer(200, {}, 'for those who wait'));
      await expectAnswers(waiting, 200, 'for those who wait');
    });

    it('that wait do not fail with the one under way', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const [first] = await sharing.park(1, target);
      const waiting = await sharing.park(2, target);
      (await requests.nth(1)).begin(200, { 'content-length': '9' }, 'half');
      await sharing.takenIn();
      (await requests.nth(1)).reset();
      expect((await first?.ended)?.isWhole).not.toBe(first?.answer.status === 200);

      await requests.nth(2);
      requests.each((request) => request.answer(200, {}, 'whole'));
      await expectAnswers(waiting, 200, 'whole');
    });

    it('with an answer that is not 200 are grouped as any other', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const [first] = await sharing.park(1, target);
      const waiting = await sharing.park(2, target);
      (await requests.nth(1)).answer(404, {}, 'not yet');
      expect((await first?.ended)?.status).toBe(404);
      await requests.nth(2);
      requests.each((request) => request.answer(200, {}, 'made since'));
      await expectAnswers(waiting, 200, 'made since');
    });

    it('are told apart by what they have: a conditional one is none of the others', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const [plain] = await sharing.park(1, target);
      const headers = { 'if-none-match': '"1"' };
      const [conditional] = await sharing.park(1, target, { headers });
      expect(requests.all.length).toBe(2);
      requests.each(({ request, response }) => {
        const isConditional = request.headers['if-none-match'] === '"1"';
        response.writeHead(isConditional ? 304 : 200).end();
      });
      expect((await plain?.ended)?.status).toBe(200);
      expect((await conditional?.ended)?.status).toBe(304);
    });
  });

  it('are not held up by a reader who does not take a large answer', async () => {
    const { target, requests } = sharing.newRead(CATCH_UPS[0]?.target ?? String);
    const slow = sharing.read(target);
    slow.pause();
    await sharing.takenIn();
    const waiting = await sharing.park(2, target);
    const large = Buffer.alloc(32 * 1_048_576, 'x');
    requests.each((request) => request.answer(200, {}, request === requests.all[0] ? large : 'ok'));
    await expectAnswers(waiting, 200, 'ok');
    slow.leave();
  });
});
