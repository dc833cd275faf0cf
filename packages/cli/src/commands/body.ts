import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { parseExactly } from '../output/json.ts';

const CONTENT_TYPES: Record<string, string> = {
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
};

/** The likely media type of a file, by its name. */
export function contentTypeOf(file: string): string {
  return CONTENT_TYPES[extname(file).toLowerCase()] ?? 'application/octet-stream';
}

/** The content of a file, or of standard input for `-`. Throws a usage error. */
export async function readInput(
  file: string,
  { stdin, notices }: Pick<CliContext, 'stdin' | 'notices'>,
): Promise<Buffer<ArrayBuffer>> {
  if (file !== '-') {
    try {
      return readFileSync(file);
    } catch (error) {
      throw usageError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
    }
  }
  if (stdin.isTTY === true) notices.say('Type it in; Ctrl-D on a line of its own ends it.');
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks);
}

/** JSON of the user, with its numbers unchanged. Throws a usage error. */
export function parseJson(text: string, what: string): unknown {
  try {
    return parseExactly(text);
  } catch (error) {
    throw usageError(`${what} must be JSON: ${(error as Error).message}.`);
  }
}
