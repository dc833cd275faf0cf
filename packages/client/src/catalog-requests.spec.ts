import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { fakePage, FakeStore, type FakePage } from '../../../test/support/fake-page.ts';
import { CatalogRequests } from './catalog-requests.ts';
import { Credential } from './credential.ts';
import { StateTeller } from './live-state.ts';
import { Transport } from './transport.ts';

const LONG_POLL = 'http://gateway.test/shapes/v1/shape?offset=3_0&handle=h&live=true&cursor=9';

let page: FakePage;
let engine: FakeStore;
let states: string[];
let requests: CatalogRequests;
let unwatch: () => void;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
  page = fakePage();
  engine = new FakeStore();
  states = [];
  const credential = new Credential({ apiKey: 'key' });
  const transport = new Transport({ url: 'http://gateway.test', credential, fetch: engine.fetch });
  const teller = new StateTeller(({ name }) => states.push(name));
  requests = new CatalogRequests(transport, teller, true);
  unwatch = requests.watch();
  teller.enter({ name: 'live' });
});
afterEach(() => {
  unwatch();
  page.remove();
  jest.useRealTimers();
});

async function pass(ms: number): Promise<void> {
  await jest.advanceTimersByTimeAsync(ms);
  for (let turn = 0; turn < 20; turn++) await nextTurn();
}

const asked = () => engine.requests.map(({ live }) => (live === null ? 'at once' : 'long-poll'));

describe('a long-poll of the catalog', () => {
  it('is held back while the page is hidden, and sent again as it was', async () => {
    const response = requests.fetch(LONG_POLL);
    await pass(1_000);
    page.hide();
    page.show();
    page.hide();
    await pass(60_000);
    expect(asked()).toEqual(['long-poll']);
    expect(states).toEqual(['live', 'paused', 'connecting', 'paused']);
    expect(engine.requests[0]?.signal?.aborted).toBe(true);
    page.show();
    await pass(0);
    engine.requests[1]?.page([], '3_0');
    await pass(0);
    expect(asked()).toEqual(['long-poll', 'at once', 'long-poll']);
    expect(states.slice(4)).toEqual(['connecting', 'live']);
    engine.requests[2]?.page([{ id: 1 }], '4_0');
    expect(await (await response).json()).toEqual([{ id: 1 }]);
  });

  it('is sent again at once when the page was hidden for a moment', async () => {
    void requests.fetch(LONG_POLL).catch(() => undefined);
    await pass(1_000);
    page.hide();
    page.show();
    await pass(0);
    expect([asked(), states]).toEqual([
      ['long-poll', 'long-poll'],
      ['live', 'paused', 'connecting', 'live'],
    ]);
  });

  it('proves its connection after a wake-up, and again where the new one is dead too', async () => {
    void requests.fetch(LONG_POLL).catch(() => undefined);
    await pass(6_000);
    page.tell('online');
    page.tell('focus');
    await pass(0);
    expect([asked(), states]).toEqual([['long-poll', 'at once'], ['live']]);
    await pass(3_000);
    expect([asked(), states]).toEqual([
      ['long-poll', 'at once', 'at once'],
      ['live', 'connecting'],
    ]);
    engine.requests[2]?.page([], '3_0');
    await pass(0);
    expect([asked().slice(3), states.slice(2)]).toEqual([['long-poll'], ['live']]);
  });
});
