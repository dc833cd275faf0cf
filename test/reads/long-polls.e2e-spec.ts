import { describe, expect, it } from '@jest/globals';
import { expectAnswers, LIVE_READS, MODES, sharingGateway } from './sharing-gateway.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

describe.each(MODES)('$mode live reads', ({ isShared }) => {
  const sharing = sharingGateway(isShared);

  describe.each(LIVE_READS)('of a $kind', ({ target: targetOf }) => {
    it('that are equal wait on one upstream request, and each gets its answer', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const readers = await sharing.park(20, target);
      expect(requests.all.length).toBe(sharing.requestsOf(20));

      const headers = { ...JSON_TYPE, etag: '"1:2"', 'stream-next-offset': '1_2', 'x-own': 'o' };
      for (const request of requests.all) request.answer(200, headers, '[{"seq":1}]');
      const whole = { ...headers, 'content-length': '11' };
      await expectAnswers(readers, 200, '[{"seq":1}]', whole);
      expect(requests.all.length).toBe(sharing.requestsOf(20));
    });

    it.each([
      [204, { 'stream-next-offset': '1_1', 'stream-up-to-date': 'true' }, ''],
      [304, { etag: '"1:1"' }, ''],
      [400, JSON_TYPE, '{"message":"offset"}'],
      [404, { 'content-type': 'text/plain' }, 'Stream not found'],
      [409, JSON_TYPE, '[{"headers":{"control":"must-refetch"}}]'],
      [429, { 'retry-after': '3' }, 'slower'],
      [500, {}, 'failed'],
      [503, { 'retry-after': '1' }, ''],
    ])('all get a %i as it is', async (status, headers, body) => {
      const { target, requests } = sharing.newRead(targetOf);
      const readers = await sharing.park(3, target);
      for (const request of requests.all) request.answer(status, headers, body);
      await expectAnswers(readers, status, body, headers);
    });

    it('that come when the answer has begun wait for the next one', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const [early] = await sharing.park(1, target);
      const first = await requests.nth(1);
      first.begin(200, JSON_TYPE, '["first",');
      await sharing.takenIn();

      const late = await sharing.park(2, target);
      expect(requests.all.length).toBe(1 + sharing.requestsOf(2));
      first.response.end('1]');
      for (const later of requests.all.slice(1)) later.answer(200, JSON_TYPE, '["second",2]');
      await expectAnswers([early], 200, '["first",1]');
      await expectAnswers(late, 200, '["second",2]');
    });

    it('by GET and by HEAD are no equals', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const [get] = await sharing.park(1, target);
      const heads = await sharing.park(2, target, { method: 'HEAD' });
      const methods = requests.all.map(({ request }) => request.method);
      expect(methods).toEqual(isShared ? ['GET', 'HEAD'] : ['GET', 'HEAD', 'HEAD']);

      for (const { request, response } of requests.all) {
        response.writeHead(200, { 'x-method': request.method, 'content-length': '4' });
        response.end(request.method === 'GET' ? 'body' : undefined);
      }
      await expectAnswers([get], 200, 'body', { 'x-method': 'GET' });
      await expectAnswers(heads, 200, '', { 'x-method': 'HEAD', 'content-length': '4' });
    });

    it('end upstream with the last of their readers, and not before', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const [last, ...others] = await sharing.park(4, target);
      const [first] = requests.all;
      for (const reader of others) reader.leave();
      await Promise.all(others.map((reader) => reader.ended));
      await sharing.takenIn();
      const left = requests.all.filter(({ wasLeft }) => wasLeft);
      expect(left.length).toBe(isShared ? 0 : 3);

      last?.leave();
      await Promise.all(requests.all.map(({ over }) => over));
      expect(first?.wasLeft).toBe(true);

      const [next] = await sharing.park(1, target);
      const count = requests.all.length;
      expect(count).toBe(sharing.requestsOf(4) + 1);
      (await requests.nth(count)).answer(200, {}, 'anew');
      await expectAnswers([next], 200, 'anew');
    });

    it('are not disturbed by one that leaves in the middle of the answer', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const [leaving, staying] = await sharing.park(2, target);
      for (const request of requests.all) request.begin(200, JSON_TYPE, '[1,');
      await sharing.takenIn();
      leaving?.leave();
      await leaving?.ended;
      await sharing.takenIn();
      for (const { response } of requests.all) response.end('2]');
      await expectAnswers([staying], 200, '[1,2]', JSON_TYPE);
    });
  });

  // Electric counts it up by chance: of 300 long-polls of one shape none was shared.
  it('of a shape that differ in their cursor alone are equal', async () => {
    const { target: shape, requests } = sharing.newRead(
      (name) => `/shapes/v1/shape?table=entities&offset=1_0&handle=${name}`,
    );
    const first = sharing.read(`${shape}&live=true&cursor=1`);
    await sharing.takenIn();
    const readers = [
      first,
      sharing.read(`${shape}&live=true&cursor=4711`),
      sharing.read(`${shape}&cursor=27&live=true`),
      sharing.read(`${shape}&live=true`),
    ];
    await sharing.takenIn();
    expect(requests.all.length).toBe(isShared ? 1 : 4);
    // What was sent is the first one's, with its cursor.
    expect(requests.all[0]?.target).toContain('&live=true&cursor=1');

    const headers = { ...JSON_TYPE, 'electric-cursor': '4712', 'electric-offset': '2_0' };
    for (const request of requests.all) request.answer(200, headers, '[{"key":"1"}]');
    await expectAnswers(readers, 200, '[{"key":"1"}]', headers);
  });

  it.each([
    [
      'a shape that differ in more than their cursor',
      '/shapes/v1/shape?table=entities&live=true',
      ['&offset=1_0&cursor=1', '&offset=2_0&cursor=1', '&offset=1_0&cursor=x'],
    ],
  ])('of %s are not equal', async (_, read, rests) => {
    const { target, requests } = sharing.newRead((name) => `${read}&handle=${name}`);
    const readers = rests.map((rest) => sharing.read(target + rest));
    await sharing.takenIn();
    expect(requests.all.length).toBe(rests.length);
    for (const request of requests.all) request.answer(200, JSON_TYPE, request.target);
    for (const [index, reader] of readers.entries()) {
      expect((await reader.ended).body.toString()).toContain(rests[index]);
    }
  });
});
