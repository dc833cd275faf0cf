import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { READ_TOKEN_SECRET } from '../support/credentials.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { CATCH_UPS, MODES, startSharingGateway, type SharingGateway } from './sharing-gateway.ts';

const RESPONSE_TIMEOUT_MS = 1_500;
/** Node's timers count whole milliseconds. */
const EARLY_MS = 5;

describe.each(MODES)('$mode catch-up reads before a store that is silent', ({ isShared }) => {
  let sharing: SharingGateway;
  beforeAll(async () => {
    sharing = await startSharingGateway(isShared, {
      GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: String(RESPONSE_TIMEOUT_MS),
    });
  });
  afterAll(() => sharing?.stop());

  it.each(CATCH_UPS)(
    'end, of a $kind, with their own token and in their own time',
    async (read) => {
      const name = sharing.newName();
      const target = read.target(name);
      const prefix = ['/streams', '/shapes'];
      const token = await mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds: 0.3 });
      const startedAtMs = performance.now();
      const [first] = await sharing.park(1, target);
      const expiring = sharing.read(target, { headers: { authorization: `Bearer ${token}` } });
      const [patient] = await sharing.park(1, target);
      expect((await expiring.ended).status).toBe(401);
      for (const reader of [first, patient]) {
        const answer = await reader?.ended;
        expect(JSON.parse(String(answer?.body))).toMatchObject({ code: 'upstream_timeout' });
        const tookMs = performance.now() - startedAtMs;
        expect(tookMs).toBeGreaterThanOrEqual(RESPONSE_TIMEOUT_MS - EARLY_MS);
      }
      const requests = sharing.upstream.at(name).all;
      await Promise.all(requests.map(({ over }) => over));
      expect(requests.every(({ wasLeft }) => wasLeft)).toBe(true);
    },
  );

  // Several readers of one slow body got 502 where a single one got the body.
  it('have no time limit once the headers have come', () =>
    forBoth(async (read) => {
      const { target, requests } = sharing.newRead(read.target);
      const readers = await sharing.park(3, target);
      requests.each((request) => request.begin(200, {}, 'slow '));
      const [silent] = await sharing.park(1, read.target(sharing.newName()));
      expect((await silent?.ended)?.status).toBe(502);
      for (const { response } of requests.all) response.end('body');
      const answers = await Promise.all(readers.map(({ ended }) => ended));
      expect(answers.map(({ status, body, isWhole }) => [status, String(body), isWhole])).toEqual(
        readers.map(() => [200, 'slow body', true]),
      );
    }));
});

describe.each(MODES)('$mode catch-up reads before a store that is slow', ({ isShared }) => {
  let sharing: SharingGateway;
  beforeAll(async () => {
    sharing = await startSharingGateway(isShared);
  });
  afterAll(() => sharing?.stop());

  // They asked again after two seconds only: a reader who came later got its answer when the hanging one had failed,
  // or failed like it.
  it('ask again beside one that hangs', () =>
    forBoth(async (read) => {
      const name = sharing.newName();
      const [first] = await sharing.park(1, read.target(name));
      const waiting = await sharing.park(3, read.target(name));
      const requests = sharing.upstream.at(name);
      await requests.nth(2);
      requests.each((request) => {
        if (request !== requests.all[0]) request.answer(200, {}, 'from another one');
      });
      for (const reader of waiting) {
        expect((await reader.ended).body.toString()).toBe('from another one');
      }
      expect(first?.answer.status).toBe(0);
      first?.leave();
    }));
});

/** These run at the same time, because each of them mostly waits. */
async function forBoth(run: (read: (typeof CATCH_UPS)[number]) => Promise<void>): Promise<void> {
  await Promise.all(CATCH_UPS.map(run));
}
