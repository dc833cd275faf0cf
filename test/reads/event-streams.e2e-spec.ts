import { describe, expect, it } from '@jest/globals';
import {
  EVENT_READS,
  expectAnswers,
  MODES,
  numberedEvent as event,
  problemOf,
  sharingGateway,
} from './sharing-gateway.ts';

const EVENTS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
/** More bytes than the gateway keeps for a replay. */
const MUCH_BYTES = 1_048_576;

describe.each(MODES)('$mode event streams', ({ isShared }) => {
  const sharing = sharingGateway(isShared);

  describe.each(EVENT_READS)('of a $kind', ({ target: targetOf }) => {
    it('that are equal are one upstream stream, and bring every event as it comes', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const readers = await sharing.park(5, target);
      expect(requests.all.length).toBe(sharing.requestsOf(5));
      for (const request of requests.all) request.begin(200, EVENTS);
      for (const reader of readers) expect(await reader.begun()).toBe(200);
      let sent = '';
      for (const number of [1, 2, 3]) {
        sent += event(number);
        for (const request of requests.all) request.response.write(event(number));
        for (const reader of readers) expect(await reader.untilText(sent)).toBe(sent);
      }
      for (const { response } of requests.all) response.end();
      await expectAnswers(readers, 200, sent, {
        'content-type': 'text/event-stream',
        'cache-control': 'private, no-cache',
        'x-accel-buffering': 'no',
      });
    });

    it('bring a reader that comes later all from the beginning, and what follows', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const [early] = await sharing.park(1, target);
      const beginning = event(1) + event(2) + ': ping\n\n' + event(3).slice(0, 20);
      requests.each((request) => request.begin(200, EVENTS, beginning));
      await early?.untilText(beginning);

      const late = await sharing.park(2, target);
      for (const reader of late) expect(await reader.untilText(beginning)).toBe(beginning);
      expect(requests.all.length).toBe(sharing.requestsOf(3));
      const rest = event(3).slice(20) + event(4);
      for (const { response } of requests.all) response.end(rest);
      await expectAnswers([early, ...late], 200, beginning + rest);
    });

    it('are begun anew behind one that has ended', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const before = await sharing.park(2, target);
      requests.each((request) => request.answer(200, EVENTS, event(1)));
      await expectAnswers(before, 200, event(1));
      const count = requests.all.length;
      requests.each((request) => request.answer(200, EVENTS, event(2)));
      await expectAnswers([sharing.read(target)], 200, event(2));
      expect(requests.all.length).toBe(count + 1);
    });

    it('end upstream with the last of their readers, and not before', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const [last, ...others] = await sharing.park(3, target);
      requests.each((request) => request.begin(200, EVENTS, event(1)));
      for (const reader of [last, ...others]) await reader?.untilText(event(1));
      for (const reader of others) reader.leave();
      await Promise.all(others.map((reader) => reader.ended));
      await sharing.takenIn();
      expect(requests.all.filter(({ wasLeft }) => wasLeft).length).toBe(isShared ? 0 : 2);
      for (const { response } of requests.all) response.write(event(2));
      expect(await last?.untilText(event(2))).toBe(event(1) + event(2));

      last?.leave();
      await Promise.all(requests.all.map(({ over }) => over));
      expect(requests.all.every(({ wasLeft }) => wasLeft)).toBe(true);
    });

    it('that break off upstream are broken off for each reader', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const readers = await sharing.park(3, target);
      requests.each((request) => request.begin(200, EVENTS, event(1) + 'event: da'));
      for (const reader of readers) await reader.untilText('event: da');
      for (const request of requests.all) request.reset();
      for (const reader of readers) {
        const answer = await reader.ended;
        expect([answer.body.toString(), answer.isWhole]).toEqual([event(1) + 'event: da', false]);
      }
    });

    it.each([
      [404, { 'content-type': 'text/plain' }, 'Stream not found'],
      [200, { 'content-type': 'application/json' }, '[{"not":"events"}]'],
      [429, { 'retry-after': '2' }, ''],
      [204, {}, ''],
    ])(
      'that are refused upstream with a %i pass that on to each reader',
      async (status, headers, body) => {
        const { target, requests } = sharing.newRead(targetOf);
        const readers = await sharing.park(3, target);
        requests.each((request) => request.answer(status, headers, body));
        await expectAnswers(readers, status, body, headers);
      },
    );

    it('of which one cannot be had are a problem of each reader’s own', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const ids = ['r0', 'r1'];
      const readers = ids.map((id) => sharing.read(target, { headers: { 'x-request-id': id } }));
      await sharing.takenIn();
      requests.each((request) => request.reset());
      const problems = await Promise.all(readers.map(async ({ ended }) => problemOf(await ended)));
      expect(problems).toMatchObject(
        ids.map((requestId) => ({ status: 502, code: 'upstream_unreachable', requestId })),
      );
    });

    it('are not mixed with a long-poll, a catch-up or a HEAD of the same offset', async () => {
      const { target, requests } = sharing.newRead(targetOf);
      const bare = target.replace(/&live=.*/, '');
      const targets = [target, bare, `${bare}&live=true`, `${bare}&live=long-poll`];
      const gets = targets.map((each) => sharing.read(each));
      const head = sharing.read(target, { method: 'HEAD' });
      await sharing.takenIn();
      expect(requests.all.length).toBe(5);
      requests.each(({ request, response }) => {
        response.setHeader('x-seen', `${request.method} ${request.url?.replace(/.*\?/, '')}`).end();
      });
      for (const [index, reader] of gets.entries()) {
        const { headers } = await reader.ended;
        expect(headers['x-seen']).toBe(`GET ${targets[index]?.replace(/.*\?/, '')}`);
      }
      expect((await head.ended).headers['x-seen']).toBe(`HEAD ${target.replace(/.*\?/, '')}`);
    });
  });

  it('bring a reader that comes too late for a replay a stream of its own', async () => {
    const { target, requests } = sharing.newRead(EVENT_READS[0]?.target ?? String);
    const text = 'x'.repeat(64 * 1024);
    let sent = '';
    for (let number = 1; sent.length < MUCH_BYTES; number++) sent += event(number, text);
    requests.each((request) => request.begin(200, EVENTS, sent + event(0)));
    const early = sharing.read(target);
    await early.untilText(event(0));

    const late = sharing.read(target);
    await late.untilText(event(0));
    expect(requests.all.length).toBe(2);
    for (const { response } of requests.all) response.end(event(9));
    for (const reader of [early, late]) {
      const { body, isWhole } = await reader.ended;
      expect([body.toString() === sent + event(0) + event(9), isWhole]).toEqual([true, true]);
    }
  });

  // "now" is another place for each reader: a replay would bring what was there before it came.
  it.each([
    ['stream', (name: string) => `/streams/t/${name}?offset=now&live=sse`],
    [
      'shape',
      (name: string) =>
        `/shapes/v1/shape?table=t&offset=now&handle=${name}&live=true&live_sse=true`,
    ],
  ])('of a %s from now on begin where each reader comes', async (_, targetOf) => {
    const { target, requests } = sharing.newRead(targetOf);
    const early = sharing.read(target);
    (await requests.nth(1)).begin(200, EVENTS, event(1));
    await early.untilText(event(1));

    requests.each((request) => request.begin(200, EVENTS, event(2)));
    const late = sharing.read(target);
    expect(await late.untilText(event(2))).toBe(event(2));
    expect(requests.all.length).toBe(2);
    early.leave();
    late.leave();
  });

  // The same of a long-poll: its reader would get an event that it knows of already.
  it('of a long-poll from now on wait together only until the answer has begun', async () => {
    const { target, requests } = sharing.newRead(
      (name) => `/streams/t/${name}?offset=now&live=long-poll`,
    );
    const readers = await sharing.park(2, target);
    requests.each((request) => request.answer(200, {}, 'event 1'));
    await expectAnswers(readers, 200, 'event 1');
    requests.each((request) => request.answer(200, {}, 'event 2'));
    await expectAnswers([sharing.read(target)], 200, 'event 2');
  });
});
