import type { RequestListener } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startHistory } from '../../../../local/stack/history.ts';
import type { RunningHistory } from '../../../../local/stack/history.ts';
import {
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../../../../test/support/scripted-upstream.ts';
import type { GatewayAccess } from './gateway-client.ts';
import { createTimeline, newTimeline, sendUnsent } from './timeline.ts';
import type { Journal, Timeline } from './timeline.ts';

const STREAM = '/t/default/agents/echo/e1/timeline';
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
const save = () => (stored = structuredClone(timeline));

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
    await sendUnsent(journal, access, timeline, save);
    expect(await events()).toEqual(twoEvents);
    expect(stored).toEqual({ ...newTimeline(STREAM), nextSeq: 2 });
  });

  it('leaves a stream that is there already as it is', async () => {
    await sendUnsent(journal, access, timeline, save);
    await createTimeline(journal, access, STREAM);
    expect(await events()).toEqual(twoEvents);
  });

  // The moment in which the event is on the stream and nobody has noted it down yet.
  it.each([1, 2])('repeats nothing after a crash between append %d and its save', async (crash) => {
    let saves = 0;
    const crashing = sendUnsent(journal, access, timeline, () => {
      saves += 1;
      if (saves === crash) throw new Error('crash');
      save();
    });
    await expect(crashing).rejects.toThrow('crash');

    timeline = structuredClone(stored);
    timeline.unsent.push({ kind: 'reply', replyTo: 1 });
    await sendUnsent(journal, access, timeline, save);
    expect(await events()).toEqual([...twoEvents, { seq: 2, at: AT, kind: 'reply', replyTo: 1 }]);
  });

  it('refuses to continue a timeline that another life of the entity has written', async () => {
    await sendUnsent(journal, access, timeline, save);
    timeline = newTimeline(STREAM);
    timeline.unsent.push({ kind: 'spawned' });
    await expect(sendUnsent(journal, access, timeline, save)).rejects.toThrow(
      `${STREAM} refuses events: the stream already holds events up to number 1`,
    );
    expect(await events()).toEqual(twoEvents);
  });

  it('keeps what is unsent when the stream is gone', async () => {
    await fetch(history.url + STREAM, { method: 'DELETE' });
    await expect(sendUnsent(journal, access, timeline, save)).rejects.toThrow(
      `${STREAM} refuses events: 404 Stream not found`,
    );
    expect(stored.unsent).toHaveLength(2);
  });
});

describe('sendUnsent to a store that answers', () => {
  let server: ScriptedUpstream;
  let access: GatewayAccess;
  let answer: RequestListener;
  let appends: { producer: unknown[]; body: unknown }[];
  /** Whether the stream is there, as a HEAD tells. */
  let headStatus: number;

  beforeEach(async () => {
    appends = [];
    headStatus = 404;
    server = await startScriptedUpstream((req, res, body) => {
      if (req.method === 'HEAD') return void res.writeHead(headStatus).end();
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
    answer = (_, res) => res.writeHead(appends.length === 1 ? 413 : 200).end('too large');
    await sendUnsent(journal, access, timeline, save);
    const error = { kind: 'error', message: 'message not recorded: 413 too large' };
    expect(appends).toEqual([
      {
        producer: ['0', '5', 'Bearer secret'],
        body: { seq: 5, at: AT, kind: 'message', content: [] },
      },
      { producer: ['0', '5', 'Bearer secret'], body: { seq: 5, at: AT, ...error } },
    ]);
    expect(stored).toEqual({ ...newTimeline(STREAM), nextSeq: 6 });
  });

  it('that it has forgotten the producer begins a next epoch', async () => {
    answer = (_, res) =>
      appends.length === 1
        ? res.writeHead(409, { 'producer-expected-seq': '0' }).end()
        : res.writeHead(200).end();
    timeline.unsent.push({ kind: 'reply' });
    await sendUnsent(journal, access, timeline, save);
    expect(appends.map(({ producer }) => producer)).toEqual([
      ['0', '5', 'Bearer secret'],
      ['1', '0', 'Bearer secret'],
      ['1', '1', 'Bearer secret'],
    ]);
    expect(stored).toEqual({ ...newTimeline(STREAM), nextSeq: 7, epoch: 1, epochStartSeq: 5 });
  });

  it.each([401, 408, 425, 429, 500, 502, 503])(
    '%d throws, for Restate to try again',
    async (status) => {
      answer = (_, res) => res.writeHead(status).end();
      await expect(sendUnsent(journal, access, timeline, save)).rejects.toMatchObject({
        name: 'Error',
        message: `POST /streams${STREAM}: ${status}`,
      });
      expect(stored.unsent).toHaveLength(1);
    },
  );

  it.each([403, 404, 409, 302])('%d ends the invocation and keeps the event', async (status) => {
    answer = (_, res) =>
      res.writeHead(status, { location: '/elsewhere' }).end('{"detail":"because","code":"x"}');
    await expect(sendUnsent(journal, access, timeline, save)).rejects.toMatchObject({
      name: 'TerminalError',
      message: `${STREAM} refuses events: ${status} because`,
    });
    expect(stored.unsent).toHaveLength(1);
  });

  // The store that keeps files answers so when it has put the file's handle away meanwhile.
  it.each([200, 403])('404 throws where the stream is there (HEAD: %d)', async (status) => {
    headStatus = status;
    answer = (_, res) => res.writeHead(404).end('Stream not found');
    await expect(sendUnsent(journal, access, timeline, save)).rejects.toMatchObject({
      name: 'Error',
      message: `${STREAM}: 404 Stream not found, and yet it is there`,
    });
    expect(stored.unsent).toHaveLength(1);
  });

  it('nothing throws, for Restate to try again', async () => {
    answer = (req) => req.socket.destroy();
    await expect(sendUnsent(journal, access, timeline, save)).rejects.toMatchObject({
      name: 'Error',
      message: `POST /streams${STREAM}: no answer`,
    });
  });
});
