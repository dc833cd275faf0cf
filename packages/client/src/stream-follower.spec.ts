import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AgentGateway, type LiveState, type TimelineOptions } from './index.ts';
import { FakeStore, fakePage, type FakePage } from '../../../test/support/fake-page.ts';

let page: FakePage;
let store: FakeStore;
let left: AbortController;
let states: string[];
let seqs: number[];

beforeEach(async () => {
  // Loaded before the clock stands still.
  await import('@durable-streams/client');
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
  page = fakePage();
  store = new FakeStore();
  left = new AbortController();
  states = [];
  seqs = [];
});
afterEach(async () => {
  left.abort();
  await settle();
  jest.restoreAllMocks();
  jest.useRealTimers();
  page.remove();
});

/** Everything that needs no time happens. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
}

async function pass(ms: number): Promise<void> {
  for (let leftMs = ms; leftMs > 0; leftMs -= 500) {
    await jest.advanceTimersByTimeAsync(Math.min(500, leftMs));
    await settle();
  }
}

function read(options: TimelineOptions = {}): Promise<void> {
  const gateway = new AgentGateway({ url: 'http://gateway.test', fetch: store.fetch });
  const onState = ({ name }: LiveState): void => void states.push(name);
  const timeline = gateway.timeline('chat/a1', { signal: left.signal, onState, ...options });
  return timeline.subscribe(({ seq }) => void seqs.push(seq));
}

/** Answers what is asked for until the read is live. */
async function goLive(): Promise<void> {
  (await store.request(1)).page([{ seq: 0 }], '0_1');
  (await store.request(2)).open().send([], '0_1');
  await settle();
  expect([states, seqs, store.requests.length]).toEqual([['connecting', 'live'], [0], 2]);
}

const last = () => store.requests.at(-1)!;

describe('a live read of a page', () => {
  // The protocol's client never read again after the second time, and the state stayed `live`.
  it('comes back when the page was hidden and shown twice within a round trip', async () => {
    void read();
    await goLive();
    page.hide();
    page.show();
    page.hide();
    page.show();
    await settle();
    expect(last()).toMatchObject({ offset: '0_1', live: 'sse' });
    last()
      .open()
      .send([{ seq: 1 }], '0_2');
    await settle();
    expect([states.at(-1), seqs]).toEqual(['live', [0, 1]]);
  });

  // Paused between the head and the body, the body was open and nobody read it.
  it('comes back when the page was hidden between the head of an answer and its body', async () => {
    void read();
    (await store.request(1)).page([], '0_1');
    (await store.request(2)).open();
    page.hide();
    page.show();
    await settle();
    last()
      .open()
      .send([{ seq: 0 }], '0_2');
    await settle();
    expect([states.at(-1), seqs]).toEqual(['live', [0]]);
  });

  it('is paused while the page is hidden: nothing is open', async () => {
    void read();
    await goLive();
    page.hide();
    await pass(600_000);
    expect(states.slice(2)).toEqual(['paused']);
    expect(store.requests).toHaveLength(2);
    expect(last().signal?.aborted).toBe(true);
    page.show();
    await settle();
    expect(states.slice(3)).toEqual(['connecting']);
    last().open().send([], '0_1');
    await settle();
    expect(states.slice(4)).toEqual(['live']);
  });

  it('begins in a page that is hidden once that is shown', async () => {
    page.hide();
    void read();
    await settle();
    expect([states, store.requests.length]).toEqual([['paused'], 0]);
    page.show();
    expect((await store.request(1)).offset).toBe('-1');
  });

  it('is read to its end in a hidden page if it has one', async () => {
    page.hide();
    const reading = read({ live: false });
    (await store.request(1)).page([{ seq: 0 }], '0_1');
    await reading;
    expect(seqs).toEqual([0]);
  });

  it('costs one request for each time that the page is shown and has the focus again', async () => {
    void read();
    await goLive();
    for (let round = 0; round < 20; round++) {
      await pass(6_000);
      page.hide();
      await pass(6_000);
      page.show();
      page.tell('focus');
      page.tell('pageshow');
      await settle();
      last().open().send([], '0_1');
      await settle();
    }
    expect(states.at(-1)).toBe('live');
    expect(store.requests).toHaveLength(22);
  });

  // It was 87 s behind, and the state was `live`.
  it.each(['online', 'focus', 'pageshow'] as const)(
    'proves its connection after %s, and again where the new one is dead too',
    async (event) => {
      void read();
      await goLive();
      await pass(6_000);
      page.tell(event);
      await settle();
      expect([store.requests.length, states.at(-1)]).toEqual([3, 'live']);
      // An idle connection of the browser, which has died as well.
      await pass(4_000);
      expect(store.requests).toHaveLength(4);
      last()
        .open()
        .send([{ seq: 1 }], '0_2');
      await settle();
      expect([states.at(-1), seqs]).toEqual(['live', [0, 1]]);
    },
  );

  it('is left alone if it has heard something within 5 s', async () => {
    void read();
    await goLive();
    await pass(4_000);
    page.tell('focus');
    await settle();
    expect(store.requests).toHaveLength(2);
  });

  it('proves its connection after the machine has slept, which no event tells', async () => {
    void read();
    await goLive();
    jest.setSystemTime(Date.now() + 3_600_000);
    await pass(1_000);
    expect(store.requests).toHaveLength(3);
    last().open().send([], '0_1');
    await pass(10_000);
    expect([store.requests.length, states.at(-1)]).toEqual([3, 'live']);
  });

  it('gives a slow network more time after two proofs that did not come', async () => {
    void read();
    await goLive();
    await pass(6_000);
    page.tell('online');
    await pass(60_000);
    // After 3, 3, 6, 12 and 24 s.
    expect(store.requests.length).toBeLessThanOrEqual(8);
    expect(states.at(-1)).not.toBe('live');
  });

  it('asks for a token again if the request for one does not answer', async () => {
    let minted = 0;
    const gateway = new AgentGateway({
      url: 'http://gateway.test',
      fetch: store.fetch,
      authCallback: () => {
        minted += 1;
        // The second one hangs on a dead connection.
        return minted === 2
          ? new Promise(() => undefined)
          : Promise.resolve({ token: 'one', ttlSeconds: 60 });
      },
    });
    const onState = ({ name }: LiveState): void => void states.push(name);
    void gateway.timeline('chat/a1', { signal: left.signal, onState }).subscribe(() => undefined);
    await goLiveOf();
    jest.setSystemTime(Date.now() + 3_600_000);
    await pass(40_000);
    page.tell('online');
    await pass(7_000);
    expect(minted).toBeGreaterThanOrEqual(3);
    // It may be in the pause before its next request, which is of random length.
    while (last().signal?.aborted) await pass(500);
    last().open().send([], '0_1');
    await settle();
    expect(states.at(-1)).toBe('live');
  });

  // The protocol's client opened an event stream that nobody could end any more.
  it('asks for nothing more after an abort that comes between two event streams', async () => {
    void read();
    await goLive();
    // It draws how long it waits before it connects again: here as short as can be, with the abort in it.
    jest.spyOn(Math, 'random').mockImplementation(() => {
      left.abort();
      return 0;
    });
    last().end();
    await settle();
    await pass(1_000);
    expect(left.signal.aborted).toBe(true);
    expect(store.requests).toHaveLength(2);
  });
});

/** Like `goLive`, without the events. */
async function goLiveOf(): Promise<void> {
  (await store.request(1)).page([], '0_1');
  (await store.request(2)).open().send([], '0_1');
  await settle();
  expect(states).toEqual(['connecting', 'live']);
}

describe('a store that went back', () => {
  it('is told, and the events come again from the start', async () => {
    const resets: unknown[] = [];
    void read({ onReset: () => resets.push(seqs.splice(0)) });
    (await store.request(1)).page([{ seq: 0 }, { seq: 1 }, { seq: 2 }], '0_3');
    (await store.request(2)).open().send([], '0_3');
    await settle();
    page.hide();
    page.show();
    // The store was restored from a copy, and something new was written.
    (await store.request(3)).open().send([], '0_2');
    (await store.request(4)).open().send([{ seq: 0 }, { seq: 1 }], '0_2');
    await settle();
    expect(store.requests[3]).toMatchObject({ offset: '-1' });
    expect([resets, seqs, states.at(-1)]).toEqual([[[0, 1, 2]], [0, 1], 'live']);
  });
});

describe('a 4xx that is not of the gateway', () => {
  const portal = (number: number) =>
    store.request(number).then((request) => request.answer(403, '<html>Sign in', {}));

  it('passes if it ends within a minute', async () => {
    void read();
    await portal(1);
    await pass(1_000);
    await portal(2);
    await settle();
    expect(states.at(-1)).toBe('waiting');
    await pass(2_000);
    (await store.request(3)).page([{ seq: 0 }], '0_1');
    await settle();
    expect(seqs).toEqual([0]);
  });

  it('is final after a minute of nothing else', async () => {
    const reading = read();
    const ended = expect(reading).rejects.toMatchObject({ status: 403, code: 'http_403' });
    let answered = 0;
    for (let waitedMs = 0; waitedMs < 70_000; waitedMs += 500) {
      while (store.requests.length > answered) await portal(++answered);
      await pass(500);
    }
    await ended;
    expect(answered).toBeGreaterThan(5);
  });

  it.each([404, 400])('is final at once if it is of the store: %i', async (status) => {
    const reading = read({ waitForStream: false });
    (await store.request(1)).answer(status, 'no', { 'x-request-id': 'r' });
    await expect(reading).rejects.toMatchObject({ status, message: `${status} no` });
  });
});
