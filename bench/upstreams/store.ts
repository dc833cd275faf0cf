import { join } from 'node:path';
import { startProcess, untilReady } from '../../local/stack/process.ts';

const START_TIMEOUT_MS = 20_000;
const MAIN = join(import.meta.dirname, '../../local/stack/history-main.ts');

export interface Store {
  streamsUrl: string;
  pid: number;
  stop(): Promise<void>;
}

/** The real Durable Streams server as a process of its own, in memory. */
export async function startStore(): Promise<Store> {
  const store = startProcess({
    name: 'the history store',
    command: process.execPath,
    args: [MAIN],
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
  });
  const line = await untilReady(store, START_TIMEOUT_MS, () =>
    store.waitForLine((text) => text.startsWith('listening on ')),
  );
  return {
    streamsUrl: line.slice('listening on '.length),
    pid: store.pid,
    stop: () => store.stop(),
  };
}

/** Creates a timeline of so many bytes, in events of about 200. */
export async function writeTimeline(streamUrl: string, sizeBytes: number): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  await ok(fetch(streamUrl, { method: 'PUT', headers }));
  const eventBytes = 200;
  const events = Array.from({ length: Math.floor(sizeBytes / eventBytes) }, (_, seq) => {
    const event = { seq, kind: 'text', text: '' };
    return { ...event, text: 'x'.repeat(eventBytes - JSON.stringify(event).length - 1) };
  });
  await ok(fetch(streamUrl, { method: 'POST', headers, body: JSON.stringify(events) }));
}

async function ok(answer: Promise<Response>): Promise<void> {
  const response = await answer;
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}
