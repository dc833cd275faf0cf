import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Socket } from 'node:net';
import { comes, pass, settled } from '../../../test/support/fake-time.ts';
import {
  HistoryExchanges,
  LIVE_MS,
  RESPONSE_MS,
  type SentExchange,
} from '../../../test/support/history-exchanges.ts';
import type { RawRequest } from '../../../test/support/raw-store.ts';

const WHOLE = [200, 'ok', 'end'];
const LIVE = { isLive: true };
const QUARTER_MS = RESPONSE_MS / 4;
/** The end of a time is rounded up to a tenth of a second. */
const ROUNDING_MS = 200;
const POLL_MS = 35_000;

describe('a probe', () => {
  let history: HistoryExchanges;

  beforeEach(async () => {
    history = await HistoryExchanges.start();
  });
  afterEach(async () => {
    await history.stop();
    jest.restoreAllMocks();
  });

  const send: HistoryExchanges['send'] = (...request) => history.send(...request);
  const passQuarter = (): Promise<void> => pass(QUARTER_MS + ROUNDING_MS);
  /** How many requests have come, once everything that is under way has come. */
  async function count(): Promise<number> {
    await settled();
    return history.store.requests.length;
  }
  async function requestsFrom(number: number): Promise<readonly RawRequest[]> {
    await settled();
    return history.store.requests.slice(number - 1);
  }
  const closed = (socket: Socket | undefined): Promise<void> =>
    comes('the end of a connection', () => socket?.destroyed);
  const failures = () => history.calls.map(([, failure]) => failure ?? 'none');

  // Kept connections went silent: 40 of 40 reads and appends were 502, each after 15 s, for a minute.
  it('is the request itself on a new connection, after a quarter of the time without a byte', async () => {
    const [kept] = await history.keep(1);
    const sent = send();
    await pass(QUARTER_MS - ROUNDING_MS);
    expect(await count()).toBe(2);
    await pass(2 * ROUNDING_MS);
    const probe = await history.store.nth(3);
    expect(probe.head).toBe(history.store.requests[1]?.head);
    expect(probe.socket === kept).toBe(false);
    probe.answer();
    expect(await sent.over()).toEqual(WHOLE);
    await closed(kept);
    expect(history.calls).toEqual([
      [undefined, 'stale'],
      [200, undefined],
    ]);
  });

  it('is none of what may not be repeated, and none while a body comes', async () => {
    send({ isRepeatable: false });
    const begun = send();
    await history.store.nth(2);
    for (const request of history.store.requests)
      if (request.socket.remotePort === begun.exchange.socket?.localPort)
        request.write('HTTP/1.1 200 OK\r\n\r\n');
    await comes('the head', () => begun.seen.length === 1);
    await pass(2 * QUARTER_MS);
    expect(await count()).toBe(2);
  });

  describe('that is answered first', () => {
    it('closes the connections that lay idle before, and none that answered since', async () => {
      const kept = await history.keep(3);
      const dead = send();
      await pass(1_000);
      const other = send();
      const answered = await history.store.nth(5);
      answered.answer();
      await other.over();
      await pass(QUARTER_MS - 1_000 + ROUNDING_MS);
      (await history.store.nth(6)).answer();
      expect(await dead.over()).toEqual(WHOLE);
      await comes(
        'the end of two connections',
        () => kept.filter((each) => each.destroyed).length === 2,
      );
      await settled();
      expect(answered.socket.destroyed).toBe(false);
    });

    it('frees those that wait on such: each goes out again, once, on a new connection', async () => {
      const kept = await history.keep(3);
      const sent = [send(), send(), send()];
      await passQuarter();
      expect(await count()).toBe(7);
      history.store.requests[6]?.answer();
      const again = await requestsFrom(8);
      expect(again).toHaveLength(2);
      expect(again.some(({ socket }) => kept.includes(socket))).toBe(false);
      for (const request of again) request.answer();
      for (const each of sent) expect(await each.over()).toEqual(WHOLE);
      expect(failures().filter((failure) => failure === 'stale')).toHaveLength(3);
      // They need no probe any more.
      await passQuarter();
      expect(await count()).toBe(9);
    });

    it('frees one that has a probe of its own by that, and sends it no third time', async () => {
      await history.keep(2);
      const [first, second] = [send(), send()] as [SentExchange, SentExchange];
      await passQuarter();
      await passQuarter();
      expect(await count()).toBe(6);
      history.store.requests[4]?.answer();
      expect(await first.over()).toEqual(WHOLE);
      expect(await count()).toBe(6);
      history.store.requests[5]?.answer();
      expect(await second.over()).toEqual(WHOLE);
      expect(failures().filter((failure) => failure === 'stale')).toHaveLength(2);
    });

    it('sends nothing again that may not be repeated', async () => {
      await history.keep(2);
      const sent = send();
      const append = send({ isRepeatable: false });
      await history.store.nth(4);
      await passQuarter();
      (await history.store.nth(5)).answer();
      await sent.over();
      expect(await count()).toBe(5);
      expect(append.seen).toEqual([]);
    });
  });

  it('is one at a time, and the next one goes out when the last is over', async () => {
    const [first, second, third] = [send(), send(), send()];
    await passQuarter();
    expect(await count()).toBe(4);
    history.store.requests[3]?.answer();
    expect(await first?.over()).toEqual(WHOLE);
    await pass(ROUNDING_MS);
    expect(await count()).toBe(5);
    // Who has left gives its turn to another.
    third?.exchange.cancel();
    await pass(ROUNDING_MS);
    expect(await count()).toBe(6);
    history.store.requests[5]?.answer();
    expect(await second?.over()).toEqual(WHOLE);
    expect(failures()).toEqual(['stale', 'none', 'canceled', 'canceled', 'stale', 'none']);
  });

  // All that had waited for their turn probed at once, or none of them did.
  it('goes on where nothing comes on it either, and each quarter one of the others has its turn', async () => {
    const sent = [send(), send(), send(), send(), send()];
    const counts: number[] = [];
    for (let quarter = 1; quarter < 4; quarter++) {
      await passQuarter();
      counts.push(await count());
    }
    expect(counts).toEqual([6, 7, 8]);
    for (const request of history.store.requests.slice(5)) request.answer();
    for (const each of sent.slice(0, 2)) expect(await each.over()).toEqual(WHOLE);
  });

  it('is none of who has its response before its turn comes', async () => {
    const [first, second] = [send(), send()] as [SentExchange, SentExchange];
    await passQuarter();
    expect(await count()).toBe(3);
    const ofSecond = history.store.requests.find(
      ({ socket }) => socket.remotePort === second.exchange.socket?.localPort,
    );
    ofSecond?.answer();
    expect(await second.over()).toEqual(WHOLE);
    history.store.requests[2]?.answer();
    expect(await first.over()).toEqual(WHOLE);
    expect(await count()).toBe(3);
  });

  // A second attempt because the first is slow doubles the load on what is slow.
  it('changes nothing if the first attempt is answered before it', async () => {
    const kept = await history.keep(2);
    const sent = send();
    await passQuarter();
    const probe = await history.store.nth(4);
    history.store.requests[2]?.answer();
    expect(await sent.over()).toEqual(WHOLE);
    await closed(probe.socket);
    await settled();
    expect(kept.map(({ destroyed }) => destroyed)).toEqual([false, false]);
    expect(failures()).toEqual(['canceled', 'none']);
  });

  it('changes nothing if it fails, and is not sent twice', async () => {
    const sent = send();
    await passQuarter();
    (await history.store.nth(2)).socket.resetAndDestroy();
    await comes('its end', () => history.calls.length === 1);
    await passQuarter();
    expect(await count()).toBe(2);
    history.store.requests[0]?.answer();
    expect(await sent.over()).toEqual(WHOLE);
  });

  describe('of a request whose first attempt is lost', () => {
    it.each([
      ['a new connection', 0, 'unreachable'],
      ['a kept one', 1, 'stale'],
    ])('on %s decides', async (_, kept, failure) => {
      await history.keep(kept);
      const sent = send();
      await passQuarter();
      const [first, probe] = await requestsFrom(kept + 1);
      first?.socket.resetAndDestroy();
      await comes('the end of the first attempt', () => history.calls.length === 1);
      expect(sent.seen).toEqual([]);
      expect(await count()).toBe(kept + 2);
      probe?.answer();
      expect(await sent.over()).toEqual(WHOLE);
      expect(failures()).toEqual([failure, 'none']);
    });

    it('fails with it', async () => {
      const sent = send();
      await passQuarter();
      const [first, probe] = await requestsFrom(1);
      first?.socket.resetAndDestroy();
      await comes('the end of the first attempt', () => history.calls.length === 1);
      probe?.socket.resetAndDestroy();
      expect(await sent.over()).toEqual(['upstream_unreachable']);
      expect(sent.failure).toMatchObject({ reached: 'sent', isTimeout: false });
    });

    // It said that nothing was sent of a command that the runtime may have had.
    it.each([
      ['sent', false, (first: RawRequest) => void first.socket.resetAndDestroy()],
      ['nowhere', true, () => undefined],
    ])('says how far either came: %s', async (reached, isSilent, lose) => {
      history.names.isSilent = isSilent;
      const sent = send();
      if (!isSilent) await history.store.nth(1);
      history.names.isSilent = true;
      await passQuarter();
      for (const request of history.store.requests) lose(request);
      await pass(2_500);
      expect(sent.failure).toMatchObject({ reached, isTimeout: false });
    });
  });

  // The first attempt still waits for its connection, and the probe was sent.
  it('counts for how far its request came when the time is over', async () => {
    await history.stop();
    history = await HistoryExchanges.start({ GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: '20000' });
    history.names.isSilent = true;
    const sent = send();
    await settled();
    history.names.isSilent = false;
    await passQuarter();
    expect(await count()).toBe(1);
    await pass(RESPONSE_MS - QUARTER_MS);
    expect(sent.failure).toMatchObject({ reached: 'sent', isTimeout: true });
  });

  it('is closed with its request', async () => {
    const [first, second] = [send(), send()];
    await passQuarter();
    const probe = await history.store.nth(3);
    first?.exchange.cancel();
    await closed(probe.socket);
    await pass(ROUNDING_MS);
    (await history.store.nth(4)).answer();
    expect(await second?.over()).toEqual(WHOLE);
  });

  it('that is not answered either takes the idle connections along when the time is over', async () => {
    const kept = await history.keep(2);
    const sent = send();
    await pass(RESPONSE_MS + ROUNDING_MS);
    expect(sent.seen).toEqual(['upstream_timeout']);
    expect(sent.failure).toMatchObject({ isTimeout: true, reached: 'sent' });
    for (const socket of kept) await closed(socket);
    await closed(history.store.requests[3]?.socket);
    expect(failures()).toEqual(['canceled', 'timeout']);
  });

  // The loopback network has one address on other systems.
  (process.platform === 'linux' ? it : it.skip)(
    'goes to another address of the name, and the silent one comes last from then on',
    async () => {
      await history.stop();
      history = await HistoryExchanges.start({}, '0.0.0.0');
      history.names.addresses = ['127.0.0.1', '127.0.0.2'];
      jest.spyOn(Math, 'random').mockReturnValue(0);
      const sent = send();
      expect((await history.store.nth(1)).socket.localAddress).toBe('127.0.0.1');
      await passQuarter();
      const probe = await history.store.nth(2);
      expect(probe.socket.localAddress).toBe('127.0.0.2');
      send({ isRepeatable: false });
      expect((await history.store.nth(3)).socket.localAddress).toBe('127.0.0.1');
      probe.answer();
      await sent.over();
      send({ isRepeatable: false });
      send({ isRepeatable: false });
      expect((await history.store.nth(5)).socket.localAddress).toBe('127.0.0.2');
    },
  );

  describe('of a live read', () => {
    it('goes out when it is silent for longer than its protocol allows', async () => {
      expect(history.upstream.probesAfterMs(true)).toBe(POLL_MS);
      send(LIVE);
      await pass(POLL_MS - ROUNDING_MS);
      expect(await count()).toBe(1);
      await pass(2 * ROUNDING_MS);
      expect(await count()).toBe(2);
    });

    /** A live read and its probe, and a connection that lies idle. */
    async function probed(): Promise<{ sent: SentExchange; first: RawRequest; probe: RawRequest }> {
      await history.keep(2);
      const sent = send(LIVE);
      await pass(POLL_MS + ROUNDING_MS);
      const [first, probe] = (await requestsFrom(3)) as [RawRequest, RawRequest];
      return { sent, first, probe };
    }
    const idle = (): Socket | undefined =>
      history.store.requests
        .slice(0, 2)
        .find(({ socket }) => socket !== history.store.requests[2]?.socket)?.socket;

    it('proves nothing if the same event answers both, in whichever order', async () => {
      const { sent, first, probe } = await probed();
      probe.answer();
      expect(await sent.over()).toEqual(WHOLE);
      await pass(900);
      first.answer('late');
      await closed(first.socket);
      await pass(200);
      expect([sent.seen, idle()?.destroyed]).toEqual([WHOLE, false]);
      expect(failures()).toEqual(['none', 'canceled']);
    });

    it('proves that the connection has died if the event does not answer the read within a second', async () => {
      const { sent, first, probe } = await probed();
      probe.answer();
      expect(await sent.over()).toEqual(WHOLE);
      await pass(900);
      expect(first.socket.destroyed).toBe(false);
      await pass(100);
      await closed(first.socket);
      await closed(idle());
      expect(failures()).toEqual(['none', 'stale']);
    });

    // A connection that had died without a word was joined by every new reader too: none got an event in 290 s.
    it('that stays silent ends with it after three quarters of the time', async () => {
      const { sent, first, probe } = await probed();
      await pass(0.75 * LIVE_MS - POLL_MS - 2 * ROUNDING_MS);
      expect(sent.seen).toEqual([]);
      await pass(2 * ROUNDING_MS);
      expect(sent.seen).toEqual(['upstream_timeout']);
      for (const { socket } of [first, probe]) await closed(socket);
    });
  });
});
