import { stream } from '@durable-streams/client';
import type { CliContext } from '../cli-context.ts';
import { timelineTarget, type Entity } from '../connection/address.ts';
import type { CommandAnswer } from '../connection/command-request.ts';
import type { Connection } from '../connection/connection.ts';
import { gatewayFetch } from '../connection/gateway-fetch.ts';
import { WatchedGateway } from '../connection/watched-gateway.ts';
import { plainLine } from '../output/plain-text.ts';
import { write } from '../output/write.ts';
import { chunkWriter, type ChunkWriter } from './chunk-writer.ts';
import { TimelineFollower, type TimelineRead } from './follow-timeline.ts';

/** What of a timeline to show. */
export interface ShowRequest extends Pick<TimelineRead, 'from' | 'follow' | 'waitForStream'> {
  /** The path on the gateway. */
  target: string;
  live?: TimelineRead['live'];
}

export interface ShowOptions {
  json?: boolean;
  /** End behind the first event of this kind. */
  until?: string;
  /** In seconds. */
  retryFor: number;
}

/** Longer than a healthy server is silent: long-polls park for 20 to 30 s, event streams ping by 60 s. */
const SILENCE_MS = 90_000;

/** Writes a timeline as it comes. Throws the `CliError` to end with. */
export async function showTimeline(
  { target, from, follow, waitForStream, live }: ShowRequest,
  options: ShowOptions,
  connection: Connection,
  context: CliContext,
): Promise<void> {
  const { notices, stdout, interrupted } = context;
  const gateway = new WatchedGateway(connection, {
    firstContactMs: options.retryFor * 1_000,
    silenceMs: SILENCE_MS,
    notices,
  });
  let writer: ChunkWriter | undefined;
  const read: TimelineRead = {
    url: `${connection.url}${target}`,
    from,
    follow,
    live,
    waitForStream,
    signal: interrupted,
    onKind: (kind, contentType) => {
      writer = chunkWriter(kind, contentType, options, context);
    },
    onChunk: async (chunk) => (await writer?.write(chunk)) === true,
  };
  const follower = new TimelineFollower(read, connection, gateway);
  try {
    await follower.run();
  } finally {
    await write(stdout, writer?.end() ?? '');
    if (interrupted.aborted && follower.doneUpTo !== from) {
      notices.say(`Read up to here; --from ${plainLine(follower.doneUpTo)} goes on.`);
    }
  }
}

/** Sends a message and shows what the timeline has from just before it. */
export async function sendAndShow(
  entity: Entity,
  send: () => Promise<CommandAnswer>,
  options: ShowOptions,
  connection: Connection,
  context: CliContext,
): Promise<void> {
  const from = await endOf(`${connection.url}${timelineTarget(entity)}`, connection);
  const answer = await send();
  const read = { target: answer.streamUrl, from, follow: true, waitForStream: true };
  await showTimeline(read, options, connection, context);
}

/** The offset behind all that a stream holds; the start of one that is not there yet, or cannot be read. */
async function endOf(url: string, connection: Connection): Promise<string> {
  const response = await stream({
    url,
    offset: 'now',
    live: false,
    fetch: gatewayFetch(connection),
    backoffOptions: { initialDelay: 0, maxDelay: 0, multiplier: 1, maxRetries: 0 },
    warnOnHttp: false,
  }).catch(() => undefined);
  response?.cancel();
  return response?.offset ?? '-1';
}
