import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AgentGateway, type Bookmark, type LiveState } from '../../packages/client/src/index.ts';
import { mintReadToken } from '../../packages/client/src/tokens.ts';
import { startFlakyLink, type FlakyLink } from '../support/flaky-link.ts';
import {
  API_KEY,
  READ_TOKEN_SECRET,
  startTestGateway,
  type TestGateway,
} from '../support/gateway.ts';
import { startHistory, type RunningHistory } from '../support/history.ts';
import { EventWriter, upTo } from '../support/numbered-events.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';

// In memory: the file-backed store may show new data before it moves its own offset (0.3.7).
let history: RunningHistory;
let gateway: TestGateway;
let link: FlakyLink;
let url: string;

beforeAll(async () => {
  history = await startHistory({ longPollTimeoutMs: 1_000 });
  gateway = await startTestGateway({ GATEWAY_HISTORY_URL: history.url });
  link = await startFlakyLink(gateway.port);
  url = `http://127.0.0.1:${link.port}`;
});
afterAll(async () => {
  await link.stop();
  await gateway.stop();
  await history.stop();
});

const withKey = (): AgentGateway => new AgentGateway({ url, apiKey: API_KEY });
function abortable(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
const writerOf = (id: string): EventWriter =>
  new EventWriter(`${history.url}/t/default/agents/chat/${id}/timeline`);
const mint = (ttlSeconds: number, prefix = '/streams/t/default') =>
  mintReadToken({ secret: READ_TOKEN_SECRET, prefix, ttlSeconds });

describe.each(['sse', 'long-poll'] as const)('a timeline of the client, by %s', (live) => {
  it('has each event once, whatever is cut, down, stalled or expired', async () => {
    const writer = writerOf(`faults-${live}`);
    let minted = 0;
    const reader = new AgentGateway({
      url,
      authCallback: async () => {
        minted += 1;
        // Every third time the back end is away, too.
        if (minted % 3 === 2) throw new Error('the back end is away');
        return mint(1);
      },
    });
    const states = new Set<string>();
    const gaps: unknown[] = [];
    const timeline = reader.timeline(`chat/faults-${live}`, {
      live,
      onState: ({ name }) => states.add(name),
      onGap: (gap) => gaps.push(gap),
    });
    const TOTAL = 300;
    let isReading = true;
    const disturbing = (async () => {
      for (let turn = 0; isReading; turn++) {
        if (turn === 3) await writer.create();
        if (turn > 3 && writer.count < TOTAL) await writer.append(10, 500);
        await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 80));
        if (turn % 3 === 0) link.cut();
        if (turn % 7 === 0) link.goDown();
        if (turn % 5 === 0) link.stall();
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 50));
        link.resume();
      }
    })();
    const seqs: number[] = [];
    for await (const { seq } of timeline) {
      seqs.push(seq);
      if (seq === TOTAL - 1) break;
    }
    isReading = false;
    await disturbing;
    expect(seqs).toEqual(upTo(TOTAL));
    expect(gaps).toEqual([]);
    expect(minted).toBeGreaterThan(1);
    expect([...states].sort()).toEqual(['connecting', 'live', 'waiting']);
  });

  it('continues behind a bookmark, also in the middle of what came at once', async () => {
    const writer = writerOf(`bookmark-${live}`);
    await writer.create();
    await writer.append(25);
    const seqs: number[] = [];
    let bookmark: Bookmark | undefined;
    while (seqs.length < 25) {
      const from = bookmark ?? 'start';
      const timeline = withKey().timeline(`chat/bookmark-${live}`, { live, from });
      for await (const { seq } of timeline) {
        seqs.push(seq);
        // As one that is stored and read again.
        bookmark = JSON.parse(JSON.stringify(timeline.bookmark)) as Bookmark;
        if (seq % 10 === 4) break;
      }
    }
    expect(seqs).toEqual(upTo(25));
  });
});

describe('a timeline of the client', () => {
  it('ends behind what is there, where it is not to wait', async () => {
    const writer = writerOf('there');
    await writer.create();
    const timeline = withKey().timeline('chat/there', { live: false });
    const seqs: number[] = [];
    await timeline.subscribe(({ seq }) => seqs.push(seq));
    expect(seqs).toEqual([]);
    await writer.append(1_000, 300);
    // The same one continues where it was.
    await timeline.subscribe(async ({ seq }) => {
      await Promise.resolve();
      seqs.push(seq);
    });
    expect(seqs).toEqual(upTo(1_000));
  });

  // Of a live read the last events of a stream that is closed could be lost, and it was begun again for ever.
  it.each(['sse', 'long-poll'] as const)(
    'ends with the last event of a stream that is closed, by %s',
    async (live) => {
      for (let round = 0; round < 10; round++) {
        const path = `/t/default/agents/chat/closed-${live}-${round}/timeline`;
        const headers = { 'content-type': 'application/json' };
        await fetch(`${history.url}${path}`, { method: 'PUT', headers });
        const append = (seq: number, more: Record<string, string> = {}): Promise<Response> =>
          fetch(`${history.url}${path}`, {
            method: 'POST',
            headers: { ...headers, ...more },
            body: JSON.stringify({ seq, at: '', kind: 'x' }),
          });
        await append(0);
        const seqs: number[] = [];
        for await (const { seq } of withKey().timeline(path, { live })) {
          seqs.push(seq);
          if (seq === 0) await append(1, { 'stream-closed': 'true' });
        }
        expect([round, seqs]).toEqual([round, [0, 1]]);
      }
    },
  );

  it('ends without an error when its signal aborts, wherever it is', async () => {
    const writer = writerOf('abort');
    await writer.create();
    await writer.append(3);
    const aborted = new AbortController();
    aborted.abort();
    const seqs: number[] = [];
    const read = (signal: AbortSignal, id: string, onEvent: (seq: number) => void) =>
      withKey()
        .timeline(`chat/${id}`, { signal })
        .subscribe(({ seq }) => onEvent(seq));
    await read(aborted.signal, 'abort', (seq) => seqs.push(seq));
    expect(seqs).toEqual([]);
    // In the middle of a batch; while it waits for more; while it waits for the stream.
    const inBatch = new AbortController();
    await read(inBatch.signal, 'abort', (seq) => {
      seqs.push(seq);
      if (seq === 1) inBatch.abort();
    });
    expect(seqs).toEqual([0, 1]);
    const waiting = new AbortController();
    await read(waiting.signal, 'abort', (seq) => {
      if (seq === 2) setImmediate(() => waiting.abort());
    });
    const absent = new AbortController();
    const states: LiveState[] = [];
    await withKey()
      .timeline('chat/never', {
        signal: absent.signal,
        onState: (state) => {
          states.push(state);
          if (state.name === 'waiting') absent.abort();
        },
      })
      .subscribe(() => undefined);
    expect(states.map(({ name }) => name)).toEqual(['connecting', 'waiting']);
    expect(states[1]).toMatchObject({ error: { status: 404 }, retryInMs: 500 });
  });

  it.each([
    ['a stream that is not there, where it is not waited for', 'chat/never', {}, 404, 'http_404'],
    [
      'a token for something else',
      'chat/there',
      { prefix: '/streams/t/default/x' },
      403,
      'prefix_not_covered',
    ],
    ['an offset that is none', 'chat/there', { from: 'nonsense!' }, 400, 'http_400'],
  ])(
    'throws for %s',
    async (
      _,
      agent,
      { prefix, from = 'start' }: { prefix?: string; from?: string },
      status,
      code,
    ) => {
      await writerOf('there').create();
      const reader = new AgentGateway({ url, authCallback: () => mint(60, prefix) });
      const timeline = reader.timeline(agent, { waitForStream: false, from });
      const failing = timeline.subscribe(() => undefined);
      await expect(failing).rejects.toMatchObject({ name: 'APIError', status, code });
    },
  );

  it('throws for a key that is refused, and repeats an event stream that ends at once without haste', async () => {
    const wrong = new AgentGateway({ url, apiKey: 'wrong' });
    await expect(wrong.timeline('chat/there').subscribe(() => undefined)).rejects.toMatchObject({
      code: 'invalid_credentials',
    });
  });

  it('from now on has what is written after it went live, and a bookmark even before that', async () => {
    const writer = writerOf('now');
    await writer.create();
    await writer.append(3);
    const controller = new AbortController();
    const first = withKey().timeline('chat/now', {
      from: 'now',
      signal: controller.signal,
      onState: ({ name }) => name === 'live' && controller.abort(),
    });
    await first.subscribe(() => undefined);
    expect(first.bookmark).toEqual({ offset: expect.not.stringMatching(/^now$/), seq: undefined });
    await writer.append(2);
    const seqs: number[] = [];
    const from = first.bookmark;
    await withKey()
      .timeline('chat/now', { from, live: false })
      .subscribe(({ seq }) => seqs.push(seq));
    expect(seqs).toEqual([3, 4]);
  });

  it('ends while its token is waited for', async () => {
    const never = Promise.withResolvers<never>();
    const asked = Promise.withResolvers<void>();
    const reader = new AgentGateway({
      url,
      authCallback: () => {
        asked.resolve();
        return never.promise;
      },
    });
    for (const read of ['timeline', 'catalog'] as const) {
      const { signal, abort } = abortable();
      const reading =
        read === 'timeline' ? reader.timeline('chat/x', { signal }) : reader.catalog({ signal });
      const ended = reading.subscribe(() => undefined);
      await asked.promise;
      abort();
      await ended;
    }
    const { signal, abort } = abortable();
    const sending = reader.agents.send('chat/x', 'hello', { signal });
    abort();
    await expect(sending).rejects.toBe(signal.reason);
    await expect(
      reader.agents.send('chat/x', 'hello', { timeoutMs: 20, retryForMs: 0 }),
    ).rejects.toMatchObject({ code: 'timeout' });
  });

  it('throws for an address that is no route of a gateway', async () => {
    const wrong = new AgentGateway({ url: `${url}/elsewhere`, apiKey: API_KEY });
    await expect(wrong.timeline('chat/there').subscribe(() => undefined)).rejects.toMatchObject({
      code: 'route_not_found',
    });
  });

  it('drops an event that the store sends twice, and tells of one that is missing', async () => {
    const offsets = ['0_1', '0_2', '0_3'];
    const pages = [[0, 1, 2], [1, 2, 3], [6]];
    const store = await startScriptedUpstream((request, response) => {
      const offset = new URL(request.url ?? '', 'http://x').searchParams.get('offset') ?? '';
      const index = offsets.indexOf(offset) + 1;
      const isLast = index === pages.length - 1;
      response.writeHead(200, {
        'content-type': 'application/json',
        'stream-next-offset': offsets[index],
        ...(isLast && { 'stream-up-to-date': 'true' }),
      });
      response.end(JSON.stringify((pages[index] ?? []).map((seq) => ({ seq }))));
    });
    const gaps: unknown[] = [];
    const seqs: number[] = [];
    await new AgentGateway({ url: store.url, apiKey: API_KEY })
      .timeline('chat/odd', { live: false, onGap: (gap) => gaps.push(gap) })
      .subscribe(({ seq }) => seqs.push(seq));
    await store.stop();
    expect(seqs).toEqual([0, 1, 2, 3, 6]);
    expect(gaps).toEqual([{ expectedSeq: 4, receivedSeq: 6 }]);
  });

  it('waits for a consumer that is slow, and is read by one at a time', async () => {
    await writerOf('slow').create();
    await writerOf('slow').append(2);
    const timeline = withKey().timeline('chat/slow', { live: false });
    const reading = timeline[Symbol.asyncIterator]();
    expect((await reading.next()).value).toMatchObject({ seq: 0 });
    await expect(timeline.subscribe(() => undefined)).rejects.toThrow('iterate once at a time');
    await reading.return();
    const seqs: number[] = [];
    await timeline.subscribe(({ seq }) => seqs.push(seq));
    expect(seqs).toEqual([1]);
  });

  it('is that of any stream, by its path or by what spawn answered', async () => {
    await writerOf('path').create();
    await writerOf('path').append(1);
    const path = '/t/default/agents/chat/path/timeline';
    const addresses = [
      path,
      `/streams${path}`,
      '/t/default/a/chat/path',
      { url: '/t/default/a/chat/path' },
      { url: '/t/default/a/chat/path', streamUrl: `https://gateway.example/streams${path}` },
    ];
    for (const address of addresses) {
      const seqs: number[] = [];
      await withKey()
        .timeline(address, { live: false })
        .subscribe(({ seq }) => seqs.push(seq));
      expect(seqs).toEqual([0]);
    }
  });
});
