import type { AgentEvent, StreamChunk } from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { plainLine } from '../output/plain-text.ts';
import { print, printJson } from '../output/print.ts';
import { write } from '../output/write.ts';
import { SoFar } from './so-far.ts';
import { TimelinePrinter } from './timeline-printer.ts';

export interface ChunkWriterOptions {
  json?: boolean;
  /** Nothing is written after the first event for which this returns true. */
  isLast?: ((event: AgentEvent) => boolean) | undefined;
}

type Piece = Pick<StreamChunk, 'items' | 'bytes'>;

/** Writes the data of a stream. */
export interface ChunkWriter {
  /** @returns whether it has seen the event to stop at. */
  write(piece: Piece): Promise<boolean>;
  /** The rest to write at the end of the stream. */
  end(): string;
}

const SILENT_END = { end: () => '' };

/**
 * The writer for a media type: one line per event, text as it arrives, bytes unchanged. Throws a usage error for
 * bytes on a terminal.
 */
export function chunkWriter(
  contentType: string,
  options: ChunkWriterOptions,
  context: CliContext,
): ChunkWriter {
  if (/^application\/json\b/i.test(contentType)) return eventWriter(options, context);
  if (options.isLast !== undefined) {
    throw usageError(`--until is for streams of events; this one is ${plainLine(contentType)}.`);
  }
  const kind = /^text\//i.test(contentType) ? 'text' : 'binary';
  const { stdout } = context;
  if (options.json === true) return jsonChunkWriter(kind, context);
  if (stdout.isTTY !== true) {
    return { ...SILENT_END, write: async ({ bytes }) => (await write(stdout, bytes), false) };
  }
  if (kind === 'binary') {
    throw usageError(
      `This stream is ${plainLine(contentType)}, which is not for a terminal.`,
      'Send it to a file or a program, or take --json.',
    );
  }
  const decoder = new TextDecoder();
  return {
    ...SILENT_END,
    write: async ({ bytes }) => {
      await print(stdout, decoder.decode(bytes, { stream: true }));
      return false;
    },
  };
}

function eventWriter({ json, isLast }: ChunkWriterOptions, context: CliContext): ChunkWriter {
  const { stdout, notices } = context;
  const printer = new TimelinePrinter();
  const soFar = new SoFar();
  if (stdout.isTTY === true) notices.beforeSaying = () => void print(stdout, printer.endLine());
  return {
    end: () => printer.endLine(),
    write: async ({ items }) => {
      for (const item of items) {
        const event = (item ?? {}) as AgentEvent;
        const turn = soFar.turnOf(event);
        const fault = soFar.add(event);
        if (fault !== undefined) notices.say(`Warning: ${fault}`);
        if (json === true) await printJson(stdout, item);
        else await print(stdout, printer.print(item, turn?.text));
        if (isLast?.(event) === true) return true;
      }
      return false;
    },
  };
}

/** One line of JSON for each piece: text as text, anything else in base64. */
function jsonChunkWriter(kind: 'text' | 'binary', { stdout }: CliContext): ChunkWriter {
  const decoder = new TextDecoder();
  return {
    ...SILENT_END,
    write: async ({ bytes }) => {
      if (bytes.length === 0) return false;
      const piece =
        kind === 'text'
          ? { text: decoder.decode(bytes, { stream: true }) }
          : { base64: Buffer.from(bytes).toString('base64') };
      await printJson(stdout, piece);
      return false;
    },
  };
}
