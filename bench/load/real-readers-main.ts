import { stream } from '@durable-streams/client';
import { AUTHORIZED } from '../contenders/contender.ts';

/**
 * Many readers of one timeline with the real client, which reconnects by itself. Prints READY when each has the first
 * event, and DONE with what each has got when each has the last one: for each event its number and the time of its arrival,
 * in microseconds of the monotonic clock.
 *
 * Arguments: URL of the stream, offset, `long-poll` or `sse`, number of readers.
 */
interface TimedEvent {
  seq: number;
  isLast: boolean;
}

const [url = '', offset = '', live, readersText = ''] = process.argv.slice(2);
const readers = Number(readersText);
let begun = 0;

async function read(): Promise<[seq: number, atUs: number][]> {
  const got: [number, number][] = [];
  const done = Promise.withResolvers<void>();
  const response = await stream<TimedEvent>({
    url,
    offset,
    live: live === 'sse' ? 'sse' : 'long-poll',
    headers: AUTHORIZED,
    json: true,
    warnOnHttp: false,
  });
  response.closed.catch(done.reject);
  response.subscribeJson(({ items }) => {
    const atUs = Number(process.hrtime.bigint() / 1000n);
    for (const { seq, isLast } of items) {
      if (got.push([seq, atUs]) === 1 && ++begun === readers) console.log('READY');
      if (isLast) done.resolve();
    }
  });
  await done.promise;
  return got;
}

console.log(`DONE ${JSON.stringify(await Promise.all(Array.from({ length: readers }, read)))}`);
