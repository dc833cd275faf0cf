import { describe, expect, it } from '@jest/globals';
import { READ_TOKEN_SECRET } from '../support/credentials.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { CATCH_UPS, expectAnswers, MODES, problemOf, sharingGateway } from './sharing-gateway.ts';

const RESPONSE_TIMEOUT_MS = 1_500;
/** Node's timers count whole milliseconds. */
const EARLY_MS = 5;

describe.each(MODES)('$mode catch-up reads before a store that is silent', ({ isShared }) => {
  const sharing = sharingGateway(isShared, {
    GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: String(RESPONSE_TIMEOUT_MS),
  });

  it.each(CATCH_UPS)(
    'end, of a $kind, with their own token and in their own time',
    async (read) => {
      const { target, requests } = sharing.newRead(read.target);
      const prefix = ['/streams', '/shapes'];
      const token = await mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds: 0.3 });
      const startedAtMs = performance.now();
      const [first] = await sharing.park(1, target);
      const expiring = sharing.read(target, { headers: { authorization: `Bearer ${token}` } });
      const [patient] = await sharing.park(1, target);
      expect((await expiring.ended).status).toBe(401);
      for (const reader of [first, patient]) {
        const answer = await reader?.ended;
        expect(answer && problemOf(answer)).toMatchObject({ code: 'upstream_timeout' });
        const tookMs = performance.now() - startedAtMs;
        expect(tookMs).toBeGreaterThanOrEqual(RESPONSE_TIMEOUT_MS - EARLY_MS);
      }
      await Promise.all(requests.all.map(({ over }) => over));
      expect(requests.all.every(({ wasLeft }) => wasLeft)).toBe(true);
    },
  );
});

describe.each(MODES)('$mode catch-up reads before a store with slow bodies', ({ isShared }) => {
  // So long that a busy machine has passed the headers on.
  const sharing = sharingGateway(isShared, { GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '5000' });

  // Several readers of one slow body got 502 where a single one got the body.
  it.each(CATCH_UPS)('have no time limit once the headers have come, of a $kind', async (read) => {
    const { target, requests } = sharing.newRead(read.target);
    const readers = await sharing.park(3, target);
    requests.each((request) => request.begin(200, {}, 'slow '));
    const [silent] = await sharing.park(1, read.target(sharing.newName()));
    expect((await silent?.ended)?.status).toBe(502);
    for (const { response } of requests.all) response.end('body');
    await expectAnswers(readers, 200, 'slow body');
  });
});

describe.each(MODES)(
  '$mode catch-up reads before a store that stops in an answer',
  ({ isShared }) => {
    const sharing = sharingGateway(isShared, { GATEWAY_UPSTREAM_STALL_TIMEOUT_MS: '300' });

    it.each(CATCH_UPS)(
      'break off, or fail where nothing was sent yet, of a $kind',
      async (read) => {
        const { target, requests } = sharing.newRead(read.target);
        const readers = await sharing.park(3, target);
        requests.each((request) => request.begin(200, {}, 'half'));
        for (const { ended } of readers) {
          const answer = await ended;
          if (answer.status === 200)
            expect([String(answer.body), answer.isWhole]).toEqual(['half', false]);
          else
            expect(problemOf(answer)).toMatchObject({
              status: 502,
              code: 'upstream_invalid_response',
            });
        }
      },
    );
  },
);

describe.each(MODES)('$mode catch-up reads before a store that is slow', ({ isShared }) => {
  const sharing = sharingGateway(isShared);

  // They asked again after two seconds only: a reader who came later got its answer when the hanging one had failed,
  // or failed like it.
  it.each(CATCH_UPS)('ask again beside one that hangs, of a $kind', async (read) => {
    const { target, requests } = sharing.newRead(read.target);
    const [first] = await sharing.park(1, target);
    const waiting = await sharing.park(3, target);
    await requests.nth(2);
    requests.each((request) => {
      if (request !== requests.all[0]) request.answer(200, {}, 'from another one');
    });
    await expectAnswers(waiting, 200, 'from another one');
    expect(first?.answer.status).toBe(0);
    first?.leave();
  });
});
