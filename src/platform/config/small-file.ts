import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';

/** No list of secrets is larger. A larger file is another one, named by mistake. */
export const MAX_FILE_BYTES = 1_048_576;
/** To open a named pipe would otherwise wait for its writer, which nothing can cut short. Windows has no such flag. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Why a file is refused. `code` stands where Node's own errors have theirs. */
export class UnusableFile extends Error {
  readonly code: string;

  constructor(code: 'larger than 1 MiB' | 'not UTF-8 text' | 'not a regular file') {
    super(`the file is ${code}`);
    this.code = code;
  }
}

/**
 * The text of a file of at most `MAX_FILE_BYTES`. Reads no more of a larger one, whatever its size says. Rejects with an
 * `UnusableFile`, or an error of the file system.
 */
export async function readSmallFile(path: string): Promise<string> {
  const file = await open(path, OPEN_FLAGS);
  try {
    checkRegular(await file.stat());
    // `end` is the last byte that is read.
    return smallText(await buffer(file.createReadStream({ end: MAX_FILE_BYTES })));
  } finally {
    await file.close();
  }
}

/** The same at the start, where nothing else waits. Goes by the size that the file says. Throws the same errors. */
export function readSmallFileSync(path: string): string {
  const file = openSync(path, OPEN_FLAGS);
  try {
    checkRegular(fstatSync(file));
    return smallText(readFileSync(file));
  } finally {
    closeSync(file);
  }
}

/** Returns the text of a file, or throws an error with a code. */
export type ReadFile = (path: string) => string;

/** The text of a file that a setting names, if it names one. `refuse` learns that it cannot be read. */
export function namedFile(
  path: string | undefined,
  readFile: ReadFile,
  refuse: (problem: string) => void,
): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFile(path);
  } catch (error) {
    refuse(`must be a readable file (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
    return undefined;
  }
}

/** A pipe can be read once, and a file of settings is read again and again. */
function checkRegular(stats: Stats): void {
  if (!stats.isFile()) throw new UnusableFile('not a regular file');
  if (stats.size > MAX_FILE_BYTES) throw new UnusableFile('larger than 1 MiB');
}

/**
 * The text of a file's bytes, without a byte-order mark. Throws an `UnusableFile`: bytes that are no text would all become
 * the same character of a secret.
 */
export function smallText(bytes: Buffer): string {
  if (bytes.length > MAX_FILE_BYTES) throw new UnusableFile('larger than 1 MiB');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UnusableFile('not UTF-8 text');
  }
}
