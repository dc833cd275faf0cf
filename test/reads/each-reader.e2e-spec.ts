import { describe, expect, it } from '@jest/globals';
import { READ_TOKEN_SECRET } from '../support/credentials.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { expectAnswers, LIVE_READS, MODES, problemOf, sharingGateway } from './sharing-gateway.ts';

const PINNED = 'https://app.example';

describe.each(MODES)('each reader of $mode live reads', ({ isShared }) => {
  const sharing = sharingGateway(isShared, {
    GATEWAY_CORS_ALLOW_ORIGINS: `${PINNED},https://other.example`,
  });

  const bearer = async (
    ttlSeconds: number,
    prefix = ['/streams', '/shapes'],
  ): Promise<{ authorization: string }> => ({
    authorization: `Bearer ${await mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds })}`,
  });

  describe.each(LIVE_READS)('of a $kind', ({ target: targetOf }) => {
    it('has its own request id and the CORS headers of its own origin', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const origins = [PINNED, 'https://other.example', 'https://elsewhere.example', undefined];
      const readers = origins.map((origin, index) =>
        sharing.read(target, {
          headers: { 'x-request-id': `own-${index}`, ...(origin && { origin }) },
        }),
      );
      await sharing.takenIn();
      for (const request of requests.all) request.answer(200, { vary: 'Accept-Encoding' }, 'x');
      const answers = await Promise.all(readers.map((reader) => reader.ended));
      expect(
        answers.map(({ headers }) => [
          headers['x-request-id'],
          headers['access-control-allow-origin'],
          headers.vary,
        ]),
      ).toEqual([
        ['own-0', PINNED, 'Accept-Encoding, Authorization, Origin'],
        ['own-1', 'https://other.example', 'Accept-Encoding, Authorization, Origin'],
        ['own-2', undefined, 'Accept-Encoding, Authorization, Origin'],
        ['own-3', undefined, 'Accept-Encoding, Authorization, Origin'],
      ]);
    });

    it('is judged by its own credential before it waits with others', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const [parked] = await sharing.park(1, target);
      const refused = [
        [{ authorization: 'Bearer no-such-key-0123456789' }, 401, 'invalid_credentials'],
        [await bearer(-5), 401, 'token_expired'],
        [await bearer(60, ['/streams/t/another', '/shapes/v2']), 403, 'prefix_not_covered'],
      ] as const;
      for (const [headers, status, code] of refused) {
        const answer = await sharing.read(target, { headers }).ended;
        expect([answer.status, problemOf(answer).code]).toEqual([status, code]);
      }
      expect(requests.all.length).toBe(1);
      requests.all[0]?.answer(200, {}, 'for the one that may');
      await expectAnswers([parked], 200, 'for the one that may');
    });

    it('is answered 401 alone when its token ends, and the others wait on', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const headers = { ...(await bearer(60)), 'x-request-id': 'long' };
      const [long] = await sharing.park(1, target, { headers });
      const short = [];
      for (const ttlSeconds of [0.4, 0.6]) {
        short.push(sharing.read(target, { headers: await bearer(ttlSeconds) }));
      }
      for (const reader of short) {
        const answer = await reader.ended;
        expect([answer.status, problemOf(answer).code]).toEqual([401, 'token_expired']);
        expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
      }
      await sharing.takenIn();
      expect(requests.all[0]?.wasLeft).toBe(false);

      const fresh = sharing.read(target, { headers: await bearer(60) });
      await sharing.takenIn();
      for (const request of requests.all) request.answer(200, {}, 'in the end');
      await expectAnswers([long, fresh], 200, 'in the end');
    });

    it('lets the upstream go when its token was the last to end', async () => {
      for (let ttlSeconds = 0.4; ; ttlSeconds *= 2) {
        const { target, requests } = sharing.newRead(targetOf);
        const headers = await bearer(ttlSeconds);
        const readers = [sharing.read(target, { headers }), sharing.read(target, { headers })];
        for (const reader of readers) expect((await reader.ended).status).toBe(401);
        const [first] = requests.all;
        // On a busy machine the token may have ended before its reader came.
        if (!first) continue;
        await first.over;
        expect(first.wasLeft).toBe(true);
        break;
      }
    });
  });

  /** The fence of a token is in the upstream's query: an API key asks for more than a token may see. */
  it('sees the rows that its own credential opens', async () => {
    const { target, requests } = sharing.newRead(LIVE_READS[1].target);
    const byKey = sharing.read(target);
    const byToken = sharing.read(target, { headers: await bearer(60) });
    const byTokenToo = sharing.read(target, { headers: await bearer(50) });
    await sharing.takenIn();

    expect(requests.all.length).toBe(isShared ? 2 : 3);
    for (const request of requests.all) {
      request.answer(200, {}, request.target.includes('where=') ? 'fenced' : 'all');
    }
    await expectAnswers([byKey], 200, 'all');
    await expectAnswers([byToken, byTokenToo], 200, 'fenced');
  });
});
