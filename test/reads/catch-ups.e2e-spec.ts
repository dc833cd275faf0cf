import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CATCH_UPS, MODES, startSharingGateway, type SharingGateway } from './sharing-gateway.ts';
import { inTime } from './in-time.ts';

/** After two seconds readers no longer wait for the response to another reader's request. */
const QUICK_MS = 1_200;
describe.each(MODES)('$mode catch-up reads', ({ isShared }) => {
  let sharing: SharingGateway;
  beforeAll(async () => {
    sharing = await startSharingGateway(isShared);
  });
  afterAll(() => sharing?.stop());

  describe.each(CATCH_UPS)('of a $kind', ({ target: targetOf }) => {
    /** The rule that keeps an answer from being older than the question. */
    it('are given no answer that was asked for before they came', () =>
      inTime(QUICK_MS, async () => {
        const { target, requests } = sharing.newRead(targetOf);
        const [first] = await sharing.park(1, target);
        const second = await sharing.park(3, target);
        expect(requests.all.length).toBe(isShared ? 1 : 4);

        (await requests.nth(1)).answer(200, {}, 'version 1');
        expect((await first?.ended)?.body.toString()).toBe('version 1');
        await requests.nth(2);
        await sharing.takenIn();
        expect(requests.all.length).toBe(isShared ? 2 : 4);
        const third = await sharing.park(3, target);
        expect(requests.all.length).toBe(isShared ? 2 : 7);

        for (const request of requests.all.slice(1, isShared ? 2 : 4)) {
          request.answer(200, {}, 'version 2');
        }
        for (const reader of second) expect((await reader.ended).body.toString()).toBe('version 2');
        await requests.nth(3);
        for (const request of requests.all.slice(isShared ? 2 : 4)) {
          request.answer(200, {}, 'version 3');
        }
        for (const reader of third) expect((await reader.ended).body.toString()).toBe('version 3');
        expect(requests.all.length).toBe(isShared ? 3 : 7);
      }));

    it('that wait are served when the one under way has no reader any more', () =>
      inTime(QUICK_MS, async () => {
        const { target, requests } = sharing.newRead(targetOf);
        const [first] = await sharing.park(1, target);
        const waiting = await sharing.park(2, target);
        first?.leave();
        const [abandoned] = requests.all;
        await abandoned?.over;
        expect(abandoned?.wasLeft).toBe(true);

        await requests.nth(2);
        requests.each((request) => request.answer(200, {}, 'for those who wait'));
        for (const reader of waiting) {
          expect((await reader.ended).body.toString()).toBe('for those who wait');
        }
      }));

    it('that all leave while they wait are never asked for', () =>
      inTime(QUICK_MS, async () => {
        const { target, requests } = sharing.newRead(targetOf);
        const [first] = await sharing.park(1, target);
        const waiting = await sharing.park(2, target);
        for (const reader of waiting) reader.leave();
        await Promise.all(waiting.map((reader) => reader.ended));
        await sharing.takenIn();
        (await requests.nth(1)).answer(200, {}, 'done');
        await first?.ended;
        await sharing.takenIn();
        expect(requests.all.length).toBe(isShared ? 1 : 3);

        requests.each((request) => request.answer(200, {}, 'anew'));
        expect((await sharing.read(target).ended).body.toString()).toBe('anew');
      }));

    it('that wait do not fail with the one under way', () =>
      inTime(QUICK_MS, async () => {
        const { target, requests } = sharing.newRead(targetOf);
        const [first] = await sharing.park(1, target);
        const waiting = await sharing.park(2, target);
        (await requests.nth(1)).begin(200, { 'content-length': '9' }, 'half');
        await sharing.takenIn();
        (await requests.nth(1)).reset();
        expect((await first?.ended)?.isWhole).not.toBe(first?.answer.status === 200);

        await requests.nth(2);
        requests.each((request) => request.answer(200, {}, 'whole'));
        for (const reader of waiting) expect((await reader.ended).body.toString()).toBe('whole');
      }));

    it('with an answer that is not 200 are grouped as any other', () =>
      inTime(QUICK_MS, async () => {
        const { target, requests } = sharing.newRead(targetOf);
        const [first] = await sharing.park(1, target);
        const waiting = await sharing.park(2, target);
        (await requests.nth(1)).answer(404, {}, 'not yet');
        expect((await first?.ended)?.status).toBe(404);
        await requests.nth(2);
        requests.each((request) => request.answer(200, {}, 'made since'));
        for (const reader of waiting)
          expect((await reader.ended).body.toString()).toBe('made since');
      }));

    it('are told apart by what they have: a conditional one is none of the others', () =>
      inTime(QUICK_MS, async () => {
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
      }));
  });

  it('are not held up by a reader who does not take a large answer', () =>
    inTime(QUICK_MS, async () => {
      const name = sharing.newName();
      const target = CATCH_UPS[0]?.target(name) ?? '';
      const slow = sharing.read(target);
      slow.pause();
      await sharing.takenIn();
      const waiting = await sharing.park(2, target);
      const large = Buffer.alloc(32 * 1_048_576, 'x');
      const requests = sharing.upstream.at(name);
      requests.each((request) =>
        request.answer(200, {}, request === requests.all[0] ? large : 'ok'),
      );
      for (const reader of waiting) expect((await reader.ended).body.toString()).toBe('ok');
      slow.leave();
    }));
});
