import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { compactJson } from '../output/json.ts';
import { plainText } from '../output/plain-text.ts';
import { styleFor } from '../output/style.ts';
import { write } from '../output/write.ts';
import { Sequence } from './sequence.ts';
import type { StreamChunk, StreamKind } from './stream-chunk.ts';
import { TimelinePrinter } from './timeline-printer.ts';

export interface ChunkWriterOptions {
  json?: boolean;
  /** Nothing is written behind the first event of this kind. */
  until?: string;
}

/** Writes what is read of a stream. */
export interface ChunkWriter {
  /** @returns whether it has seen what it was to go on until. */
  write(chunk: StreamChunk): Promise<boolean>;
  /** What is to be written when no more comes. */
  end(): string;
}

const SILENT_END = { end: () => '' };

/**
 * How a stream of a kind is written: events a line each, text as it comes, bytes as they are. Throws a
 * usage error for bytes that would go to a terminal.
 */
export function chunkWriter(
  kind: StreamKind,
  contentType: string,
  options: ChunkWriterOptions,
  context: CliContext,
): ChunkWriter {
  if (kind === 'json') return eventWriter(options, context);
  if (options.until !== undefined) {
    throw usageError(`--until is for streams of events; this one is ${contentType}.`);
  }
  const { stdout } = context;
  if (options.json === true) return jsonChunkWriter(kind, context);
  if (stdout.isTTY !== true) {
    return { ...SILENT_END, write: async ({ bytes }) => (await write(stdout, bytes), false) };
  }
  if (kind === 'binary') {
    throw usageError(
      `This stream is ${contentType}, which is not for a terminal.`,
      'Send it to a file or a program, or take --json.',
    );
  }
  const decoder = new TextDecoder();
  return {
    ...SILENT_END,
    write: async ({ bytes }) => {
      await write(stdout, plainText(decoder.decode(bytes, { stream: true })));
      return false;
    },
  };
}

function eventWriter({ json, until }: ChunkWriterOptions, context: CliContext): ChunkWriter {
  const { stdout, notices } = context;
  const printer = new TimelinePrinter(styleFor(stdout));
  const sequence = new Sequence();
  if (stdout.isTTY === true) notices.beforeSaying = () => stdout.write(printer.endLine());
  return {
    end: () => printer.endLine(),
    write: async ({ events }) => {
      for (const event of events) {
        const { seq, kind } = (event ?? {}) as { seq?: unknown; kind?: unknown };
        const fault = sequence.judge(seq);
        if (fault !== undefined) notices.say(`Warning: ${fault}`);
        await write(stdout, json === true ? `${compactJson(event)}\n` : printer.print(event));
        if (until !== undefined && kind === until) return true;
      }
      return false;
    },
  };
}

/** A line of JSON for every piece: text as text, anything else in base64. */
function jsonChunkWriter(kind: StreamKind, { stdout }: CliContext): ChunkWriter {
  const decoder = new TextDecoder();
  return {
    ...SILENT_END,
    write: async ({ bytes }) => {
      const piece =
        kind === 'text'
          ? { text: decoder.decode(bytes, { stream: true }) }
          : { base64: Buffer.from(bytes).toString('base64') };
      await write(stdout, `${compactJson(piece)}\n`);
      return false;
    },
  };
}
