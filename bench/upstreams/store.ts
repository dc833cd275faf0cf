import { startNodeProgram } from './node-program.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

/** The real Durable Streams server as a process of its own, in memory. */
export interface Store {
  streamsUrl: string;
  pid: number;
  /** How many GETs it has got so far. */
  reads(): Promise<number>;
  stop(): Promise<void>;
}

export async function startStore(): Promise<Store> {
  const { process: store, line } = await startNodeProgram({
    name: 'the history store',
    main: 'store-main.ts',
    ready: '{',
  });
  const { streamsUrl, countUrl } = JSON.parse(line) as { streamsUrl: string; countUrl: string };
  return {
    streamsUrl,
    pid: store.pid,
    reads: async () => {
      const counted = (await (await fetch(countUrl)).json()) as { reads: number };
      return counted.reads;
    },
    // Nothing in it must be kept.
    stop: () => store.kill(),
  };
}

/** Creates a timeline of this many bytes, in events of 200 bytes. */
export async function writeTimeline(streamUrl: string, sizeBytes: number): Promise<void> {
  await createStream(streamUrl);
  const eventBytes = 200;
  const events = Array.from({ length: Math.floor(sizeBytes / eventBytes) }, (_, seq) => {
    const event = { seq, kind: 'text', text: '' };
    return { ...event, text: 'x'.repeat(eventBytes - JSON.stringify(event).length - 1) };
  });
  await append(streamUrl, events);
}

/** Creates an empty stream and returns the offset of its first event. */
export async function createStream(streamUrl: string): Promise<string> {
  const response = await ok(fetch(streamUrl, { method: 'PUT', headers: JSON_TYPE }));
  return response.headers.get('stream-next-offset') ?? '-1';
}

/** Appends events. An array holds several of them. */
export async function append(streamUrl: string, events: object): Promise<void> {
  await ok(fetch(streamUrl, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(events) }));
}

async function ok(answer: Promise<Response>): Promise<Response> {
  const response = await answer;
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${text}`);
  return response;
}
