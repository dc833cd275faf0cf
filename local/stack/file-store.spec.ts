import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FileStoreServer, handlesWithin } from './file-store.ts';
import { startHistory, type RunningHistory } from './history.ts';

const STREAMS = 60;
const APPENDS = 5;
const JSON_TYPE = { 'content-type': 'application/json' };

describe('the history store on disk', () => {
  let dataDir: string;
  let history: RunningHistory;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'gateway-file-store-'));
    history = await startHistory({ dataDir, maxFileHandles: 3 });
  });
  afterAll(async () => {
    await history?.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  // An append whose handle left the pool between write and flush was answered 404, and was in the file.
  it('answers every append when many more streams are written than it keeps files open', async () => {
    const streams = Array.from({ length: STREAMS }, (_, index) => `${history.url}/s${index}`);
    const statuses = await Promise.all(streams.map(fill));
    const contents = await Promise.all(streams.map(async (url) => (await fetch(url)).json()));

    expect(statuses).toEqual(streams.map(() => [201, ...Array(APPENDS).fill(204)]));
    expect(contents).toEqual(streams.map(() => [0, 1, 2, 3, 4].map((seq) => ({ seq }))));
  });
});

// Of 48 runs of the whole system one read two events twice.
describe('an event that the history store on disk has written and not flushed', () => {
  let dataDir: string;
  let server: FileStoreServer;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'gateway-file-store-'));
    server = new FileStoreServer({ port: 0, dataDir });
  });
  afterAll(async () => {
    await server?.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('is there for nobody before it is committed, and then once', async () => {
    const url = `${await server.start()}/v1/stream/s`;
    await fetch(url, { method: 'PUT', headers: JSON_TYPE });
    await append(url, 0);
    const flush = holdFlush(server);
    const appended = append(url, 1);
    await flush.begun;

    const early = await fetch(`${url}?offset=-1`);
    const offset = early.headers.get('stream-next-offset') ?? '';
    const events = await fetch(`${url}?offset=${offset}&live=sse`);
    flush.finish();
    expect(await appended).toBe(204);
    await append(url, 2);
    const text = (await early.text()) + (await textUntil(events, '"seq":2'));
    expect(text.match(/"seq":\d/g)).toEqual(['"seq":0', '"seq":1', '"seq":2']);
  });
});

async function append(url: string, seq: number): Promise<number> {
  const body = JSON.stringify({ seq });
  return (await fetch(url, { method: 'POST', headers: JSON_TYPE, body })).status;
}

/** The part of the store's pool that this uses. */
interface HandlePool {
  fsyncFile(path: string): Promise<void>;
}

/** Holds up the next flush, as a slow disk does. */
function holdFlush(server: FileStoreServer): { begun: Promise<void>; finish: () => void } {
  const pool = Reflect.get(server.store, 'fileHandlePool') as HandlePool;
  const fsyncFile = pool.fsyncFile.bind(pool);
  const begun = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  pool.fsyncFile = async (path) => {
    pool.fsyncFile = fsyncFile;
    begun.resolve();
    await finished.promise;
    await fsyncFile(path);
  };
  return { begun: begun.promise, finish: finished.resolve };
}

async function textUntil({ body }: Response, end: string): Promise<string> {
  let text = '';
  for await (const bytes of body!.pipeThrough(new TextDecoderStream())) {
    text += bytes;
    if (text.includes(end)) break;
  }
  return text;
}

/** Creates the stream and appends to it, one event after the other. */
async function fill(url: string): Promise<number[]> {
  const { status } = await fetch(url, { method: 'PUT', headers: JSON_TYPE });
  const statuses = [status];
  for (let seq = 0; seq < APPENDS; seq++) {
    const body = JSON.stringify({ seq });
    statuses.push((await fetch(url, { method: 'POST', headers: JSON_TYPE, body })).status);
  }
  return statuses;
}

describe('handlesWithin', () => {
  it.each([
    [1, 1],
    [256, 64],
    [1_024, 256],
    [20_000, 4_000],
    [Number.POSITIVE_INFINITY, 4_000],
  ])('keeps, of %d open files, at most %d for streams', (maxOpenFiles, handles) => {
    expect(handlesWithin(maxOpenFiles)).toBe(handles);
  });
});
