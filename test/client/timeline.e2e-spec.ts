import { describe, expect, it } from '@jest/globals';
import { AgentGateway, type Bookmark, type LiveState } from '../../packages/client/src/index.ts';
import { mintReadToken } from '../../packages/client/src/tokens.ts';
import { startFlakyLink } from '../support/flaky-link.ts';
import { API_KEY, READ_TOKEN_SECRET, startTestGateway } from '../support/gateway.ts';
import { startHistory } from '../support/history.ts';
import { EventWriter, newTimeline, upTo } from '../support/numbered-events.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { forAllTests } from '../support/for-this-test.ts';

// In memory: the file-backed store may show new data before it moves its own offset (0.3.7).
const history = forAllTests(() => startHistory({ longPollTimeoutMs: 1_000 }));
const gateway = forAllTests(() => startTestGateway({ GATEWAY_HISTORY_URL: history.url }));
const link = forAllTests(() => startFlakyLink(gateway.port));

const withKey = (): AgentGateway => new AgentGateway({ url: link.url, apiKey: API_KEY });
const written = (id: string, count = 0) => newTimeline(history.url, id, count);
const mint = (ttlSeconds: number, prefix = '/streams/t/default') =>
  mintReadToken({ secret: READ_TOKEN_SECRET, prefix, ttlSeconds });

describe.each(['sse', 'long-poll'] as const)('a timeline of the client, by %s', (live) => {
  it('has each event once, whatever is cut, down, stalled or expired', async () => {
    const writer = new EventWriter(`${history.url}/t/default/agents/chat/faults-${live}/timeline`);
    let minted = 0;
    const reader = new AgentGateway({
      url: link.url,
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
      // On a busy machine every request would be cut for ever.
      for (let turn = 0; isReading && turn < 600; turn++) {
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
    await written(`bookmark-${live}`, 25);
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
    const writer = await written('there');
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
    await written('abort', 3);
    const seqs: number[] = [];
    const read = (signal: AbortSignal, id: string, onEvent: (seq: number) => void) =>
      withKey()
        .timeline(`chat/${id}`, { signal })
        .subscribe(({ seq }) => onEvent(seq));
    await read(AbortSignal.abort(), 'abort', (seq) => seqs.push(seq));
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
    ['a stream that is not waited for', { agent: 'chat/never' }, 404, 'http_404'],
    ['a token for another', { prefix: '/streams/t/default/x' }, 403, 'prefix_not_covered'],
    ['an offset that is none', { from: 'nonsense!' }, 400, 'http_400'],
    ['a key that is refused', { apiKey: 'wrong' }, 401, 'invalid_credentials'],
    ['an address that is no route', { path: '/elsewhere' }, 404, 'route_not_found'],
  ])('throws for %s', async (_, wrong: Record<string, string>, status, code) => {
    const { agent = 'chat/there', prefix, from = 'start', apiKey, path = '' } = wrong;
    await written('there');
    const credential = apiKey ? { apiKey } : { authCallback: () => mint(60, prefix) };
    const reader = new AgentGateway({ url: `${link.url}${path}`, ...credential });
    const timeline = reader.timeline(agent, { waitForStream: agent === 'chat/there', from });
    const failing = timeline.subscribe(() => undefined);
    await expect(failing).rejects.toMatchObject({ name: 'APIError', status, code });
  });

  it('from now on has what is written after it went live, and a bookmark even before that', async () => {
    const writer = await written('now', 3);
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
      url: link.url,
      authCallback: () => {
        asked.resolve();
        return never.promise;
      },
    });
    for (const read of ['timeline', 'catalog'] as const) {
      const stop = new AbortController();
      const { signal } = stop;
      const reading =
        read === 'timeline' ? reader.timeline('chat/x', { signal }) : reader.catalog({ signal });
      const ended = reading.subscribe(() => undefined);
      await asked.promise;
      stop.abort();
      await ended;
    }
    const stop = new AbortController();
    const sending = reader.agents.send('chat/x', 'hello', { signal: stop.signal });
    stop.abort();
    await expect(sending).rejects.toBe(stop.signal.reason);
    await expect(
      reader.agents.send('chat/x', 'hello', { timeoutMs: 20, retryForMs: 0 }),
    ).rejects.toMatchObject({ code: 'timeout' });
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

  // The reader waited behind the end of the restored store, live, and missed what came until that was as long as before.
  it.each(['sse', 'long-poll'] as const)(
    'comes again from the start when the store went back, by %s',
    async (live) => {
      const id = `restored-${live}`;
      const writer = await written(id, 5);
      const url = `${history.url}/t/default/agents/chat/${id}/timeline`;
      const resets: number[][] = [];
      let seqs: number[] = [];
      let restored: Promise<unknown> | undefined;
      const restore = async (): Promise<void> => {
        link.goDown();
        await fetch(url, { method: 'DELETE' });
        const again = new EventWriter(url);
        await again.create();
        await again.append(3);
        link.resume();
      };
      const timeline = withKey().timeline(`chat/${id}`, {
        live,
        onState: ({ name }) => {
          if (name === 'live') restored ??= restore();
        },
        onReset: () => {
          resets.push(seqs);
          seqs = [];
          expect(timeline.bookmark).toEqual({ offset: '-1', seq: -1 });
        },
      });
      for await (const { seq } of timeline) {
        seqs.push(seq);
        if (resets.length > 0 && seq === 2) break;
      }
      await restored;
      expect([resets, seqs, writer.count]).toEqual([[upTo(5)], upTo(3), 5]);
    },
  );

  it('waits for a consumer that is slow, and is read by one at a time', async () => {
    await written('slow', 2);
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
    await written('path', 1);
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
