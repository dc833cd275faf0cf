import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { MAX_WAIT_MS, ReadGroup } from './read-group.ts';
import { ReadHead } from './read-head.ts';
import type { Reader } from './reader.ts';
import type { ReadSharing } from './read-sharing.ts';
import type { ReadCall } from './read-call.ts';
import type { ReadObserver, UpstreamRead } from './upstream-read.ts';

const MAX_WAITING_BYTES = 65_536;

/** A reader as far as a group and its requests know it. */
class FakeReader {
  readonly call = {
    upstream: { protocol: { safeEvent: undefined } },
    context: {},
    setShare: (share: string) => void (this.share = share),
  } as ReadCall;
  place: Reader['place'];
  share: string | undefined;
  outcome: 'waiting' | 'answered' | 'failed' | 'gone' = 'waiting';

  begin(): void {
    this.outcome = 'answered';
  }

  answer(): void {
    this.outcome = 'answered';
  }

  wake(): void {}

  awaitHead(): void {}

  onHead(): void {}

  fail(): void {
    this.leave('failed');
  }

  leave(outcome: FakeReader['outcome'] = 'gone'): void {
    this.outcome = outcome;
    this.place?.leave(this as unknown as Reader);
  }
}

/** A request at the upstream, which answers when the test says so. */
class FakeRequest {
  isCancelled = false;
  isOver = false;
  observer: ReadObserver;
  readonly call: ReadCall;

  constructor(call: ReadCall, observer: ReadObserver) {
    this.call = call;
    this.observer = observer;
  }

  start(): void {}

  pause(): void {}

  resume(): void {}

  cancel(): void {
    this.isCancelled = true;
    this.isOver = true;
  }

  /** Begins an answer with so many bytes that its client's pace counts from now on. */
  beginLarge(): void {
    this.observer.onHead(new ReadHead(200, []));
    this.observer.onChunk(Buffer.alloc(MAX_WAITING_BYTES));
  }

  answer(): void {
    this.begin(new ReadHead(200, []));
    this.end();
  }

  begin(head: ReadHead): void {
    this.observer.onHead(head);
  }

  end(): void {
    this.isOver = true;
    this.observer.onEnd();
  }
}

function newGroup({ isLive = false } = {}) {
  const requests: FakeRequest[] = [];
  const groups = new Map<string, ReadGroup>();
  const sharing = {
    groups,
    prepare: (call: ReadCall, observer: ReadObserver): UpstreamRead => {
      const request = new FakeRequest(call, observer);
      requests.push(request);
      return request as unknown as UpstreamRead;
    },
    held: new HeldBytes(1_000_000),
    sendAlone: () => undefined,
  } as unknown as ReadSharing;
  const group = new ReadGroup(sharing, 'key', isLive);
  groups.set('key', group);
  const state = {
    get isEmpty(): boolean {
      return groups.size === 0;
    },
  };
  const add = (): FakeReader => {
    const reader = new FakeReader();
    group.add(reader as unknown as Reader);
    return reader;
  };
  const addMany = (count: number): FakeReader[] => Array.from({ length: count }, add);
  return { requests, state, add, addMany };
}

const outcomes = (readers: FakeReader[]): Set<string> =>
  new Set(readers.map(({ outcome }) => outcome));

describe('a group of catch-up reads', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('sends the first read at once, and needs no timer for it', () => {
    const { requests, state, add } = newGroup();
    const reader = add();
    expect([requests.length, jest.getTimerCount()]).toEqual([1, 0]);
    requests[0]?.answer();
    expect([reader.outcome, state.isEmpty]).toEqual(['answered', true]);
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
    expect([outcomes(later), state.isEmpty]).toEqual([new Set(['answered']), true]);
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
    expect([first.outcome, state.isEmpty]).toEqual(['waiting', false]);
    requests[0]?.answer();
    expect([first.outcome, state.isEmpty]).toEqual(['answered', true]);
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
    expect([outcomes(readers), state.isEmpty]).toEqual([new Set(['answered']), true]);
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
    expect(state.isEmpty).toBe(true);
  });

  it('sends at once for those who wait when a slow client sets the pace of the last answer', () => {
    const { requests, add } = newGroup();
    add();
    add();
    requests[0]?.beginLarge();
    expect([requests.length, jest.getTimerCount()]).toEqual([2, 0]);
  });

  it('asks for nothing once all who waited have left', () => {
    const { requests, state, add, addMany } = newGroup();
    add();
    for (const reader of addMany(10_000)) reader.leave();
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(MAX_WAIT_MS);
    requests[0]?.answer();
    expect([requests.length, state.isEmpty, jest.getTimerCount()]).toEqual([1, true, 0]);
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
  const shares = (readers: FakeReader[]): (string | undefined)[] =>
    readers.map(({ share }) => share);
  const events = new ReadHead(200, ['Content-Type', 'text/event-stream']);

  it('sends at once, and takes readers in until the response begins', () => {
    const { requests, state, add } = newGroup({ isLive: true });
    const readers = [add(), add()];
    requests[0]?.beginLarge();
    readers.push(add());
    expect(requests.length).toBe(2);
    expect(shares(readers)).toEqual(['first', 'joined', 'first']);
    requests[0]?.end();
    expect(state.isEmpty).toBe(false);
    requests[1]?.answer();
    expect([outcomes(readers), state.isEmpty]).toEqual([new Set(['answered']), true]);
  });

  it('lets later readers join an event stream until it ends', () => {
    const { requests, state, add } = newGroup({ isLive: true });
    const readers = [add()];
    requests[0]?.begin(events);
    readers.push(add());
    expect([requests.length, shares(readers)]).toEqual([1, ['first', 'joined']]);
    expect(state.isEmpty).toBe(false);
    requests[0]?.end();
    expect(state.isEmpty).toBe(true);
  });

  it('lets no later reader join an event stream that depends on its reader', () => {
    const { requests, state, add } = newGroup({ isLive: true });
    add();
    requests[0]?.begin(
      new ReadHead(200, ['Content-Type', 'text/event-stream', 'Vary', 'User-Agent']),
    );
    expect(state.isEmpty).toBe(true);
  });

  it('is forgotten when its readers have left before the response', () => {
    const { requests, state, addMany } = newGroup({ isLive: true });
    for (const reader of addMany(3)) reader.leave();
    expect([requests[0]?.isCancelled, state.isEmpty]).toEqual([true, true]);
  });
});
