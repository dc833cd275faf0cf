import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { fakeTime, pass } from '../../../test/support/fake-time.ts';
import { GatewayError } from '../../platform/errors/gateway-error.ts';
import type { GatewayConfig } from '../../contract/gateway-config.ts';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import type { HeaderList } from '../../platform/http/header-list.ts';
import type { AnswerHandler, Exchange } from '../upstream/exchange.ts';
import { durableStreams } from '../upstream/protocols/durable-streams.ts';
import { MAX_WAIT_MS, ReadGroup } from './read-group.ts';
import type { ReadCall } from './proxy-call.ts';
import { ReadSharing } from './read-sharing.ts';
import type { AnswerReader, SharedAnswer } from './shared-answer.ts';

/** A request at the upstream, which answers when the test says so. */
class FakeRequest {
  isCancelled = false;
  isOver = false;
  private readonly handler: SharedAnswer;

  constructor(handler: AnswerHandler) {
    this.handler = handler as SharedAnswer;
  }

  pause(): void {}

  resume(): void {}

  cancel(): void {
    this.isCancelled = true;
    this.isOver = true;
  }

  begin(headers: HeaderList = []): void {
    this.handler.onHead(200, headers);
    this.handler.deliver();
  }

  /** Begins an answer to a client that takes nothing of it. */
  beginSlow(): void {
    this.begin();
    for (let i = 0; i < 2; i++) this.handler.onChunk(Buffer.alloc(65_536));
  }

  answer(): void {
    this.begin();
    this.end();
  }

  end(): void {
    this.isOver = true;
    this.handler.onEnd();
    this.handler.deliver();
  }

  fail(): void {
    this.isOver = true;
    const error = new GatewayError('upstream_unreachable', 'lost');
    this.handler.onFailure({ error, reached: 'sent', isTimeout: false, cause: undefined });
  }
}

/** A reader as far as a group and its answers know it. Its client takes nothing. */
class FakeReader implements AnswerReader {
  listIndex: number | undefined;
  writtenTo = 0;
  takenTo = 0;
  timedPlace: AnswerReader['timedPlace'];
  isFull = false;
  readonly call: ReadCall;
  outcome: 'waiting' | 'answered' | 'failed' | 'gone' = 'waiting';
  private place: SharedAnswer | undefined;

  constructor(requests: FakeRequest[], target = '/x') {
    this.call = {
      target,
      clientHeaders: [],
      upstream: { protocol: durableStreams },
      context: {},
      send: (handler: AnswerHandler) => {
        const request = new FakeRequest(handler);
        requests.push(request);
        return request as unknown as Exchange;
      },
    } as unknown as ReadCall;
  }

  join(answer: SharedAnswer): void {
    this.place = answer;
    answer.join(this);
  }

  get share(): string | undefined {
    return this.call.share;
  }

  wake(): void {
    if (this.outcome === 'answered') this.isFull = true;
    this.outcome = 'answered';
  }

  endWith(): void {}

  endEarly(): void {}

  dropIn(): void {}

  shed(): void {}

  fail(): void {
    this.leave('failed');
  }

  leave(outcome: FakeReader['outcome'] = 'gone'): void {
    this.outcome = outcome;
    this.place?.leave(this);
  }
}

function newGroup({ isLive = false } = {}) {
  const requests: FakeRequest[] = [];
  let timesIdle = 0;
  const group = new ReadGroup(isLive, new HeldBytes(1_000_000), () => timesIdle++);
  const state = {
    /** Whether nothing refers to it any more. */
    get isIdle(): boolean {
      return timesIdle > 0;
    },
    get timesIdle(): number {
      return timesIdle;
    },
  };
  const add = (): FakeReader => {
    const reader = new FakeReader(requests);
    group.add(reader);
    return reader;
  };
  const addMany = (count: number): FakeReader[] => Array.from({ length: count }, add);
  return { requests, state, add, addMany };
}

const EVENTS = ['Content-Type', 'text/event-stream'];
const shares = (readers: FakeReader[]): (string | undefined)[] => readers.map(({ share }) => share);
const outcomes = (readers: FakeReader[]): Set<string> =>
  new Set(readers.map(({ outcome }) => outcome));

describe('a group of catch-up reads', () => {
  beforeEach(fakeTime);
  afterEach(() => void jest.useRealTimers());

  it('sends the first read at once, and needs no timer for it', () => {
    const { requests, state, add } = newGroup();
    const reader = add();
    expect([requests.length, jest.getTimerCount()]).toEqual([1, 0]);
    requests[0]?.answer();
    expect([reader.outcome, state.isIdle]).toEqual(['answered', true]);
  });

  it('sends one request for all who came during the last one, as soon as that is over', () => {
    const { requests, state, add, addMany } = newGroup();
    const first = add();
    const later = addMany(3);
    expect(requests.length).toBe(1);
    requests[0]?.answer();
    expect([first.outcome, outcomes(later)]).toEqual(['answered', new Set(['waiting'])]);
    expect(requests.length).toBe(2);
    requests[1]?.answer();
    expect([outcomes(later), state.isIdle]).toEqual([new Set(['answered']), true]);
    expect(jest.getTimerCount()).toBe(0);
  });

  // A read that came 200 ms after a slow equal one took 2,027 ms; alone it took 20 ms.
  it('sends another request beside a slow one after a short wait', () => {
    const { requests, state, add } = newGroup();
    const first = add();
    jest.advanceTimersByTime(200);
    const [second, third] = [add(), add()];
    jest.advanceTimersByTime(MAX_WAIT_MS - 1);
    expect(requests.length).toBe(1);
    jest.advanceTimersByTime(1);
    expect(requests.length).toBe(2);
    requests[1]?.answer();
    expect([second.outcome, third.outcome]).toEqual(['answered', 'answered']);
    expect([first.outcome, state.isIdle]).toEqual(['waiting', false]);
    requests[0]?.answer();
    expect([first.outcome, state.isIdle]).toEqual(['answered', true]);
  });

  it('answers no reader by a request that went out before it came, whichever is answered first', () => {
    const { requests, add } = newGroup();
    add();
    const second = add();
    jest.advanceTimersByTime(MAX_WAIT_MS);
    const third = add();
    requests[0]?.answer();
    expect([second.outcome, third.outcome]).toEqual(['waiting', 'waiting']);
    requests[1]?.answer();
    expect([second.outcome, third.outcome]).toEqual(['answered', 'waiting']);
    requests[2]?.answer();
    expect([third.outcome, requests.length]).toEqual(['answered', 3]);
  });

  it('sends one more request in that time at most, while the upstream is silent', () => {
    const { requests, state, addMany } = newGroup();
    const readers: FakeReader[] = [];
    for (let ms = 0; ms < 20 * MAX_WAIT_MS; ms++) {
      readers.push(...addMany(5));
      jest.advanceTimersByTime(1);
    }
    jest.advanceTimersByTime(MAX_WAIT_MS);
    expect(requests.length).toBe(21);
    expect(jest.getTimerCount()).toBe(0);
    for (const request of requests) request.answer();
    expect([outcomes(readers), state.isIdle]).toEqual([new Set(['answered']), true]);
    expect(requests.length).toBe(21);
  });

  it('has two requests in progress at most, if each but the first is answered in that time', () => {
    const { requests, state, add } = newGroup();
    add();
    const inProgress = (): FakeRequest[] => requests.filter(({ isOver }) => !isOver);
    for (let time = 0; time < 20; time++) {
      add();
      jest.advanceTimersByTime(MAX_WAIT_MS);
      expect(inProgress().length).toBe(2);
      inProgress()[1]?.answer();
    }
    expect(requests.length).toBe(21);
    requests[0]?.answer();
    expect(state.isIdle).toBe(true);
  });

  it('sends at once for those who wait when a slow client sets the pace of the last answer', () => {
    const { requests, add } = newGroup();
    add();
    add();
    requests[0]?.beginSlow();
    expect([requests.length, jest.getTimerCount()]).toEqual([2, 0]);
  });

  it('asks for nothing once all who waited have left', () => {
    const { requests, state, add, addMany } = newGroup();
    add();
    for (const reader of addMany(10_000)) reader.leave();
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(MAX_WAIT_MS);
    requests[0]?.answer();
    expect([requests.length, state.isIdle, jest.getTimerCount()]).toEqual([1, true, 0]);
  });

  it('cancels a request whose readers have left, and sends at once for those who wait', () => {
    const { requests, add } = newGroup();
    const first = add();
    const second = add();
    first.leave();
    expect([requests[0]?.isCancelled, requests.length]).toEqual([true, 2]);
    requests[1]?.answer();
    expect([second.outcome, jest.getTimerCount()]).toEqual(['answered', 0]);
  });
});

describe('a group of live reads', () => {
  it('sends at once, and takes readers in until the response begins', () => {
    const { requests, state, add } = newGroup({ isLive: true });
    const readers = [add(), add()];
    requests[0]?.begin(['Content-Length', '0']);
    readers.push(add());
    expect(requests.length).toBe(2);
    expect(shares(readers)).toEqual(['first', 'joined', 'first']);
    requests[0]?.end();
    expect(state.isIdle).toBe(false);
    requests[1]?.answer();
    expect([outcomes(readers), state.isIdle]).toEqual([new Set(['answered']), true]);
  });

  it('lets later readers join an event stream until it ends', () => {
    const { requests, state, add } = newGroup({ isLive: true });
    const readers = [add()];
    requests[0]?.begin(EVENTS);
    readers.push(add());
    expect([requests.length, shares(readers)]).toEqual([1, ['first', 'joined']]);
    expect(state.isIdle).toBe(false);
    requests[0]?.end();
    expect(state.isIdle).toBe(true);
  });

  it('lets no later reader join an event stream that depends on more than its request', () => {
    const { requests, state, add } = newGroup({ isLive: true });
    const readers = [add(), add()];
    requests[0]?.begin([...EVENTS, 'Vary', '*']);
    expect([state.isIdle, shares(readers)]).toEqual([true, ['first', 'apart']]);
  });

  it('is forgotten when its readers have left before the response, or it fails', () => {
    const left = newGroup({ isLive: true });
    for (const reader of left.addMany(3)) reader.leave();
    expect([left.requests[0]?.isCancelled, left.state.isIdle]).toEqual([true, true]);

    const failed = newGroup({ isLive: true });
    const readers = failed.addMany(2);
    failed.requests[0]?.fail();
    expect([outcomes(readers), failed.state.isIdle]).toEqual([new Set(['failed']), true]);
  });

  // A live read whose connection had died without a word was joined by every new reader: none got an event in 290 s.
  describe('of which one is silent for longer than its protocol allows', () => {
    beforeEach(fakeTime);
    afterEach(() => void jest.useRealTimers());

    it('sends another one, which further readers join', async () => {
      const { requests, state, add } = newGroup({ isLive: true });
      const readers = [add()];
      await pass(34_900);
      readers.push(add());
      await pass(200);
      readers.push(add(), add());
      expect([requests.length, shares(readers)]).toEqual([
        2,
        ['first', 'joined', 'first', 'joined'],
      ]);
      for (const request of requests) request.answer();
      expect([outcomes(readers), state.isIdle]).toEqual([new Set(['answered']), true]);
    });

    it('sends another one beside an event stream, too', async () => {
      const { requests, add } = newGroup({ isLive: true });
      add();
      requests[0]?.begin(EVENTS);
      await pass(59_900);
      expect(add().share).toBe('joined');
      await pass(200);
      expect(add().share).toBe('first');
      requests[1]?.begin(EVENTS);
      expect(add().share).toBe('joined');
      expect(requests.length).toBe(2);
    });
  });
});

describe('ReadSharing', () => {
  const LIVE = '/x?offset=1&live=sse';

  function newSharing(sharedReads = true) {
    const requests: FakeRequest[] = [];
    const sharing = new ReadSharing({ sharedReads } as GatewayConfig, new HeldBytes(1_000_000));
    const add = (target: string): FakeReader => {
      const reader = new FakeReader(requests, target);
      sharing.add(reader.call, reader);
      return reader;
    };
    return { requests, add };
  }

  it('gives the readers of equal reads one request, and no others', () => {
    const { requests, add } = newSharing();
    const readers = [add(LIVE), add(LIVE), add(`${LIVE}&x`)];
    expect([requests.length, shares(readers)]).toEqual([2, ['first', 'joined', 'first']]);
  });

  it('takes in doubt a read for one that is answered at once', () => {
    const { requests, add } = newSharing();
    const readers = [add('/x?live=sse&live=sse'), add('/x?live=sse&live=sse')];
    requests[0]?.answer();
    expect([requests.length, outcomes(readers.slice(0, 1))]).toEqual([2, new Set(['answered'])]);
  });

  it.each([
    ['is from now', true, `${LIVE}&offset=now`],
    ['comes while sharing is off', false, LIVE],
  ])('gives each live read that %s a request of its own', (_, isOn, target) => {
    const { requests, add } = newSharing(isOn);
    const readers = [add(target), add(target)];
    expect([requests.length, shares(readers)]).toEqual([2, ['apart', 'apart']]);
  });

  it('gives a reader that cannot share an answer one of its own', () => {
    const { requests, add } = newSharing();
    const readers = [add(LIVE), add(LIVE)];
    requests[0]?.begin([...EVENTS, 'Vary', '*']);
    expect([requests.length, shares(readers)]).toEqual([2, ['first', 'apart']]);
  });

  describe('of a stream that was silent', () => {
    beforeEach(fakeTime);
    afterEach(() => void jest.useRealTimers());

    // The end of the silent one let the readers of the next group send a request each.
    it('goes on with those that came after it when it ends', async () => {
      const { requests, add } = newSharing();
      add(LIVE);
      requests[0]?.begin(EVENTS);
      await pass(60_100);
      add(LIVE);
      requests[1]?.begin(EVENTS);
      requests[1]?.end();
      const third = add(LIVE);
      requests[0]?.end();
      expect(shares([third, add(LIVE)])).toEqual(['first', 'joined']);
      expect(requests.length).toBe(3);
    });
  });
});
