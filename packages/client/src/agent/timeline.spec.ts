import type { RequestListener } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startHistory } from '../../../../local/stack/history.ts';
import type { RunningHistory } from '../../../../local/stack/history.ts';
import {
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../../../../test/support/scripted-upstream.ts';
import type { GatewayAccess } from './gateway-client.ts';
import { HistoryStore } from './history-store.ts';
import { createTimeline, newTimeline, sendUnsent } from './timeline.ts';
import type { Journal, Timeline } from './timeline.ts';

const STREAM = '/t/default/agents/echo/e1/timeline';
/** What the answer to an append has. */
const DONE = { 'stream-next-offset': '8' };
const AT = '2026-01-01T00:00:00.000Z';

/** Restate without its journal: every step runs, which is what a first try does. */
const journal = {
  run: (_name: string, action: () => unknown) => action(),
  date: { toJSON: () => Promise.resolve(AT) },
  request: () => ({ attemptCompletedSignal: new AbortController().signal, headers: new Map() }),
} as unknown as Journal;

let timeline: Timeline;
/** The state that Restate would hold: a crash throws away all that came after it. */
let stored: Timeline;
const save = (): void => void (stored = structuredClone(timeline));
const owner = { save };

beforeEach(() => {
  timeline = newTimeline(STREAM);
  timeline.unsent.push({ kind: 'spawned' }, { kind: 'message', content: [] });
  save();
});

describe('sendUnsent to a real history store', () => {
  let history: RunningHistory;
  let access: GatewayAccess;

  beforeEach(async () => {
    history = await startHistory();
    access = { gatewayUrl: 'http://127.0.0.1:2', streamsUrl: history.url, apiKey: 'k' };
    await createTimeline(journal, access, STREAM);
  });
  afterEach(() => history.stop());

  async function events(): Promise<unknown> {
    return (await fetch(history.url + STREAM)).json();
  }

  const twoEvents = [
    { seq: 0, at: AT, kind: 'spawned' },
    { seq: 1, at: AT, kind: 'message', content: [] },
  ];

  it('numbers events from 0 and forgets what is sent', async () => {
    await sendUnsent(journal, access, timeline, owner);
    expect(await events()).toEqual(twoEvents);
    const { offset } = stored;
    expect(stored).toEqual({ ...newTimeline(STREAM), nextSeq: 2, offset });
  });

  it('leaves a stream that is there already as it is', async () => {
    await sendUnsent(journal, access, timeline, owner);
    await createTimeline(journal, access, STREAM);
    expect(await events()).toEqual(twoEvents);
  });

  /** The moment in which the event is on the stream and nobody has noted it down yet. What was stored before is what remains. */
  async function endAtSave(last: number): Promise<void> {
    let saves = 0;
    const ending = sendUnsent(journal, access, timeline, {
      save: () => {
        saves += 1;
        if (saves === last) throw new Error('ended');
        save();
      },
    });
    await expect(ending).rejects.toThrow('ended');
    timeline = structuredClone(stored);
  }

  it.each([1, 2])('repeats nothing after a crash between append %d and its save', async (crash) => {
    await endAtSave(crash);
    timeline.unsent.push({ kind: 'reply', replyTo: 1 });
    await sendUnsent(journal, access, timeline, owner);
    expect(await events()).toEqual([...twoEvents, { seq: 2, at: AT, kind: 'reply', replyTo: 1 }]);
  });

  // It took its own event for another one, as the times differ, and a word came twice after `restored`.
  it.each([1, 2])('repeats nothing after a kill between append %d and its save', async (kill) => {
    await endAtSave(kill);
    const later = '2026-01-01T00:01:00.000Z';
    const next = { ...journal, date: { toJSON: () => Promise.resolve(later) } } as Journal;
    await sendUnsent(next, access, timeline, owner);
    expect(await events()).toEqual(
      twoEvents.map((event) => ({ ...event, at: event.seq < kill ? AT : later })),
    );
    expect(timeline.nextSeq).toBe(2);
  });

  const eventsAgain = async () => ((await events()) as { kind: string }[]).map(toldOf);
  const restored = (expected: number, found: number) => ({ kind: 'restored', expected, found });

  it('continues a timeline that has more than it knows, and says so', async () => {
    await sendUnsent(journal, access, timeline, owner);
    timeline = { ...newTimeline(STREAM), unsent: [{ kind: 'spawned', args: 2 }] };
    await sendUnsent(journal, access, timeline, owner);
    expect(await eventsAgain()).toEqual([
      { seq: 0, kind: 'spawned' },
      { seq: 1, kind: 'message', content: [] },
      { seq: 2, ...restored(0, 2) },
      { seq: 3, kind: 'spawned', args: 2 },
    ]);
    expect(stored).toMatchObject({ nextSeq: 4, epoch: 1, epochStartSeq: 2, unsent: [] });
  });

  // The store answered 204 for a number that was taken, and the message was lost without a word.
  it.each([1, 10, 1_000])('heals where Restate is older by %d events', async (count) => {
    await sendUnsent(journal, access, timeline, owner);
    const older = structuredClone(stored);
    timeline.unsent.push(...Array.from({ length: count }, (_, n) => ({ kind: 'word', n })));
    await sendUnsent(journal, access, timeline, owner);
    timeline = older;
    timeline.unsent.push({ kind: 'message', content: ['new'] }, { kind: 'reply', replyTo: 2 });
    await sendUnsent(journal, access, timeline, owner);
    expect((await eventsAgain()).slice(2 + count)).toEqual([
      { seq: 2 + count, ...restored(2, 2 + count) },
      { seq: 3 + count, kind: 'message', content: ['new'] },
      { seq: 4 + count, kind: 'reply', replyTo: 3 + count },
    ]);
  });

  it.each([1, 10, 1_000])('heals where the timeline is older by %d events', async (count) => {
    await sendUnsent(journal, access, timeline, owner);
    timeline.unsent.push(...Array.from({ length: count }, (_, n) => ({ kind: 'word', n })));
    const before = (await (await fetch(history.url + STREAM)).json()) as object[];
    await sendUnsent(journal, access, timeline, owner);
    await fetch(history.url + STREAM, { method: 'DELETE' });
    await createTimeline(journal, access, STREAM);
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify(before);
    await fetch(history.url + STREAM, { method: 'POST', headers, body });
    timeline.unsent.push({ kind: 'message', content: ['new'] });
    await sendUnsent(journal, access, timeline, owner);
    expect((await eventsAgain()).slice(2)).toEqual([
      { seq: 2, ...restored(2 + count, 2) },
      { seq: 3, kind: 'message', content: ['new'] },
    ]);
  });

  it('writes the messages again that the timeline lost and that are still to be answered', async () => {
    await sendUnsent(journal, access, timeline, owner);
    await fetch(history.url + STREAM, { method: 'DELETE' });
    timeline.unsent.push({ kind: 'word', replyTo: 1 });
    const numbers: [number, number][] = [];
    await sendUnsent(journal, access, timeline, {
      save,
      adopted: () => Promise.resolve([{ seq: 1, event: { kind: 'message', content: ['old'] } }]),
      renumbered: (map) => numbers.push(...map),
    });
    expect(await eventsAgain()).toEqual([
      { seq: 0, ...restored(2, 0) },
      { seq: 1, kind: 'message', content: ['old'] },
      { seq: 2, kind: 'word', replyTo: 1 },
    ]);
    expect(numbers).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  it('writes neither a message nor a reply again that the timeline has already', async () => {
    await sendUnsent(journal, access, timeline, owner);
    const older = structuredClone(stored);
    const message = { kind: 'message', content: ['m'], invocationId: 'inv_1' };
    timeline.unsent.push(message, { kind: 'word', replyTo: 2 }, { kind: 'reply', replyTo: 2 });
    await sendUnsent(journal, access, timeline, owner);
    timeline = older;
    timeline.unsent.push(message);
    const ended: number[] = [];
    const numbers = new Map<number, number>();
    await sendUnsent(journal, access, timeline, {
      save,
      adopted: ({ tail }) => {
        ended.push(...tail.ended);
        return Promise.resolve([]);
      },
      renumbered: (map) => map.forEach((to, from) => numbers.set(from, to)),
    });
    expect((await eventsAgain()).slice(5)).toEqual([{ seq: 5, ...restored(2, 5) }]);
    expect([ended, numbers.get(2)]).toEqual([[2], 2]);
  });

  it('makes a deleted timeline again', async () => {
    await sendUnsent(journal, access, timeline, owner);
    await fetch(history.url + STREAM, { method: 'DELETE' });
    timeline.unsent.push({ kind: 'message', content: ['new'] });
    await sendUnsent(journal, access, timeline, owner);
    expect(await eventsAgain()).toEqual([
      { seq: 0, ...restored(2, 0) },
      { seq: 1, kind: 'message', content: ['new'] },
    ]);
  });

  it('says plainly that a timeline which its forks keep cannot be written', async () => {
    await sendUnsent(journal, access, timeline, owner);
    const fork = {
      'content-type': 'application/json',
      'stream-forked-from': new URL(history.url).pathname + STREAM,
    };
    expect((await fetch(`${history.url}/fork`, { method: 'PUT', headers: fork })).status).toBe(201);
    await fetch(history.url + STREAM, { method: 'DELETE' });
    timeline.unsent.push({ kind: 'message', content: [] });
    await expect(sendUnsent(journal, access, timeline, owner)).rejects.toThrow(
      'The timeline cannot be written any more: it was deleted, and its forks keep it.',
    );
    expect(stored.unsent).toEqual([]);
  });

  // An attempt that Restate has given up may still be on its way.
  it('is refused with an epoch that has ended, and takes none by itself', async () => {
    await sendUnsent(journal, access, timeline, owner);
    const earlier = structuredClone(stored);
    timeline = { ...structuredClone(stored), epoch: 1, epochStartSeq: 2 };
    timeline.unsent.push({ kind: 'message', content: ['new'] });
    await sendUnsent(journal, access, timeline, owner);
    const store = new HistoryStore(journal, access, STREAM);
    const late = {
      line: '{"seq":2}',
      seq: 2,
      epoch: 0,
      producerSeq: 2,
      after: earlier.offset ?? '',
    };
    expect(await store.append(late)).toEqual({ differs: { epoch: 1 } });
    expect(await eventsAgain()).toHaveLength(3);
  });
});

function toldOf({ at: _at, ...event }: { at?: string; kind: string }): object {
  return event;
}

describe('sendUnsent to a store that answers', () => {
  let server: ScriptedUpstream;
  let access: GatewayAccess;
  let answer: RequestListener;
  let appends: { producer: unknown[]; body: unknown }[];
  /** Whether the stream is there, as a HEAD tells. */
  let headStatus: number;
  /** What the store has. */
  let tail: string;
  /** What a proxy in front of the store answers to everything. */
  let page: { status: number; type: string } | undefined;

  beforeEach(async () => {
    appends = [];
    headStatus = 404;
    tail = '[]';
    page = undefined;
    server = await startScriptedUpstream((req, res, body) => {
      res.setHeader('x-request-id', 'r1');
      if (page) return void res.writeHead(page.status, { 'content-type': page.type }).end('sorry');
      if (req.method === 'HEAD') return void res.writeHead(headStatus).end();
      if (req.method === 'GET') {
        const end = { 'stream-next-offset': '9', 'stream-up-to-date': 'true' };
        return void res.writeHead(200, end).end(tail);
      }
      const { 'producer-epoch': epoch, 'producer-seq': seq, authorization } = req.headers;
      const event: unknown = body.length > 0 ? JSON.parse(body.toString()) : undefined;
      appends.push({ producer: [epoch, seq, authorization], body: event });
      answer(req, res);
    });
    access = { gatewayUrl: server.url, apiKey: 'secret' };
    timeline.unsent.shift();
    timeline.nextSeq = 5;
    save();
  });
  afterEach(() => server.stop());

  it('413 puts an error in the place of the event', async () => {
    answer = (_, res) => res.writeHead(appends.length === 1 ? 413 : 200, DONE).end('too large');
    await sendUnsent(journal, access, timeline, owner);
    const error = { kind: 'error', message: 'message not recorded: 413 too large' };
    expect(appends).toEqual([
      {
        producer: ['0', '5', 'Bearer secret'],
        body: { seq: 5, at: AT, kind: 'message', content: [] },
      },
      { producer: ['0', '5', 'Bearer secret'], body: { seq: 5, at: AT, ...error } },
    ]);
    expect(stored).toEqual({ ...newTimeline(STREAM), nextSeq: 6, offset: '8' });
  });

  it('that it has forgotten the producer begins a next epoch', async () => {
    answer = (_, res) =>
      appends.length === 1
        ? res.writeHead(409, { 'producer-expected-seq': '0' }).end()
        : res.writeHead(200, DONE).end();
    tail = '[{"seq":4}]';
    timeline.unsent.push({ kind: 'reply' });
    await sendUnsent(journal, access, timeline, owner);
    expect(appends.map(({ producer }) => producer)).toEqual([
      ['0', '5', 'Bearer secret'],
      ['1', '0', 'Bearer secret'],
      ['1', '1', 'Bearer secret'],
    ]);
    const place = { nextSeq: 7, epoch: 1, epochStartSeq: 5, offset: '8' };
    expect(stored).toEqual({ ...newTimeline(STREAM), ...place });
  });

  it.each([401, 408, 425, 429, 500, 502, 503])(
    '%d throws, for Restate to try again',
    async (status) => {
      answer = (_, res) => res.writeHead(status).end();
      await expect(sendUnsent(journal, access, timeline, owner)).rejects.toMatchObject({
        name: 'Error',
        message: `POST /streams${STREAM}: ${status}`,
      });
      expect(stored.unsent).toHaveLength(1);
    },
  );

  // A proxy in front of the store said so for three seconds, and every later message was lost.
  it.each([200, 204, 302, 400, 403, 404, 409, 410, 415, 422])(
    'a page with %d of somebody else throws, too',
    async (status) => {
      answer = (_, res) => {
        res.removeHeader('x-request-id');
        res.writeHead(status, { 'content-type': 'text/html' }).end('<html>nginx</html>');
      };
      await expect(sendUnsent(journal, access, timeline, owner)).rejects.toMatchObject({
        name: 'Error',
        message: expect.stringMatching(`^POST of the timeline: ${status}`) as unknown,
      });
      expect(stored.unsent).toHaveLength(1);
    },
  );

  // The gateway passes it on, as it does what the store says. The timeline began anew at 0, or the message was lost.
  it.each([
    [400, 'text/html'],
    [403, 'text/plain'],
    [404, 'text/plain'],
    [404, 'text/html'],
    [409, 'text/plain'],
    [409, 'text/html'],
    [410, 'text/html'],
  ])('%d (%s) of a proxy in front of it throws, whatever is asked', async (status, type) => {
    page = { status, type };
    const before = structuredClone(stored);
    for (const asked of [
      () => sendUnsent(journal, access, timeline, owner),
      () => createTimeline(journal, access, STREAM),
    ]) {
      await expect(asked()).rejects.toMatchObject({ name: 'Error' });
    }
    expect(stored).toEqual(before);
  });

  it('that its stream is of another kind ends the creation', async () => {
    headStatus = 200;
    answer = (_, res) => res.writeHead(409).end('exists');
    await expect(createTimeline(journal, access, STREAM)).rejects.toMatchObject({
      name: 'TerminalError',
      message: `${STREAM} cannot be created: 409 exists`,
    });
  });

  it.each([400, 415, 422])('%d of the store is about the event', async (status) => {
    timeline.epochStartSeq = 5;
    answer = (_, res) =>
      res.writeHead(appends.length === 1 ? status : 200, DONE).end('Invalid JSON');
    await sendUnsent(journal, access, timeline, owner);
    const message = `message not recorded: ${status} Invalid JSON`;
    expect(appends.at(-1)?.body).toEqual({ seq: 5, at: AT, kind: 'error', message });
  });

  // The store that keeps files answers so when it has put the file's handle away meanwhile.
  it.each([200, 403])('404 throws where the stream is there (HEAD: %d)', async (status) => {
    headStatus = status;
    answer = (_, res) => res.writeHead(404).end('Stream not found');
    await expect(sendUnsent(journal, access, timeline, owner)).rejects.toMatchObject({
      name: 'Error',
      message: 'POST of the timeline: 404 Stream not found',
    });
    expect(stored.unsent).toHaveLength(1);
  });

  it('nothing throws, for Restate to try again', async () => {
    answer = (req) => req.socket.destroy();
    await expect(sendUnsent(journal, access, timeline, owner)).rejects.toMatchObject({
      name: 'Error',
      message: `POST /streams${STREAM}: no answer`,
    });
  });
});
