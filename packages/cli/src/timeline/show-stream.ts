import {
  APIError,
  type AgentGateway,
  type StreamChunk,
  type StreamOptions,
} from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import type { Connection } from '../connection/connection.ts';
import { usageError } from '../cli-error.ts';
import { failureOf } from '../connection/failure.ts';
import { LiveWatch } from '../connection/live-watch.ts';
import { openGateway } from '../connection/open-gateway.ts';
import { parseExactly } from '../output/json.ts';
import { plainLine } from '../output/plain-text.ts';
import { print } from '../output/print.ts';
import { chunkWriter, type ChunkWriter, type ChunkWriterOptions } from './chunk-writer.ts';
import { LastEvents } from './last-events.ts';

/** The part of a stream to show. */
export interface ShowRequest {
  /** The path on the gateway. */
  path: string;
  /** `start`, `now`, or an offset. */
  from: string;
  /** Whether to follow after all existing data has been read. */
  follow: boolean;
  /** Whether to wait for a stream that does not exist yet. */
  waitForStream: boolean;
  live?: 'sse' | 'long-poll' | undefined;
  /** The most existing events to show. */
  last?: number | undefined;
  /** Ends the read without an error. */
  until?: AbortSignal;
}

export interface ShowOptions extends Pick<ChunkWriterOptions, 'json' | 'isLast'> {
  /** In seconds. */
  retryFor: number;
}

/** Writes a stream as it arrives. Throws the `CliError` to end with. */
export async function showStream(
  request: ShowRequest,
  options: ShowOptions,
  connection: Connection,
  context: CliContext,
): Promise<void> {
  const { notices, stdout, interrupted } = context;
  const ended = request.until ? AbortSignal.any([interrupted, request.until]) : interrupted;
  const firstContactMs = options.retryFor * 1_000;
  const watch = new LiveWatch(connection, { firstContactMs, notices, interrupted: ended });
  const stream = openGateway(connection).stream(request.path, {
    ...streamOptions(request, watch),
    onReset: () =>
      notices.say('The store has less than before. All of it follows, from the start.'),
  });
  const last = request.last === undefined ? undefined : new LastEvents(request.last);
  let writer: ChunkWriter | undefined;
  if (request.follow) context.watchReader();
  else context.endWithReader();
  let doneUpTo = request.from;
  try {
    for await (const chunk of stream) {
      watch.answered();
      if (last && !isJson(chunk)) {
        throw usageError('--last is for streams of events.');
      }
      const shown = last ? last.take(chunk) : chunk;
      writer ??= chunkWriter(chunk.contentType, options, context);
      const isEnough = shown !== undefined && (await writer.write(shown));
      doneUpTo = chunk.offset;
      if (isEnough) break;
    }
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    throw failureOf(error, connection, hintFor(error, request, doneUpTo));
  } finally {
    await print(stdout, writer?.end() ?? '');
    if (interrupted.aborted && doneUpTo !== request.from) {
      notices.say(`To continue from here: --from ${plainLine(doneUpTo)}`);
    }
  }
  watch.throwIfGivenUp(hintAfter401(request, doneUpTo));
  interrupted.throwIfAborted();
}

/** The offset at the end of a stream; the start if it does not exist yet or cannot be read. */
export async function endOf(gateway: AgentGateway, path: string): Promise<string> {
  try {
    for await (const { offset } of gateway.stream(path, { from: 'now', live: false }))
      return offset;
  } catch {
    // The command that follows reports the problem.
  }
  return 'start';
}

function streamOptions(
  { from, follow, live, waitForStream }: ShowRequest,
  watch: LiveWatch,
): StreamOptions {
  return {
    from,
    waitForStream,
    ...(follow ? live && { live } : { live: false as const }),
    parse: parseExactly,
    signal: watch.signal,
    onState: watch.onState,
  };
}

function hintFor({ status }: APIError, request: ShowRequest, doneUpTo: string): string | undefined {
  if (status === 401) return hintAfter401(request, doneUpTo);
  if (status === 404) {
    return '--wait waits for it. Name a tenant other than "default" with --tenant.';
  }
  if (status === 410) return 'The store no longer has this offset: begin with --from start.';
  return undefined;
}

function hintAfter401({ from }: ShowRequest, doneUpTo: string): string | undefined {
  return doneUpTo === from
    ? undefined
    : `With a valid key, --from ${doneUpTo} continues where this ended.`;
}

function isJson({ contentType }: StreamChunk): boolean {
  return /^application\/json\b/i.test(contentType);
}
