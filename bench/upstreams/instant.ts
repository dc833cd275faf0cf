/** An upstream that answers every read at once with the same 1 KiB, so that it takes little processor time. */
export interface InstantUpstream {
  /** Where its streams are, as `GATEWAY_HISTORY_URL` wants it. */
  streamsUrl: string;
  stop(): Promise<void>;
}

export const MOUNT_PATH = '/v1/stream';

/** The events that the history store would return for the rest of a timeline. */
export const INSTANT_BODY = oneKibibyteOfEvents();

/** The headers that the history store would send with them. Each response also has an ETag that names its target. */
export const INSTANT_HEADERS = {
  'Stream-Next-Offset': '0000000000000000_0000000000001024',
  'Stream-Up-To-Date': 'true',
  'Cache-Control': 'private, max-age=60, stale-while-revalidate=300',
  'Access-Control-Allow-Origin': '*',
  'X-Content-Type-Options': 'nosniff',
};

function oneKibibyteOfEvents(): string {
  const events = Array.from({ length: 8 }, (_, seq) => ({ seq, text: 'x'.repeat(104) }));
  return JSON.stringify(events).padEnd(1024, ' ').slice(0, 1024);
}
