import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { handlesWithin } from './file-store.ts';
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
